"""The arrows between the folders of the package, held as a table."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "jaxkg"
ROOT = "__init__"  # the package itself

# Beside `records`, which anyone may read: what each folder or module may import, also inside a
# function and for the type checker. FIND, SCORE and SELECT meet in `systems` as arguments.
ARROWS: dict[str, set[str]] = {
    "types": set(),
    "records": {"render"},  # an answer prints itself
    "ops": {"types"},
    "candidates": {"types", "ops"},
    "score": {"types", "ops"},
    "select": {"types", "ops"},
    "kg": set(),
    "tensors": {"types", "kg"},
    "text": {"types"},
    "adjudicate": set(),
    "cite": {"kg"},
    "evaluate": {"kg"},
    "draw": {"cite"},
    "render": {"cite", "draw"},
    "learn": {"types", "ops", "candidates", "score", "kg", "tensors", "text"},
}
ARROWS["systems"] = {*ARROWS} - {"render"}
ARROWS["cli"] = {*ARROWS, ROOT}
ARROWS[ROOT] = {*ARROWS}

HOST = ["records", "kg", "adjudicate", "cite", "evaluate", "draw", "render"]
DEVICE_LIBRARIES = {"jax", "jaxlib", "flax", "optax", "chex", "orbax"}
FILES = sorted(PACKAGE.rglob("*.py"))


def unit_of(path: Path, package: Path = PACKAGE) -> str:
    """The top-level folder or module that a file belongs to."""
    return path.relative_to(package).parts[0].removesuffix(".py")


def imported(path: Path, package: Path = PACKAGE) -> list[tuple[int, str]]:
    """(line, absolute dotted name) of everything that a file imports."""
    inside = ("jaxkg", *path.relative_to(package).parts[:-1])
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(inside[: len(inside) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, [base, node.module]))
            found += [(node.lineno, f"{module}.{alias.name}") for alias in node.names]
    return found


def crossings(path: Path, package: Path = PACKAGE) -> list[tuple[int, str]]:
    """(line, unit) of the imports that cross a folder line within the package."""
    units = {unit_of(file, package) for file in package.rglob("*.py")}
    out = []
    for line, name in imported(path, package):
        root, *rest = name.split(".")
        if root == "jaxkg":
            target = rest[0] if rest and rest[0] in units else ROOT
            if target != unit_of(path, package):
                out.append((line, target))
    return out


def test_the_table_names_what_there_is():
    assert {unit_of(path) for path in FILES} == set(ARROWS)


def test_imports_follow_the_arrows():
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line} imports {unit}"
        for path in FILES
        for line, unit in crossings(path)
        if unit not in ARROWS[unit_of(path)] | {"records"}
    ]
    assert wrong == []


def test_host_folders_name_no_device_library():
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line} imports {name}"
        for path in FILES
        if unit_of(path) in HOST
        for line, name in imported(path)
        if name.split(".")[0] in DEVICE_LIBRARIES
    ]
    assert wrong == []


LOADED = """
import importlib, pkgutil, sys
for name in {units!r}:
    module = importlib.import_module("jaxkg." + name)
    for entry in pkgutil.walk_packages(getattr(module, "__path__", []), module.__name__ + "."):
        importlib.import_module(entry.name)
print(*sorted({{name.split(".")[0] for name in sys.modules}} & {wanted!r}))
"""


def loaded(units: list[str], wanted: set[str]) -> list[str]:
    """Which of the `wanted` libraries a fresh Python has loaded after importing these units."""
    code = LOADED.format(units=units, wanted=wanted)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    return done.stdout.split()


def test_host_folders_load_no_device_library():
    assert loaded(HOST, DEVICE_LIBRARIES) == []
    assert "jax" in loaded(["types"], DEVICE_LIBRARIES)


def test_the_package_itself_loads_next_to_nothing():
    heavy = DEVICE_LIBRARIES | {"numpy", "scipy", "openai", "pydantic", "typer", "rich"}
    code = f"import jaxkg, sys; print(*({heavy!r} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    assert done.stdout.split() == []


def test_nothing_leads_back_to_the_systems():
    """No chain of arrows reaches `systems` but from the command line and the package."""
    reach = {unit: set(direct) for unit, direct in ARROWS.items()}
    for _ in ARROWS:
        for direct in reach.values():
            direct |= set().union(*(reach[unit] for unit in direct))
    assert {unit for unit, all_ in reach.items() if "systems" in all_} - {"systems"} == {
        "cli",
        ROOT,
    }


SOURCES = {
    "import jaxkg.kg.graph": ["kg"],
    "import jaxkg": [ROOT],
    "from jaxkg import kg, score": ["kg", "score"],
    "from jaxkg import KnowledgeGraph": [ROOT],
    "from .. import score": ["score"],
    "from ..score.planner import bag": ["score"],
    "from .beam import choose": [],
    "from . import beam": [],
    "def f():\n    from jaxkg.systems.search import ask": ["systems"],
    "if TYPE_CHECKING:\n    import jaxkg.kg": ["kg"],
    "import jax\nfrom jaxkgextra import kg": [],
}


@pytest.mark.parametrize(("source", "units"), SOURCES.items())
def test_every_way_to_import_is_seen(tmp_path, source, units):
    package = tmp_path / "jaxkg"
    for unit in ("kg", "score", "select", "systems"):
        (package / unit).mkdir(parents=True)
        (package / unit / "__init__.py").touch()
    path = package / "select" / "beam.py"
    path.write_text(source)
    assert [unit for _, unit in crossings(path, package)] == units
