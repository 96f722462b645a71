import pytest

from jaxkg.errors import JaxkgError
from jaxkg.evaluate import compare, evaluate, paired_differences


@pytest.fixture
def reports(make_line):
    base = [make_line(str(i), ["a", "b"], "a" if i % 2 else "x") for i in range(60)]
    better = [
        make_line(str(i), ["a", "b"], *("ab" if i % 2 else "a" if i % 4 else "x"))
        for i in reversed(range(60))
    ]
    return {"base": evaluate(base), "better": evaluate(better)}


def test_differences_are_paired_by_question(reports):
    found = paired_differences(reports["better"], reports["base"])
    for name in ("hits_at_1", "f1", "micro_f1", "rog_f1"):
        values = [reports[system].metrics[name].value for system in ("better", "base")]
        assert found[name].value == pytest.approx(values[0] - values[1])
        assert found[name].low <= found[name].value <= found[name].high
    assert found["hits_at_1"].value == pytest.approx(1 / 4)
    # No question got worse, so no draw can show a loss.
    assert found["hits_at_1"].low > 0.1
    assert set(found) == set(reports["base"].metrics)


def test_table(reports):
    table = compare(reports, metrics=["f1", "hits_at_1"])
    header, _, *rows = table.splitlines()
    assert header == "| metric | base | better | better − base |"
    assert [row.split("`")[1] for row in rows] == ["f1", "hits_at_1"]
    assert rows[1].startswith("| `hits_at_1` | 0.5000 [0.")
    assert "| 0.2500 [" in rows[1]


def test_a_metric_only_one_has_gets_a_dash(reports, make_line):
    timed = [make_line(str(i), ["a", "b"], usage={"seconds": 1.0}) for i in range(60)]
    table = compare({**reports, "timed": evaluate(timed)})
    row = next(row for row in table.splitlines() if "seconds_p50" in row)
    assert row.split(" | ")[1:] == ["–", "–", "1.0000 [1.0000, 1.0000]", "–", "– |"]


def test_other_questions_cannot_be_compared(reports, make_line):
    other = evaluate([make_line("elsewhere", ["a"], "a")])
    with pytest.raises(JaxkgError, match=r"61 are in only one .*\(1 and 60 questions\)"):
        compare({"base": reports["base"], "other": other})
    with pytest.raises(JaxkgError, match="at least two reports, got 1"):
        compare({"base": reports["base"]})
    with pytest.raises(JaxkgError, match="no report has a metric 'Hits@1'"):
        compare(reports, metrics=["Hits@1"])
