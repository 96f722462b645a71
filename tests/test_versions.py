"""One version: of the package, the citation and the list of changes."""

import re
from pathlib import Path

import jaxkg

ROOT = Path(__file__).parent.parent


def test_the_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    released = re.findall(r"^## (\d\S*)", changes, re.MULTILINE)
    assert f"\nversion: {jaxkg.__version__}\n" in citation
    assert released[0] == jaxkg.__version__
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_the_model_card_is_short():
    card = ROOT / "jaxkg" / "systems" / "reader" / "weights" / "README.md"
    assert len(card.read_text("utf-8").splitlines()) <= 60
