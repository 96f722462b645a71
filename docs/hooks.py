"""Pages that are made from the repository: architecture, records, notebooks, files at its root."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from lib.record import page  # noqa: E402

PACKAGE = ROOT / "jaxkg"
FLOORS = (
    ("words and records", ("kg", "text", "wire", "show")),
    ("JAX cores", ("tensors", "ops", "candidates", "score", "select", "search")),
    ("language models", ("adjudicate", "lm")),
    ("answers", ("readings", "cite", "systems")),
    ("training and measuring", ("learn", "evaluate", "experiments")),
    ("entrances", ("cli", "serve")),
)


def imports() -> dict[str, Counter[str]]:
    """For each folder of the package, how many imports it has of each other folder."""
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    arrows: dict[str, Counter[str]] = {folder: Counter() for folder in sorted(folders)}
    for folder, counts in arrows.items():
        for path in (PACKAGE / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jaxkg."):
                    other = str(node.module).split(".")[1]
                    if other != folder and other in folders:
                        counts[other] += 1
    return arrows


def summary(folder: str) -> str:
    """The first sentence of a folder's docstring."""
    text = ast.get_docstring(ast.parse((PACKAGE / folder / "__init__.py").read_text("utf-8")))
    return (text or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def architecture() -> str:
    """The page of folders and of the imports between them."""
    arrows = imports()
    lines = ["graph BT"]
    for number, (title, folders) in enumerate(FLOORS):
        lines.append(f'  subgraph f{number}["{title}"]')
        lines += [f"    {folder}" for folder in folders if folder in arrows]
        lines.append("  end")
    for folder, counts in arrows.items():
        lines += [f"  {folder} --> {other}" for other, count in counts.items() if count >= 3]
    drawing = "\n".join(lines)
    rows = "\n".join(
        f"| `{folder}` | {summary(folder)} | {' '.join(f'`{other}`' for other in sorted(counts))} |"
        for folder, counts in arrows.items()
    )
    return f"""# Architecture

This page is made from the imports of the package. An arrow leads from a folder to one that it
imports at least three times. `tests/test_imports.py` holds which folder may import which.

```mermaid
{drawing}
```

| folder | what it holds | imports |
|---|---|---|
{rows}

The numeric floors (`ops`, `candidates`, `score`, `select`, `search`) are pure functions over padded
arrays. Everything around them is a thin shell: it reads files, builds systems, and prints answers.
"""


def notebook(path: Path) -> str:
    """A notebook with its stored outputs as a page."""
    parts = []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", ()):
            shown = output.get("data", {})
            if "text/html" in shown:
                html = "".join(shown["text/html"])
                html = html[html.index("<svg") :] if html.startswith("<?xml") else html
                parts.append(f"<div>{html.strip()}</div>")
            else:
                text = "".join(output.get("text", shown.get("text/plain", ""))).rstrip()
                parts.append(f"```text\n{text}\n```")
    return "\n\n".join(parts) + "\n"


def pages() -> dict[str, str]:
    """Text by address of each page that is made."""
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    return {
        "architecture.md": architecture(),
        "records.md": re.sub(r"\]\((?!https?:)[^)]*\)", "]", page(ROOT / "scripts")),
        "contributing.md": re.sub(r"\[([^]]*)\]\((?!https?:)[^)]*\)", r"\1", contributing),
        **{
            f"notebooks/{path.stem}.md": notebook(path)
            for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
        },
        "changes.md": (ROOT / "CHANGELOG.md").read_text("utf-8"),
    }


def on_files(files, config):
    """Add the pages to the site."""
    from mkdocs.structure.files import File

    for address, text in pages().items():
        files.append(File.generated(config, address, content=text))
    return files
