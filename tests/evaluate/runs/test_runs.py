import dataclasses
import hashlib
import json

import pytest

from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.evaluate import open_run, prediction_line, provenance, read_predictions, report_run
from jaxkg.records import Question, RankedEntity

QUESTIONS = [Question(f"q{i}", f"text {i}", answers=(f"a{i}",)) for i in range(4)]


def line_of(question, **options):
    entity = RankedEntity(question.answers[0], "name", 1.0, ())
    answer = Answer(question.text, question.id, entities=(entity,))
    return prediction_line(question, answer, **options)


def fill(folder, questions, **options):
    with open_run(folder, questions, **options) as run:
        for question in run.pending:
            run.write(line_of(question))


def test_lines_are_on_disk_as_they_are_written(tmp_path):
    with open_run(tmp_path / "a" / "run", QUESTIONS) as run:
        assert run.pending == QUESTIONS
        run.write(line_of(QUESTIONS[2]))
        assert [line["id"] for line in read_predictions(run.folder)] == ["q2"]
        assert [question.id for question in run.pending] == ["q0", "q1", "q3"]
        assert run.done == {"q2"}


@pytest.mark.parametrize("torn", [b'{"id": "q2", "quest', b"\0" * 70_000, b'{"a": "\xc3'])
def test_a_torn_last_line_is_cut_off_with_a_warning(tmp_path, torn):
    fill(tmp_path, QUESTIONS[:2])
    path = tmp_path / "predictions.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    with pytest.warns(UserWarning, match=rf"torn \({len(torn)} bytes\)") as caught:
        fill(tmp_path, QUESTIONS)
    assert caught[0].filename == __file__
    assert path.read_bytes().startswith(whole)
    assert [line["id"] for line in read_predictions(tmp_path)] == ["q0", "q1", "q2", "q3"]


def test_damage_inside_is_an_error_and_touches_nothing(tmp_path):
    fill(tmp_path, QUESTIONS)
    path = tmp_path / "predictions.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"q1"', b'"q1', 1))
    before = path.read_bytes()
    with pytest.raises(JaxkgError, match=r"predictions\.jsonl:2: not JSON"):
        open_run(tmp_path, QUESTIONS)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"id": "other"}, "id 'q1' is none of the questions given"),
        ({"text": "reworded"}, "was 'text 1' then and is 'reworded' now"),
        ({"answers": ("b",)}, "has other gold answers"),
        ({"answers": None}, "has other gold answers"),
    ],
)
def test_another_question_set_is_refused(tmp_path, change, problem):
    fill(tmp_path, QUESTIONS)
    others = [*QUESTIONS]
    others[1] = dataclasses.replace(others[1], **change)
    with pytest.raises(
        JaxkgError, match=f"another question set: .*{problem}.*--fresh, or fresh=True"
    ):
        open_run(tmp_path, others)


def test_gold_told_by_name_is_still_the_same_question(tmp_path):
    names = {"a0": "Name zero"}
    with open_run(tmp_path, QUESTIONS) as run:
        run.write(line_of(QUESTIONS[0], name_of=names.get))
        run.write(line_of(QUESTIONS[1], name_of=names.get))
    with open_run(tmp_path, QUESTIONS) as run:
        assert run.done == {"q0", "q1"}


def test_another_fingerprint_is_refused(tmp_path):
    mark = {"system": "pathhd", "graph": "f00"}
    fill(tmp_path, QUESTIONS[:2], fingerprint=mark)
    fill(tmp_path, QUESTIONS[:3], fingerprint=mark)
    with pytest.raises(JaxkgError, match=r"graph 'f00', but this one has 'ba7'.*another folder"):
        open_run(tmp_path, QUESTIONS, fingerprint=mark | {"graph": "ba7"})
    with pytest.raises(JaxkgError, match="has graph 'f00', but this one has None"):
        open_run(tmp_path, QUESTIONS)
    (tmp_path / "run.json").unlink()
    with pytest.raises(JaxkgError, match=r"no run\.json to say of what"):
        open_run(tmp_path, QUESTIONS, fingerprint=mark)


