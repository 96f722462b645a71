"""The tables of the papers: all are listed, numbers are the records', and each method runs."""

import json
import re
from pathlib import Path

import pytest
from lib.record import records

from jaxkg.evaluate.runs.report import SEARCH
from jaxkg.experiments.datasets import NAMES
from jaxkg.experiments.papers import STATES, paper, papers
from jaxkg.experiments.registry import SYSTEMS
from jaxkg.experiments.side_by_side import _METRICS

RECORDS = records(Path(__file__).parents[2] / "scripts")
PRINTED = {
    "pathhd": (15, 6),
    "reknos": (13, 6),
    "proh": (7, 6),
    "pathmind": (5, 6),
    "guided": (4, 5),
}
"""Tables and figures of each paper."""
TABLES = [(each.method, table) for each in papers().values() for table in each.tables]


def numbers(found):
    """All numbers of a record, those within words too."""
    if isinstance(found, dict | list):
        for each in found.values() if isinstance(found, dict) else found:
            yield from numbers(each)
    elif isinstance(found, str):
        yield from map(float, re.findall(r"\d+\.\d+", found))
    elif isinstance(found, int | float):
        yield float(found)


@pytest.mark.parametrize("method", PRINTED)
def test_every_table_and_figure_is_listed_once(method):
    listed = [id for table in paper(method).tables for id in (table.id, *table.also)]
    tables, figures = PRINTED[method]
    printed = [f"t{i + 1}" for i in range(tables)] + [f"f{i + 1}" for i in range(figures)]
    assert sorted(listed) == sorted(printed)


@pytest.mark.parametrize(("method", "table"), TABLES, ids=lambda each: getattr(each, "id", each))
def test_a_table_says_what_it_is(method, table):
    assert table.state in STATES
    assert bool(table.why) == (table.state == "no")
    assert bool(table.ours) == bool(table.source)
    assert not (table.ours or table.arms) or table.state in ("done", "nearest")
    for arm in table.arms:
        assert arm.system.removesuffix("+llm") in SYSTEMS
    if table.arms:
        assert table.dataset in NAMES
        assert set(table.metrics) <= {*_METRICS, *SEARCH}


@pytest.mark.parametrize(
    "table", [table for _, table in TABLES if table.source], ids=lambda table: table.source
)
def test_our_numbers_are_those_of_the_record(table):
    measured = [n for name in table.source.split(", ") for n in numbers(RECORDS[name])]
    told = re.findall(r"\d+\.\d+|(?<![\d,.])\d{4,}(?![\d,])", table.ours)
    for number in told:
        digits = len(number.partition(".")[2])
        assert float(number) in {round(value, digits) for value in measured}, number


def test_what_a_deviation_costs_is_of_a_record_or_told_to_be_of_none():
    for table in RECORDS["deviations"]["tables"]:
        for *_, told in table["rows"]:
            named = re.findall(r"(?:table|bench)_[\w-]+", told)
            assert set(named) <= set(RECORDS), told
            measured = {round(n, 3) for name in named for n in numbers(RECORDS[name])}
            said = {float(number) for number in re.findall(r"\d\.\d{3}", told)}
            assert said <= measured or told.endswith("(no record)"), told


def test_the_list_has_every_state(jaxkg):
    out = jaxkg.done("reproduce", "--list")
    assert "| Table 3 | composition operators | nearest |" in out
    assert "not possible here" in out
    out = jaxkg.done("reproduce", "guided", "--list", "--table", "II", "--json")
    [table] = json.loads(out)["guided"]
    assert table["state"] == "done"
    assert table["source"] == "table_guided, table_llm-planning-100, table_llm-planning-claude"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["nobody"], "no paper of 'nobody'"),
        (["guided", "--table", "9"], "guided has no such table; it has t1"),
        (["reknos", "--table", "f6"], "JAXKG_DATA"),
        (["reknos", "--table", "f6", "--replay"], "--replay says how to ask a language model"),
    ],
)
def test_what_cannot_be_reproduced(jaxkg, monkeypatch, words, why):
    monkeypatch.delenv("JAXKG_DATA", raising=False)
    assert why in jaxkg.refused("reproduce", *words)


