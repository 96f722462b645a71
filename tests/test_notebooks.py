"""The cookbook runs top to bottom, without Jupyter; outputs are stored."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from planners import cache

__all__ = ["cache"]

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def code_cells(notebook: Path) -> list[str]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def shown(cell: str) -> str:
    """A cell as a script, its last expression formatted as a notebook would."""
    tree = ast.parse(cell)
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        value = ast.unparse(tree.body.pop().value)
        show = "getattr(_shown, '_repr_html_', _shown.__repr__)()"
        return f"{ast.unparse(tree)}\n_shown = {value}\n{show}\n"
    return cell


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stored_and_say_nothing_of_a_machine(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]
    kinds = {output["output_type"] for each in outputs for output in each}
    assert kinds <= {"stream", "execute_result"}
    assert kinds
    assert str(Path.home()) not in notebook.read_text(encoding="utf-8")
    assert str(ROOT) not in notebook.read_text(encoding="utf-8")
    assert all(cell.get("execution_count") is None for cell in cells)


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_top_to_bottom(notebook, cache, tmp_path):
    (tmp_path / "scripts").symlink_to(ROOT / "scripts")
    folder = tmp_path / "notebooks"
    folder.mkdir()
    script = folder / f"{notebook.stem}.py"
    script.write_text("\n\n".join(map(shown, code_cells(notebook))), encoding="utf-8")
    strict = ("JAX_NUMPY_DTYPE_PROMOTION", "JAX_NUMPY_RANK_PROMOTION")
    environment = {name: value for name, value in os.environ.items() if name not in strict}
    environment |= {
        "JAXKG_CACHE": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "PYTHONPATH": str(ROOT),
    }
    run = subprocess.run(
        [sys.executable, "-W", "error", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr[-4000:]
    assert "answered exactly" in run.stdout or notebook.stem != "10_step_by_step"
