import json
import sys

import pytest

from jaxkg.cli.systems import SYSTEMS
from jaxkg.kg import demo_questions, write_questions
from jaxkg.learn.planner import Planner


@pytest.fixture
def eight(tmp_path):
    file = tmp_path / "eight.jsonl"
    write_questions(demo_questions()[:8], file)
    return file


@pytest.fixture
def gold():
    """What a model says that plans by the demo questions' gold paths, and picks path 1."""
    plans = {question.text: question.paths[0] for question in demo_questions()}

    def answer(body):
        user = body["messages"][-1]["content"]
        if "Retrieved paths" in user:
            return json.dumps({"answers": [], "supporting_paths": [1], "rationale": "So."})
        asked = user.rpartition("<question>\n")[2].partition("\n</question>")[0]
        return json.dumps({"reasoning": "gold", "hops": [[name] for name in plans[asked]]})

    return answer


def options(server, tmp_path):
    return (
        *("--llm", "loopback", "--base-url", server.url),
        *("--replies", tmp_path / "replies.sqlite"),
    )


def test_systems_stand_side_by_side(jaxkg, serve, gold, eight, tmp_path):
    server, folder = serve(gold), tmp_path / "out"
    code, out, err = jaxkg(
        *("compare", "--systems", "planner, planner+llm, llm-planned"),
        *("--questions", eight, "-o", folder, "--json", "--set", "planner.threshold=0.9999"),
        *options(server, tmp_path),
    )
    found = json.loads(out)
    assert code == 0
    assert found == json.loads((folder / "compare.json").read_text("utf-8"))
    systems = found["systems"]
    assert list(systems) == ["planner", "planner+llm", "llm-planned"]
    assert systems["planner"]["metrics"]["calls"]["value"] == 0
    assert systems["llm-planned"]["metrics"]["calls"]["value"] == 1
    assert systems["llm-planned"]["metrics"]["exact_set"]["value"] == 1
    assert systems["planner"]["counts"]["abstained"] == 8, "the setting is the planner's alone"
    assert systems["planner+llm"]["counts"]["answered"] > 4
    assert systems["planner"]["peak_memory_mib"] > 10
    assert found["baseline"] == "planner"
    assert found["differences"]["llm-planned"]["f1"]["value"] == 1
    assert f"loopback: {len(server.bodies)} calls" in err
    told = (folder / "compare.md").read_text("utf-8")
    assert "| metric | planner | planner+llm | llm-planned | planner+llm − planner |" in told
    assert "| `hits_at_1` |" in told
    assert "| system | asked | answered |" in told
    assert (folder / "compare.png").read_bytes()[:4] == b"\x89PNG"
    assert (folder / "llm-planned" / "traces.jsonl").exists()


def test_without_matplotlib_there_is_no_plot(jaxkg, eight, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    folder = tmp_path / "out"
    monkeypatch.setitem(SYSTEMS, "twin", SYSTEMS["planner"])
    code, out, err = jaxkg(
        "compare", "--systems", "planner,twin", "--questions", eight, "-o", folder
    )
    assert code == 0
    assert out.startswith("# Comparison")
    assert "no plot: plots need matplotlib" in err
    assert not (folder / "compare.png").exists()
    found = json.loads((folder / "compare.json").read_text("utf-8"))
    assert found["differences"]["twin"]["f1"] == {"value": 0, "low": 0, "high": 0, "n": 8}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--systems", "planner"], "name at least two different ones"),
        (["--systems", "planner,planner"], "name at least two different ones"),
        (["--systems", "planner,frob"], "no system is called 'frob'"),
        (["--systems", "planner,planner+llm"], "planner+llm needs a language model"),
        (["--systems", "planner,reknos", "--set", "width=3"], "write it SYSTEM.NAME=VALUE"),
        (["--systems", "planner,reknos"], "give --questions FILE or --dataset NAME"),
        (["--systems", "planner,reknos", "--dataset", "frob"], "no dataset is called 'frob'"),
        (["--systems", "planner,reknos", "--dataset", "pq-2h"], "name it by JAXKG_DATA"),
        (["--systems", "planner,reknos", "--dataset", "pq-2h", "--kg", "x"], "or your own"),
    ],
)
def test_what_cannot_be_compared(jaxkg, tmp_path, monkeypatch, arguments, why):
    monkeypatch.delenv("JAXKG_DATA", raising=False)
    code, out, err = jaxkg("compare", *arguments, "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert why in err


@pytest.mark.usefixtures("standard_promotion")
def test_a_model_that_plans_teaches_the_planner(jaxkg, serve, gold, eight, tmp_path):
    server, run, folder = serve(gold), tmp_path / "run", tmp_path / "planner"
    arguments = ("eval", "--system", "llm-planned", "--questions", eight, "-o", run, "--json")
    code, out, _ = jaxkg(*arguments, *options(server, tmp_path))
    assert code == 0
    assert json.loads(out)["metrics"]["exact_set"]["value"] == 1
    assert len(server.bodies) == 8
    distil = ("distill", run, "-o", folder, "--held-out", 0, "--epochs", 2)
    code, out, _ = jaxkg(*distil, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["distilled"]["traces"] == 8
    assert found["agreement"]["teacher_f1"] == 1
    assert found["agreement"]["questions"] == 8
    assert Planner.open(folder).about["agreement"] == found["agreement"]
    code, out, err = jaxkg("distill", tmp_path / "absent", "-o", tmp_path / "p")
    assert (code, out) == (2, "")
    assert "no traces; make some with" in err


def test_benchmarks_are_found_by_name(data_dir, monkeypatch):
    from jaxkg.cli.datasets import NAMES, dataset

    monkeypatch.setenv("JAXKG_DATA", str(data_dir))
    for name in ("metaqa-1", "pql-2h", "webqsp"):
        assert name in NAMES
        test, train = dataset(name), dataset(name, "train")
        assert test.graph == train.graph
        assert all(file.is_file() for file in (*test.hashed, *train.hashed))
        shared = {q.text for q in test.questions} & {q.text for q in train.questions}
        assert len(shared) < 0.02 * len(test.questions)
