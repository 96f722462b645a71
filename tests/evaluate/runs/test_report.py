import dataclasses
import json
import math

import pytest

from jaxkg.evaluate import evaluate, prediction_line
from jaxkg.evaluate.runs.scores import MISSED, SEARCH, score_line


def test_every_question_asked_is_in_the_denominator(make_line):
    lines = [
        make_line("right", ["x"], "x"),
        make_line("abstained", ["x"], "x", abstained="unsure"),
        make_line("unparsed", ["x"], "x", unparsed=True),
        make_line("failed", ["x"], "x", error="timeout"),
    ]
    report = evaluate(lines)
    assert report.counts == {
        "asked": 4,
        "answered": 1,
        "abstained": 1,
        "unparsed": 1,
        "failed": 1,
        "empty": 0,
        "no_gold": 0,
    }
    wrong_three_times = set(report.metrics) - {"micro_f1", *MISSED}
    assert {report.metrics[name].value for name in wrong_three_times} == {0.25}
    assert report.metrics["micro_f1"].value == pytest.approx(2 / 5)
    assert {estimate.n for estimate in report.metrics.values()} == {4}


def test_an_empty_reply_to_an_answered_question_scores_as_published(make_line):
    report = evaluate([make_line("empty", ["x"]), make_line("blank", ["x"], " ")])
    assert report.counts["empty"] == 2
    assert report.metrics["tog_em"].value == 1
    assert report.metrics["hit_any"].value == report.metrics["rog_hit"].value == 0
    assert "each of the 2 empty replies 1, as published" in report.to_markdown()


def test_questions_without_gold_are_counted_apart(make_line):
    report = evaluate(
        [make_line("a", ["x"], "x"), make_line("b", [], "x"), make_line("c", None, error="late")]
    )
    assert report.counts["asked"] == 3
    assert report.counts["no_gold"] == 2
    assert report.metrics["f1"].value == 1
    assert {estimate.n for estimate in report.metrics.values()} == {1}
    assert "without gold answers (in no answer metric) | 2" in report.to_markdown()


def test_generation_is_over_what_was_judged_and_the_rest_is_counted(make_line):
    lines = [
        make_line("good", ["x"], "x"),
        make_line("poor", ["x"], "y"),
        make_line("held back", ["x"], "x"),
        make_line("abstained", ["x"], "x", abstained="unsure"),
        make_line("blank", ["x"], " "),
        make_line("no gold", None, "x"),
    ]
    known = {"good": 0.9, "poor": 0.2, "held back": math.nan, "abstained": 0.0, "blank": 0.0}
    report = evaluate(lines, generation=known)
    estimate = report.metrics["generation"]
    assert estimate.value == pytest.approx((0.9 + 0.2) / 4)
    assert estimate.n == 4
    assert 0 <= estimate.low < estimate.value < estimate.high <= 0.9
    assert (report.counts["judged"], report.counts["unjudged"]) == (2, 1)
    told = report.to_markdown()
    assert "answer judged by a language model | 2" in told
    assert "answer not judged (left out of `generation`) | 1" in told
    assert "## Judged by a language model" in told
    plain = evaluate(lines)
    assert "generation" not in plain.metrics
    assert "judged" not in plain.counts


def test_macro_and_micro(make_line):
    report = evaluate(
        [make_line("a", ["a"], "a"), make_line("b", ["a", "b", "c", "d"], "a", "x", "y", "z")]
    )
    metrics = {name: estimate.value for name, estimate in report.metrics.items()}
    assert metrics["precision"] == metrics["recall"] == pytest.approx((1 + 1 / 4) / 2)
    assert metrics["f1"] == pytest.approx((1 + 1 / 4) / 2)
    assert metrics["micro_f1"] == pytest.approx(2 * 2 / (2 * 2 + 3 + 3))
    assert metrics["exact_set"] == 0.5
    assert metrics["hits_at_1"] == 1


def test_a_line_scored_in_full(question, answer):
    usage = dataclasses.replace(answer.usage, nodes=4, edges=9)
    line = prediction_line(
        dataclasses.replace(question, aliases=("Robert",)),
        dataclasses.replace(answer, usage=usage, retrieved=frozenset({"m.1", "m.3"})),
        check=lambda given: True,
        name_of={"m.1": "Bob", "m.2": "Dan"}.get,
        support=[("m.film", "written_by", "m.3"), ("m.film", "directed_by", "m.1")],
    )
    scores = score_line(line, ks=(1, 2))
    expected = {
        "tp": 1,
        "fp": 1,
        "fn": 1,
        "hits_at_1": 1,
        "hit_any": 1,
        "exact_set": 0,
        "precision": 0.5,
        "recall": 0.5,
        "f1": 0.5,
        "rog_hit": 1,
        "rog_f1": 0.5,
        "gnnrag_hit1": 1,
        "gcr_f1": 0.5,
        "subgraphrag_f1": 0.5,
        "tog_em": 1,
        "pog_em_alias": 1,
        "mrqa_em": 0,
        "mrqa_f1": 2 / 3,
        # The plan has the gold path in second place.
        "path_recall_at_1": 0,
        "path_recall_at_2": 1,
        # By score, the path to Cid comes first.
        "answer_recall_at_1": 0,
        "answer_recall_at_2": 1,
        "support_recall_at_1": 0,
        "support_recall_at_2": 0.5,
        "grounded": 1,
        "calls": 1,
        "prompt_tokens": 200,
        "completion_tokens": 10,
        "price": 0.01,
        "seconds": 0.5,
        "nodes": 4,
        "edges": 9,
        "retrieval_rate": 1,
        "entities_retrieved": 2,
        **dict.fromkeys(MISSED, 0),
    }
    assert scores == pytest.approx(expected)


