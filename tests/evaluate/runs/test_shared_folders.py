"""Two runs in one folder, runs that a budget or a full disk stopped, lines that are no lines."""

import errno
import json
import subprocess
import sys
from pathlib import Path

import pytest

import jaxkg
from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.evaluate import open_run, prediction_line, read_predictions, report_run
from jaxkg.records import Question, RankedEntity

ROOT = Path(jaxkg.__file__).parent.parent
QUESTIONS = [Question(f"q{i}", f"text {i}", answers=(f"a{i}",)) for i in range(4)]
RUN_BUDGET = "partial: the budget of 2 calls per run is used up; ranked by retrieval alone"
QUESTION_BUDGET = "partial: the budget of 1 calls per question is used up; the search ended early"


def line_of(question, *notes):
    entity = RankedEntity(question.answers[0], "name", 1.0, ())
    answer = Answer(question.text, question.id, entities=(entity,), notes=notes)
    return prediction_line(question, answer)


WRITER = """
import os, sys
from jaxkg.evaluate import open_run
from jaxkg.records import Question
run = open_run(sys.argv[1], [Question("q0", "text 0", answers=("a0",))])
print("open", flush=True)
sys.stdin.readline()
os._exit(9)
"""


def test_the_second_of_two_runs_in_one_folder_is_told_and_damages_nothing(tmp_path):
    with open_run(tmp_path, QUESTIONS) as run:
        run.write(line_of(QUESTIONS[0]))
        before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
        for options in ({}, {"fresh": True}, {"retry": ("answered",)}):
            with pytest.raises(JaxkgError, match="another process is writing in this folder"):
                open_run(tmp_path, QUESTIONS, **options)
        assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
        run.write(line_of(QUESTIONS[1]))
    with open_run(tmp_path, QUESTIONS) as run:
        assert [question.id for question in run.pending] == ["q2", "q3"]


def test_the_lock_of_a_process_that_was_killed_holds_nobody_off(tmp_path):
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert writer.stdout
    assert writer.stdout.readline() == "open\n"
    with pytest.raises(JaxkgError, match=rf"\(process {writer.pid}\)"):
        open_run(tmp_path, QUESTIONS)
    writer.communicate("die\n", timeout=30)
    with open_run(tmp_path, QUESTIONS) as run:
        assert run.pending == QUESTIONS


def test_a_folder_that_could_not_be_opened_is_free(tmp_path):
    with open_run(tmp_path, QUESTIONS) as run:
        run.write(line_of(QUESTIONS[0]))
    with pytest.raises(JaxkgError, match="is none of the questions given"):
        open_run(tmp_path, QUESTIONS[1:])
    open_run(tmp_path, QUESTIONS).close()
    (tmp_path / "file").write_text("")
    with pytest.raises(JaxkgError, match="no folder to write a run to"):
        open_run(tmp_path / "file", QUESTIONS)


def test_what_a_budget_cut_short_is_asked_again(tmp_path):
    with open_run(tmp_path, QUESTIONS) as run:
        run.write(line_of(QUESTIONS[0]))
        run.write(line_of(QUESTIONS[1], RUN_BUDGET))
        run.write(line_of(QUESTIONS[2], QUESTION_BUDGET))
        run.write(line_of(QUESTIONS[3], RUN_BUDGET, "another note"))
    assert report_run(tmp_path, resamples=10).counts["partial"] == 3
    with open_run(tmp_path, QUESTIONS) as run:
        assert [question.id for question in run.pending] == ["q1", "q3"]
        run.write(line_of(QUESTIONS[1]))
    with open_run(tmp_path, QUESTIONS, retry=("failed",)) as run:
        assert [question.id for question in run.pending] == ["q2", "q3"]
    assert len(list(tmp_path.glob("predictions.jsonl.*"))) == 2


def test_a_full_disk_is_told_and_the_run_goes_on_later(tmp_path, monkeypatch):
    run = open_run(tmp_path, QUESTIONS)
    run.write(line_of(QUESTIONS[0]))

    class Full:
        def write(self, raw):
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self):
            file.close()

    file = run._file
    monkeypatch.setattr(run, "_file", Full())
    with run, pytest.raises(JaxkgError, match=r"No space left on device.*start the run again"):
        run.write(line_of(QUESTIONS[1]))
    with open_run(tmp_path, QUESTIONS) as run:
        assert [question.id for question in run.pending] == ["q1", "q2", "q3"]


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000,
        '{"id": "q0", "n": ' + "9" * 5000 + "}",
        r'{"id": "\ud800", "question": "", "gold": null, "answers": []}',
        '{"id": "q0", "id": "q1", "question": "", "gold": null, "answers": []}',
        '{"id": "q0", "question": "", "gold": null, "answers": [{"entity": "a", "score": NaN}]}',
        '{"id": "q0", "question": "", "gold": null, "answers": [], "notes": [1]}',
    ],
)
def test_a_line_that_is_none_is_told_by_file_and_number(tmp_path, line):
    path = tmp_path / "predictions.jsonl"
    path.write_text(json.dumps(line_of(QUESTIONS[1])) + "\n" + line + "\n")
    with pytest.raises(JaxkgError, match=r"predictions\.jsonl:2: ") as caught:
        list(read_predictions(path))
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 5000, "1", "{}"])
def test_what_is_no_answer_is_told(text):
    with pytest.raises(JaxkgError, match="not the JSON of a jaxkg Answer"):
        Answer.from_json(text)