def test_fresh_keeps_the_old_lines_aside(tmp_path):
    for round_ in range(3):
        fill(tmp_path, QUESTIONS[: round_ + 1], fingerprint={"seed": str(round_)}, fresh=True)
    lengths = {path.name: len(list(read_predictions(path))) for path in tmp_path.glob("*.jsonl*")}
    assert lengths == {"predictions.jsonl.1": 1, "predictions.jsonl.2": 2, "predictions.jsonl": 3}


def test_failed_questions_may_be_asked_again(tmp_path):
    with open_run(tmp_path, QUESTIONS) as run:
        run.write(line_of(QUESTIONS[0]))
        run.write(prediction_line(QUESTIONS[1], None, "rate limit"))
        run.write(prediction_line(QUESTIONS[2], None, unparsed=True))
    with open_run(tmp_path, QUESTIONS, retry=("abstained",)) as run:
        assert run.done == {"q0", "q1", "q2"}
    assert not (tmp_path / "predictions.jsonl.1").exists()
    with open_run(tmp_path, QUESTIONS, retry=("failed",)) as run:
        assert [question.id for question in run.pending] == ["q1", "q3"]
        run.write(line_of(QUESTIONS[1]))
    assert [line["id"] for line in read_predictions(tmp_path)] == ["q0", "q2", "q1"]
    old = [line["id"] for line in read_predictions(tmp_path / "predictions.jsonl.1")]
    assert old == ["q0", "q1", "q2"]


def test_what_may_not_be_written(tmp_path):
    with pytest.raises(JaxkgError, match="3 questions have only 2 different ids"):
        open_run(tmp_path / "x", [QUESTIONS[0], QUESTIONS[0], QUESTIONS[1]])
    with open_run(tmp_path, QUESTIONS) as run:
        run.write(line_of(QUESTIONS[0]))
        with pytest.raises(JaxkgError, match="'q0' has its line already"):
            run.write(line_of(QUESTIONS[0]))
        with pytest.raises(JaxkgError, match="'q9' is no question of this run"):
            run.write(line_of(QUESTIONS[1]) | {"id": "q9"})
        with pytest.raises(JaxkgError, match="'gold' is 3"):
            run.write(line_of(QUESTIONS[1]) | {"gold": 3})
    assert len(list(read_predictions(tmp_path))) == 1


def test_the_report_is_written_beside_the_lines(tmp_path):
    fill(tmp_path, QUESTIONS, fingerprint={"system": "x"})
    report = report_run(tmp_path, provenance=provenance(seed=5, command=["run"]))
    stored = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert stored["metrics"]["hits_at_1"] == {"value": 1.0, "low": 1.0, "high": 1.0, "n": 4}
    assert stored["counts"]["asked"] == 4
    assert stored["provenance"]["fingerprint"] == {"system": "x"}
    assert stored["provenance"]["command"] == ["run"]
    assert (tmp_path / "report.md").read_text("utf-8") == report.to_markdown()
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != ".lock") == [
        "predictions.jsonl",
        "report.json",
        "report.md",
        "run.json",
    ]


def test_an_unfinished_run_says_so(tmp_path):
    with open_run(tmp_path, QUESTIONS) as run:
        run.write(line_of(QUESTIONS[0]))
    report = report_run(tmp_path)
    assert report.counts["not_asked"] == 3
    assert report.metrics["f1"].n == 1
    assert "not asked yet: this run is incomplete | 3" in report.to_markdown()


def test_provenance(tmp_path):
    data = tmp_path / "kb.txt"
    data.write_bytes(b"a|b|c\n")
    known = provenance(device="one CPU", seed=3, data=[data])
    assert known["data"] == {str(data): hashlib.sha256(b"a|b|c\n").hexdigest()}
    assert known["device"] == "one CPU"
    assert known["versions"]["numpy"]
    assert known["command"]
    with pytest.raises(JaxkgError, match=r"nowhere\.txt: cannot be hashed"):
        provenance(data=[tmp_path / "nowhere.txt"])