@pytest.mark.parametrize(
    ("method", "table", "settings", "right"),
    [
        ("pathhd", "2", ["pathhd.encoder=hashing", "pathhd.dimension=64"], "vectors alone"),
        pytest.param(
            *("reknos", "f6", ["batch_size=4"], "super-relations"), marks=pytest.mark.slow
        ),
        ("proh", "1", [], "retrieval alone, no model"),
    ],
)
def test_a_small_one_of_each_method(jaxkg, tmp_path, method, table, settings, right):
    words = ["reproduce", method, "--demo", "--table", table, "--questions", 2, "-o", tmp_path]
    words += [word for each in settings for word in ("--set", each)]
    [found] = json.loads(jaxkg.done(*words, "--json"))
    rows = {row["name"]: row for row in found["rows"]}
    assert rows[right]["asked"] == 2
    assert rows[right]["paper"] == "", "the built-in graph is not the paper's"
    assert set(rows[right]["metrics"]) <= set(found["metrics"])
    for arm, row in zip(paper(method).chosen([table])[0].arms, rows.values()):
        needs = arm.system.endswith("+llm") or SYSTEMS[arm.system].model == "needed"
        assert ("language model" in row.get("lacks", "")) == needs
    # The runs are kept: the same again, as people read it.
    out = jaxkg.done(*words)
    assert f"| {right} |" in out
    assert "lacks" in out or method == "reknos"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "table"),
    [("pathhd", "15"), ("reknos", "13"), ("proh", "5"), ("guided", "2"), ("pathmind", "1")],
)
def test_rows_that_ask_a_model_take_their_settings(jaxkg, serve, tmp_path, method, table):
    server = serve(lambda body: "nothing of use")
    out = jaxkg.done(
        *("reproduce", method, "--demo", "--table", table, "--questions", 1, "--json"),
        *("--llm", "loopback", "--base-url", server.url, "--no-cache"),
        *("--set", "pathhd.encoder=hashing", "--set", "proh.encoder=hashing"),
    )
    lacks = [row["lacks"] for row in json.loads(out)[0]["rows"] if "lacks" in row]
    assert all("a trained part: --parts" in each for each in lacks), lacks
    assert server.bodies


@pytest.mark.slow
@pytest.mark.usefixtures("standard_promotion")
@pytest.mark.parametrize(("method", "table"), [("pathmind", "1"), ("guided", "3")])
def test_trained_methods_are_found_in_a_folder_of_parts(jaxkg, serve, tmp_path, method, table):
    words = ["reproduce", method, "--demo", "--table", table, "--questions", 4, "--json"]
    _, out, _ = jaxkg(*words)
    assert f"`jaxkg train {method} -o PARTS/{method}`" in json.loads(out)[0]["rows"][0]["lacks"]
    train = ["train", method, "--encoder", "hashing", "--epochs", 1, "--hops", 1]
    train += ["--set", "steps=2", "--set", "batch_size=32"] if method == "guided" else []
    jaxkg.done(*train, "-o", tmp_path / method)
    out = jaxkg.done(*words, "--parts", tmp_path, "--set", "guided.encoder=hashing")
    row = json.loads(out)[0]["rows"][0]
    assert row.get("asked") == 4, row
    if method == "pathmind":
        server = serve(lambda body: "nothing of use")
        model = ["--llm", "loopback", "--base-url", server.url, "--no-cache"]
        rows = json.loads(jaxkg(*words, "--parts", tmp_path, *model)[1])[0]["rows"]
        [asked] = [row for row in rows if row["name"] == "the model over important paths"]
        assert asked["metrics"]["calls"]["value"] == 2, "one call over paths, and its repair"


@pytest.mark.slow
def test_rows_of_a_real_model_are_had_again_without_it(jaxkg, data_dir, monkeypatch):
    monkeypatch.setenv("JAXKG_DATA", str(data_dir))
    replies = Path(__file__).parents[1] / "replies" / "replies.sqlite.gz"
    out = jaxkg.done(
        *("reproduce", "guided", "--table", "2", "--questions", 12, "--json"),
        *("--llm", "qwen2.5-coder-1.5b", "--replay", "--replies", replies),
    )
    rows = {row["name"]: row for row in json.loads(out)[0]["rows"]}
    recorded = RECORDS["table_llm-planning"]["tables"][0]
    for name, arm in (("planned by the model, our prompt", "ours"), ("model alone",) * 2):
        [told] = [row for row in recorded["rows"] if row[:3] == ["metaqa-3", 12, arm]]
        told = dict(zip(recorded["columns"], told))
        found = rows[name]["metrics"]
        assert found["hits_at_1"] == pytest.approx(told["hits_at_1"])
        assert found["calls"]["value"] == pytest.approx(told["calls"])
    assert "never recorded" in rows["planned by the model, hop count given"]["lacks"]