def test_where_questions_are_lost(make_line):
    wrong = {"gold_retrieved": False, "linked": True}
    below = make_line("a", ["a"], "x") | wrong | {"gold_retrieved": True}
    away = make_line("b", ["a"], "x") | wrong
    right = make_line("c", ["a"], "a") | wrong  # it is known by its name alone
    unlinked = make_line("d", ["a"]) | wrong | {"linked": False, "abstained": "no topic"}
    doubted = unlinked | {"id": "e", "linked": True, "plan": [{"relations": ["r"], "used": False}]}
    failed = make_line("f", ["a"]) | {"error": "timeout"}
    report = evaluate([below, away, right, unlinked, doubted, failed])
    values = {name: estimate.value for name, estimate in report.metrics.items()}
    assert values["retrieval_rate"] == pytest.approx(2 / 5)
    assert values["miss_not_linked"] == values["miss_withheld"] == pytest.approx(1 / 6)
    assert values["miss_failed"] == pytest.approx(1 / 6)
    assert values["miss_ranked_below"] == values["miss_not_retrieved"] == pytest.approx(1 / 5)
    assert report.metrics["retrieval_rate"].n == 5
    assert "## Misses" in report.to_markdown()


def test_what_a_system_does_not_tell_is_null_and_never_0(make_line):
    lines = [make_line("a", ["a"], "a"), make_line("b", ["a"], "x"), make_line("c", ["a"])]
    told = json.loads(evaluate(lines).to_json())["metrics"]
    unknown = {"value": None, "low": None, "high": None, "n": 0}
    for name in (*SEARCH, "miss_not_retrieved", "miss_ranked_below"):
        assert told[name] == unknown
    assert told["miss_failed"]["value"] == 0


def test_retrieval_is_judged_where_the_answer_was_abstained_from(question, answer):
    line = prediction_line(question, answer) | {"abstained": "unsure"}
    scores = score_line(line, ks=(2,))
    assert scores["hit_any"] == 0
    assert scores["path_recall_at_2"] == scores["answer_recall_at_2"] == 1


def test_without_a_plan_the_paths_speak(question, answer):
    line = prediction_line(question, answer) | {
        "plan": [],
        "gold_paths": [["starred_actors", "directed"]],
    }
    assert score_line(line, ks=(2,))["path_recall_at_2"] == 0
    assert score_line(line, ks=(1,), directed=False)["path_recall_at_1"] == 0
    assert score_line(line, ks=(2,), directed=False)["path_recall_at_2"] == 1


def test_a_run_without_evidence_has_no_retrieval_metrics(make_line):
    report = evaluate([make_line("a", ["x"], "x", gold_paths=[["r"]])])
    assert not [name for name in report.metrics if "recall_at" in name]


def test_another_name_of_the_one_gold_answer_is_right(make_line):
    told = {"gold_aliases": ["the Cid"]}
    known = evaluate([make_line("a", ["x"], "Cid", **told), make_line("b", ["x"], "y", **told)])
    for metric in ("hits_at_1", "f1", "mrqa_em", "mrqa_f1"):
        assert known.metrics[metric].value == 0.5, metric
    two = evaluate([make_line("a", ["x", "z"], "Cid", **told)])
    assert two.metrics["f1"].value == 0, "nobody says whose name it is"


def test_costs(make_line):
    lines = [
        make_line(str(i), ["x"], usage={"calls": i, "seconds": float(i)}) for i in range(1, 21)
    ]
    report = evaluate([*lines, make_line("late", ["x"], error="timeout")])
    metrics = report.metrics
    assert metrics["seconds_p50"].value == 10
    assert metrics["seconds_p95"].value == 19
    assert metrics["calls"].value == pytest.approx(10.5)
    assert metrics["calls"].n == metrics["seconds_p50"].n == 20
    assert metrics["seconds_p50"].low < 10 < metrics["seconds_p50"].high


def test_json_and_markdown(make_line):
    report = evaluate([make_line("a", ["x"], "x")], provenance={"device": "été"})
    stored = json.loads(report.to_json())
    assert stored.keys() == {"metrics", "counts", "provenance"}
    assert stored["metrics"]["hits_at_1"] == {"value": 1.0, "low": 1.0, "high": 1.0, "n": 1}
    text = report.to_markdown()
    assert "| `hits_at_1` | 1.0000 | [1.0000, 1.0000] | 1 |" in text
    assert text.index("## Strict") < text.index("## As published elsewhere")
    assert '"device": "été"' in text


def test_what_a_model_did_wrong_is_counted_where_it_did(make_line):
    lines = [
        make_line("a", ["x"], "x", fault="timeout: late", dropped=["Nobody", "None"]),
        make_line("b", ["x"], "x", dropped=["Nobody"], refused=["y"], notes=["partial: of calls"]),
        make_line("c", ["x"], "x", fault=None, dropped=[], refused=[], notes=["not partial:"]),
    ]
    report = evaluate(lines)
    flaws = {name: report.counts[name] for name in ("fault", "dropped", "refused", "partial")}
    assert flaws == {"fault": 1, "dropped": 2, "refused": 1, "partial": 1}
    told = report.to_markdown()
    assert "the model named what was never offered (dropped) | 2" in told
    assert "a budget held calls back | 1" in told
    assert "dropped" not in evaluate(lines[2:]).counts
