"""Every script says what it measures, how long it takes, and how it is started."""

import ast
import importlib
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SCRIPTS = TESTS.parent / "scripts"
OF_TESTS = {path.stem for of in ("worlds", "twins") for path in (TESTS / of).glob("*.py")}
STARTED = sorted(
    str(path.relative_to(SCRIPTS))
    for path in SCRIPTS.rglob("*.py")
    if "__main__" in path.read_text("utf-8")
)
TIME = re.compile(r"\b(seconds?|minutes?|hours?)\b", re.IGNORECASE)


def test_there_are_scripts():
    assert len(STARTED) > 15


@pytest.mark.slow
@pytest.mark.parametrize("name", STARTED)
def test_help(name, monkeypatch, capsys):
    path = SCRIPTS / name
    monkeypatch.syspath_prepend(str(path.parent))
    script = importlib.import_module(path.stem)
    with pytest.raises(SystemExit) as ended:
        script.main(["--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    first = (script.__doc__ or "").partition("\n")[0]
    assert first
    assert first in told


@pytest.mark.parametrize("name", STARTED)
def test_a_script_says_how_long_it_takes_and_how_it_is_started(name):
    said = ast.get_docstring(ast.parse((SCRIPTS / name).read_text("utf-8"))) or ""
    assert f"scripts/{name}" in said
    assert TIME.search(said)


@pytest.mark.parametrize("path", sorted(SCRIPTS.rglob("*.py")), ids=lambda path: path.name)
def test_a_script_finds_what_it_imports_when_started_alone(path):
    text = path.read_text("utf-8")
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    borrowed = {node.module for node in imports} & OF_TESTS
    assert not borrowed or "sys.path" in text, f"tests/ is not in reach: {sorted(borrowed)}"
