"""Run notebooks and store what they print: `cd scripts; python -m lib notebooks FILE...`.

Requires nbclient, which the extra `test` brings. A notebook runs in a folder of its own; counts of
executions, and what the kernel says of itself, are left out, so a new run changes outputs only.
"""

import re
import tempfile
from pathlib import Path
from typing import Any


def is_kept(output: Any) -> bool:
    """Whether an output is what a cell prints or shows; progress and warnings are not."""
    return output.get("name") != "stderr" and output.output_type != "display_data"


def coalesced(outputs: list[Any]) -> list[Any]:
    """Outputs with texts that follow one another joined."""
    joined: list[Any] = []
    for each in outputs:
        if joined and each.output_type == joined[-1].output_type == "stream":
            joined[-1].text += each.text
        else:
            joined.append(each)
    return joined


def run(path: Path) -> None:
    """Run a notebook top to bottom and write its outputs into it."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "notebooks"
        folder.mkdir()
        (folder.parent / "scripts").symlink_to(Path(__file__).parents[1])
        client = NotebookClient(
            notebook,
            timeout=600,
            resources={"metadata": {"path": str(folder)}},
            record_timing=False,
        )
        client.execute()
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = coalesced([each for each in cell.outputs if is_kept(each)])
            for output in cell.outputs:
                if "execution_count" in output:
                    output.execution_count = None
                if "text/html" in output.get("data", {}):
                    name_of_class = re.search(
                        r"(\w+)( object)?( at 0x|\()", output.data["text/plain"]
                    )
                    output.data["text/plain"] = name_of_class[1] if name_of_class else ""
    notebook.metadata.pop("language_info", None)
    nbformat.write(notebook, path)
