import io
import json
import subprocess
import sys

import pytest

from jaxkg.answer import Answer
from jaxkg.cli.chatting import _short
from jaxkg.records import RankedEntity

ASKED = "who directed Alien?"


@pytest.fixture
def typed(monkeypatch):
    """What standard input is to hold."""

    def run(text):
        stream = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
        monkeypatch.setattr("sys.stdin", stream)

    return run


def test_questions_come_from_standard_input(jaxkg, typed):
    typed(f"{ASKED}\n\nwho directed Zzyzx Qwerty?\n")
    code, out, _ = jaxkg("ask", "-", "--json")
    answers = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert [answer["question"] for answer in answers] == [ASKED, "who directed Zzyzx Qwerty?"]
    assert [bool(answer["abstained"]) for answer in answers] == [False, True]
    typed(ASKED)
    assert "1. Ridley Scott" in jaxkg.done("ask", "-")
    typed("\n")
    assert "no question on standard input" in jaxkg.refused("ask", "-")


def test_a_chat_stays_warm(jaxkg, typed):
    typed(f":why\n{ASKED}\n:why\n:relations\n:history\n:frob\nwho \x1b[31mfrobs?\n:quit\nnever\n")
    out = jaxkg.done("chat")
    lines = out.splitlines()
    assert lines[0] == "nothing was asked yet"
    assert lines[1] == "Ridley Scott  (Alien, directed by: Ridley Scott)"
    assert "demo/facts.tsv:" in out
    assert any(line.endswith("  directed by") for line in lines)
    assert "unknown command :frob" in out
    assert lines.count(ASKED) == 2  # once above `:why`, once in the history
    assert lines[-1].startswith("No answer: ")
    assert "\x1b" not in out


@pytest.mark.parametrize("option", ["--svg", "--trace", "--triples"])
def test_the_answer_is_printed_where_nothing_can_be_saved(jaxkg, option, tmp_path):
    for target, why in (
        ("/dev/full", "is a device"),
        (tmp_path / "no" / "x", "there is no folder"),
    ):
        code, out, err = jaxkg("ask", ASKED, option, target)
        assert code == 2
        assert "1. Ridley Scott" in out
        assert f"jaxkg: {target}: {why}" in err


def test_a_question_that_is_no_text_is_one_line(jaxkg):
    err = jaxkg.refused("ask", "who \udcff Alien?")
    assert err == "jaxkg: the question is not UTF-8 text (at character 5)\n"


def test_a_file_is_read_as_options_say_and_the_reading_is_told(jaxkg, tmp_path):
    file = tmp_path / "films.csv"
    file.write_bytes("from;kind;to\nAmélie;directed by;Jean-Pierre Jeunet\n".encode("cp1252"))
    options = ["--encoding", "cp1252", "--columns", "head=from,relation=kind,tail=to"]
    code, out, err = jaxkg("kg", "build", file, "-o", tmp_path / "kg", *options)
    assert code == 0
    assert "2 entities, 1 relation, 1 triple" in out
    assert err == f"jaxkg: {file}: from, kind, to: taken as head, relation, tail; 1 facts\n"
    code, out, _ = jaxkg("kg", "stats", file, *options, "--json")
    assert json.loads(out)["relation_counts"] == {"directed by": 1}
    for wrong in ("a,b", "head=a,relation=b", "0,1,2"):
        err = jaxkg.refused("kg", "stats", file, "--columns", wrong)
        assert err.startswith(f"jaxkg: --columns {wrong}: ")
    jaxkg.refused("kg", "stats", "--columns", "1,2,3")


def test_numbers_and_names_are_fit_for_a_terminal(jaxkg, tmp_path):
    file = tmp_path / "kg.tsv"
    file.write_text("a\t\x1b[31mred\tb\na\tr\tc\na\tr\td\n")
    out = jaxkg("kg", "stats", file)[1]
    assert "\x1b" not in out
    [p90] = [line for line in out.splitlines() if "p90" in line]
    assert len(p90.split()[-1]) <= 5


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_any_terminal_and_python_dash_m(encoding):
    import os

    env = {**os.environ, "PYTHONIOENCODING": encoding}
    code = "import sys; from jaxkg.cli.app import _any_terminal as f; f(); print('→ Ω é')"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, env=env, check=True)
    assert out.stdout.startswith(b"-> \\u03a9 ")
    command = [sys.executable, "-m", "jaxkg", "--version"]
    assert subprocess.run(command, capture_output=True, env=env, check=True).stdout.strip()


def test_a_chat_shows_what_the_columns_of_a_row_tell():
    row = RankedEntity("L-001", "L-001", 1.0, (), cells=("Tile Panel", "overdue"))
    assert _short(Answer("which loans are overdue?", entities=(row,))) == (
        "L-001  Tile Panel  overdue  ()"
    )
