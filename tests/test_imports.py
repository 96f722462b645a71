"""The arrows between the folders of the package, held as a table."""

import ast
import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "jaxkg"
ROOT = "__init__"  # the package itself

# Beside `FREE`, which anyone may read: what each folder or module may import, also inside a
# function and for the type checker. FIND, SCORE and SELECT meet in `search` as arguments.
FREE = {
    "errors",
    "deadline",
    "limits",
    "words",
    "foreign_json",
    "storage",
    "lock",
    "cache",
    "cached",
    "settings",
    "records",
    "answer",
    "query",
}
ARROWS: dict[str, set[str]] = {
    "errors": set(),
    "deadline": set(),
    "limits": set(),
    "storage": set(),
    "lock": set(),
    "cache": set(),
    "cached": set(),
    "settings": set(),
    "words": set(),
    "foreign_json": set(),
    "records": set(),
    "query": set(),
    "answer": {"show"},  # an answer prints itself
    "show": set(),
    "codes": set(),
    "low_rank": set(),
    "types": {"codes"},
    "ops": {"types", "low_rank"},
    "candidates": {"types", "ops"},
    "score": {"types", "ops"},
    "select": {"types", "ops"},
    "wire": set(),
    "kg": {"wire"},  # a graph may lie behind an endpoint
    "tensors": {"types", "kg", "ops"},
    "text": {"low_rank"},
    "adjudicate": {"wire"},
    "readings": {"kg"},
    "cite": {"kg", "readings"},
    "evaluate": {"kg"},
}
_CORES = {"types", "ops", "candidates", "score", "select", "tensors"}
ARROWS["search"] = {*_CORES, "kg"}
ARROWS["learn"] = {*_CORES - {"select"}, "text", "kg", "search", "lm"}
ARROWS["lm"] = {"types", "ops", "tensors", "adjudicate", "kg", "text"}
ARROWS["systems"] = {
    *_CORES,
    "codes",
    "text",
    "kg",
    "search",
    "learn",
    "adjudicate",
    "readings",
    "cite",
}
_SHARED = {"adjudicate", "evaluate", "kg", "learn", "systems"}
ARROWS["experiments"] = {*_SHARED, "cite"}
ARROWS["serve"] = {"kg", "cite", ROOT}
ARROWS["cli"] = {*_SHARED, "tensors", "text", "experiments", "lm", "score", "serve", "show", ROOT}
ARROWS["__main__"] = {"cli"}
ARROWS[ROOT] = {"answer", "cite", "kg", "learn", "search", "systems", "tensors"}

HOST = [*sorted(FREE), "wire", "kg", "adjudicate", "readings", "cite", "evaluate", "show"]
DEVICE_LIBRARIES = {"jax", "jaxlib", "flax", "optax", "chex", "orbax"}
FILES = sorted(PACKAGE.rglob("*.py"))


def unit_of(path: Path, package: Path = PACKAGE) -> str:
    """The top-level folder or module that a file belongs to."""
    return path.relative_to(package).parts[0].removesuffix(".py")


@functools.cache
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


@functools.cache
def units_of(package: Path) -> set[str]:
    """All top-level folders and modules."""
    return {unit_of(file, package) for file in package.rglob("*.py")}


def crossings(path: Path, package: Path = PACKAGE) -> list[tuple[int, str]]:
    """(line, unit) of the imports that cross a folder line within the package."""
    units = units_of(package)
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
        if unit not in ARROWS[unit_of(path)] | FREE
    ]
    assert wrong == []


def test_every_arrow_is_taken():
    taken = {unit: set() for unit in ARROWS}
    for path in FILES:
        taken[unit_of(path)] |= {unit for _, unit in crossings(path)}
    assert {unit: free - taken[unit] for unit, free in ARROWS.items() if free - taken[unit]} == {}


def module_of(path: Path, package: Path = PACKAGE) -> str:
    """A file's dotted name."""
    parts = ("jaxkg", *path.relative_to(package).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def circles(files: list[Path], package: Path = PACKAGE) -> list[list[str]]:
    """Sets of modules that import one another in a circle; lazy and type-checking imports count.

    What a module imports from a package counts for the file that the name stands in where it is a
    module, and for the package's own file otherwise; `jaxkg` itself offers everybody's names.
    """
    known = {module_of(path, package) for path in files}
    arrows: dict[str, set[str]] = {}
    for path in files:
        here = module_of(path, package)
        names = [name for _, name in imported(path, package)]
        targets = {name if name in known else name.rpartition(".")[0] for name in names}
        arrows[here] = (targets & known) - {here, "jaxkg"}
    reach = {module: set(direct) for module, direct in arrows.items()}
    for middle in known:
        for module in known:
            if middle in reach[module]:
                reach[module] |= reach[middle]
    rings = {
        tuple(sorted(other for other in reach[module] if module in reach[other]))
        for module in known
        if module in reach[module]
    }
    return [list(ring) for ring in sorted(rings)]


def test_nothing_imports_in_a_circle():
    assert circles(FILES) == []


def test_a_circle_is_seen_lazy_or_not(tmp_path):
    package = tmp_path / "jaxkg"
    package.mkdir()
    (package / "a.py").write_text("import jaxkg.b")
    (package / "b.py").write_text("def f():\n    from jaxkg import a")
    (package / "c.py").write_text("import jaxkg.a")
    assert circles(sorted(package.rglob("*.py")), package) == [["jaxkg.a", "jaxkg.b"]]


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


SOURCES = {
    "import jaxkg.kg.graph": ["kg"],
    "import jaxkg": [ROOT],
    "from jaxkg import kg, score": ["kg", "score"],
    "from jaxkg import KnowledgeGraph": [ROOT],
    "from .. import score": ["score"],
    "from ..score.planner import bag": ["score"],
    "from .beam import choose": [],
    "from . import beam": [],
    "def f():\n    from jaxkg.search.relation_beam import ask": ["search"],
    "if TYPE_CHECKING:\n    import jaxkg.kg": ["kg"],
    "import jax\nfrom jaxkgextra import kg": [],
}


@pytest.mark.parametrize(("source", "units"), SOURCES.items())
def test_every_way_to_import_is_seen(tmp_path, source, units):
    package = tmp_path / "jaxkg"
    for unit in ("kg", "score", "select", "search"):
        (package / unit).mkdir(parents=True)
        (package / unit / "__init__.py").touch()
    path = package / "select" / "beam.py"
    path.write_text(source)
    assert [unit for _, unit in crossings(path, package)] == units


def test_a_short_question_is_answered_before_jax_is_imported(tmp_path):
    """By the command and from Python; with vectors, see the tests of the encoder."""
    code = """
import sys
from jaxkg.cli import main
try:
    main(["ask", "who directed Alien?", "--set", "encoder=hashing", "--profile"])
except SystemExit as ended:
    assert not ended.code, ended.code
assert "jax" not in sys.modules
from jaxkg.experiments.programs import programs_counted
with programs_counted() as found:
    import jax.numpy as jnp
    jnp.arange(7).block_until_ready()
assert found.total
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=PACKAGE.parent,
        env=os.environ | {"JAXKG_CACHE": str(tmp_path)},
    )
    assert "Ridley Scott" in done.stdout
    assert "in 0.00 s; JAX was not needed" in done.stderr


def test_the_reader_is_named_where_it_lives_and_loaded_when_it_is_asked_for():
    code = (
        "import sys, jaxkg.systems.reader.settings; print('jax' in sys.modules); "
        "from jaxkg.systems.reader import Reader, ReaderSettings; print(Reader.__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    assert done.stdout.split() == ["False", "Reader"]
