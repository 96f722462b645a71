import dataclasses
import io

import numpy as np
import pytest
from reader_graphs import PROJECTS

from jaxkg.errors import JaxkgError
from jaxkg.systems.reader import corrections, system
from jaxkg.systems.reader.ranking import CUES
from jaxkg.systems.reader.weights import shipped_weights


@pytest.fixture
def team(in_cache, tmp_path, monkeypatch):
    """A graph about which the reader is never sure."""
    weights = shipped_weights("hashing")
    line = weights.confidence["line"] - 8 * (np.array(CUES) == "bias")
    unsure = dataclasses.replace(weights, confidence={**weights.confidence, "line": line})
    monkeypatch.setattr(system, "shipped_weights", lambda encoder: unsure)
    monkeypatch.setenv("JAXKG_CACHE", str(tmp_path / "cache"))
    rows = [
        f"{name}\tproject lead\tPerson{n}\n{name}\tsponsor\tFirm{n % 5}\n"
        for n, name in enumerate(PROJECTS)
    ]
    (tmp_path / "team.tsv").write_text("".join(rows))
    return tmp_path


def test_the_right_answer_is_given_though_it_cannot_be_kept(jaxkg, team, monkeypatch):
    def full(path, lines):
        raise JaxkgError(f"{path}: cannot be written (No space left on device)")

    ask = ["ask", "who runs Zeus?", "--kg", team / "team.tsv", "--set", "encoder=hashing"]
    [number] = [
        row.split(".")[0].strip() for row in jaxkg(*ask)[1].splitlines() if "→ Firm2" in row
    ]
    monkeypatch.setattr(corrections, "write_lines", full)
    code, out, err = jaxkg(*ask, "--right", number)
    assert (code, "1. Firm2" in out) == (0, True)
    [line] = err.splitlines()
    assert "nothing is kept for the next time" in line


def test_a_reading_is_right_by_its_number_until_corrections_are_cleared(jaxkg, team, monkeypatch):
    ask = ["ask", "who runs Zeus?", "--kg", team / "team.tsv", "--set", "encoder=hashing"]
    code, out, _ = jaxkg(*ask)
    assert code == 1
    [number] = [line.split(".")[0].strip() for line in out.splitlines() if "→ Firm2" in line]
    code, out, _ = jaxkg(*ask, "--right", number)
    assert (code, "1. Firm2" in out) == (0, True)
    code, out, _ = jaxkg(*ask)
    assert (code, "read as you said of 'who runs Zeus?'" in out) == (0, True)
    assert "who runs Zeus? = the sponsor of Zeus" in jaxkg("cache")[1]
    assert jaxkg(*ask, "--set", "corrections=false")[0] == 1
    assert jaxkg("cache", "clear")[0] == 0
    assert jaxkg(*ask)[0] == 0
    assert "who runs Zeus?" not in jaxkg("cache", "clear", "--corrections")[1]
    assert jaxkg(*ask)[0] == 1
    code, _, err = jaxkg(*ask, "--right", "9")
    assert (code, err.count("\n")) == (2, 1)
    code, _, err = jaxkg("ask", "who directed Alien?", "--system", "planner", "--right", "1")
    assert (code, "--system reader" in err) == (2, True)
    typed = "who runs Mars?\n:right 1\nwho runs Mars?\n"
    stream = io.TextIOWrapper(io.BytesIO(typed.encode()), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", stream)
    code, out, _ = jaxkg("chat", *ask[2:])
    lines = out.splitlines()
    assert lines[0].startswith("No answer: ")
    assert lines[1] == "Did you mean (:right N)"
    assert lines[-1] == lines[-2]
    assert not lines[-1].startswith("  ")


def test_weights_in_a_folder_are_used_with_the_encoder_they_were_made_for(jaxkg, team):
    graph, made = ["--kg", team / "team.tsv"], team / "M"
    made.mkdir()
    with open(made / "reader.npz", "wb") as file:
        shipped_weights("hashing").save(file)
    ask = ["ask", "who is the project lead of Zeus?", *graph]
    assert jaxkg(*ask, "--set", "encoder=hashing")[0] == 1  # never sure
    code, out, _ = jaxkg(*ask, "--set", f"weights={made}")
    assert (code, "1. Person2" in out) == (0, True)
    code, _, err = jaxkg("ask", "?", *graph, "--set", f"weights={made}", "--set", "encoder=minilm")
    assert (code, "--set encoder=hashing" in err) == (2, True)
