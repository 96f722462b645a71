"""Lists of words: they are read, belong to the package, and each is used."""

import re
import tomllib
from pathlib import Path

import pytest

import jaxkg
from jaxkg.systems.reader import words
from jaxkg.systems.reader.words import heads, lines, pairs

PACKAGE = Path(jaxkg.__file__).parent
FILES = sorted(Path(words.__file__).parent.glob("*.toml"))
LISTS = [f"{file.stem}.{name}" for file in FILES for name in tomllib.loads(file.read_text("utf-8"))]


def test_lists_are_packed() -> None:
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text("utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["jaxkg"]
    packed = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    assert FILES
    assert packed >= set(FILES)


@pytest.mark.parametrize("name", LISTS)
def test_a_list_has_words_and_is_read_somewhere(name: str) -> None:
    assert words.words(name)
    source = "\n".join(
        path.read_text("utf-8") for path in (PACKAGE / "systems/reader").rglob("*.py")
    )
    assert name in re.findall(r'\b(?:words|lines|heads|pairs)\("([\w.]+)"', source)


def test_a_line_goes_on_and_heads_and_pairs_are_told() -> None:
    assert any(
        "lead" in line.split() and "chef" in line.split() for line in lines("synonyms.groups")
    )
    assert heads("cues.asks")["whose"] == "person"
    assert pairs("stems.irregular")["wrote"] == "write"
    with pytest.raises(KeyError):
        words.words("cues.none")
