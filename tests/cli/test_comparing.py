import json
import sys
from pathlib import Path
from typing import ClassVar

import pytest

from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.evaluate import evaluate
from jaxkg.experiments.datasets import Dataset, kinds
from jaxkg.experiments.registry import SYSTEMS, Entry
from jaxkg.experiments.side_by_side import Outcome, as_json, write_comparison
from jaxkg.kg import demo_questions, read_questions
from jaxkg.learn.planner.model import Planner
from jaxkg.records import RankedEntity, Usage
from jaxkg.systems.parts import Built
from jaxkg.words import TOPIC_WORD, mask_mentions, mention_of


@pytest.fixture
def gold():
    """What a model says that plans by the demo questions' gold paths, and picks path 1."""
    plans = {question.text: question.paths[0] for question in demo_questions()}
    for question in demo_questions():
        spans = filter(None, (mention_of(question.text, topic) for topic in question.topics))
        plans[mask_mentions(question.text, spans).replace(TOPIC_WORD, "X")] = question.paths[0]

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


@pytest.mark.slow
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
    found = found["datasets"]["questions"]
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
    assert "| questions | llm-planned | 8 | 8 | 1.000 [" in told
    assert "| system | asked | answered |" in told
    assert (folder / "compare.png").read_bytes()[:4] == b"\x89PNG"
    assert (folder / "llm-planned" / "traces.jsonl").exists()


def test_two_models_stand_side_by_side(jaxkg, serve, gold, eight, tmp_path):
    def wrong(body):
        return json.dumps({"reasoning": "none", "hops": [["released_in"]]})

    able, other, folder = serve(gold), serve(wrong), tmp_path / "out"
    models = f"able,org/other@{other.url}"
    compare = ("compare", "--systems", "planner,llm-planned", "--questions", eight, "-o", folder)
    code, out, err = jaxkg(
        *(*compare, "--json", "--llm", models, "--base-url", able.url),
        *("--replies", tmp_path / "replies.sqlite", "--set", "llm-planned.ask=paths"),
    )
    assert code == 0, err
    assert {body["model"] for body in able.bodies} == {"able"}
    assert {body["model"] for body in other.bodies} == {"org/other"}
    found = json.loads(out)["datasets"]["questions"]
    exact = {name: some["metrics"]["exact_set"]["value"] for name, some in found["systems"].items()}
    assert list(exact) == ["planner", "llm-planned@able", "llm-planned@other"]
    assert exact["llm-planned@able"] == 1 > exact["llm-planned@other"]
    assert (folder / "llm-planned@other" / "traces.jsonl").exists()
    assert "able: 8 calls" in err
    assert "org/other: " in err


def test_kinds_of_questions_have_their_own_table(tmp_path):
    def line(id, answer):
        answers = [{"entity": answer, "score": 1.0}]
        return {"id": id, "question": id, "gold": ["B"], "answers": answers}

    right = Outcome(evaluate([line("a", "B"), line("b", "B"), line("c", "B")]))
    half = Outcome(evaluate([line("a", "B"), line("b", "x"), line("c", "B")]))
    named = {"a": "one", "b": "two"}
    some = {"set": {"right": right, "half": half}, "alike": {"right": right}}
    found = as_json(some, {}, 0, {"set": named, "alike": {"a": "one", "b": "one"}})
    by_kind = found["datasets"]["set"]["kinds"]
    values = {k: {s: m["hits_at_1"]["value"] for s, m in e.items()} for k, e in by_kind.items()}
    assert values == {"one": {"right": 1, "half": 1}, "two": {"right": 1, "half": 0}}
    assert by_kind["two"]["half"]["f1"]["n"] == 1
    assert found["datasets"]["alike"]["kinds"] == {}
    # These lines do not say what was retrieved.
    measured = found["datasets"]["set"]["systems"]["right"]["metrics"]
    assert measured["retrieval_rate"] == {"value": None, "low": None, "high": None, "n": 0}
    assert measured["miss_withheld"]["value"] == 0
    printed = []
    write_comparison(tmp_path, some, found | {"provenance": {"seed": 3}}, 0, printed.append)
    written = (tmp_path / "compare.md").read_text("utf-8")
    assert "| two | 1 | 1.000 (1.000) | 0.000 (0.000) |" in written
    assert '"seed": 3' in written
    assert "| two | 1 |" in printed[0]
    assert "seed" not in printed[0]


def test_kinds_are_the_sets_own_words_else_hops(tmp_path):
    rows = [
        {"id": "a", "question": "x?", "q_entity": ["A"], "a_entity": ["B"],
         "gold_paths": [["r", "s"], ["r"]], "compositionality_type": "conjunction"},
        {"id": "b", "question": "y?", "q_entity": ["A"], "a_entity": ["B"],
         "gold_paths": [["r", "s"]]},
        {"id": "c", "question": "z?", "q_entity": ["A"], "a_entity": ["B"], "gold_paths": []},
    ]  # fmt: skip
    file = tmp_path / "some.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = Dataset(None, (file,), tuple(read_questions(file)))
    assert kinds(given) == {"a": "conjunction", "b": "2 hops"}


def test_without_matplotlib_there_is_no_plot(jaxkg, eight, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    folder = tmp_path / "out"
    monkeypatch.setitem(SYSTEMS, "twin", SYSTEMS["planner"])
    code, out, err = jaxkg(
        "compare", "--systems", "planner,twin", "--questions", eight, "-o", folder
    )
    assert code == 0
    assert out.startswith("# Comparison")
    assert "no picture: plots require matplotlib" in err
    assert not (folder / "compare.png").exists()
    found = json.loads((folder / "compare.json").read_text("utf-8"))
    found = found["datasets"]["questions"]
    assert found["differences"]["twin"]["f1"] == {"value": 0, "low": 0, "high": 0, "n": 8}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--systems", "planner"], "requires two different systems"),
        (["--systems", "planner,planner"], "requires two different systems"),
        (["--systems", "planner,frob"], "no system is called 'frob'"),
        (["--systems", "planner,planner+llm"], "planner+llm needs a language model"),
        (["--systems", "planner,reknos", "--set", "width=3"], "write it SYSTEM.NAME=VALUE"),
        (["--systems", "planner,reknos", "--kg", "x"], "give --questions FILE or --dataset NAME"),
        (["--systems", "planner,reknos", "--dataset", "frob"], "no dataset is called 'frob'"),
        (["--systems", "planner,reknos", "--dataset", "pq-2h"], "name it by JAXKG_DATA"),
        (["--systems", "planner,reknos", "--dataset", "pq-2h", "--kg", "x"], "or your own"),
        (["--systems", "planner,reknos", "--dataset", "pq,pq-2h"], "one comes twice"),
    ],
)
def test_what_cannot_be_compared(jaxkg, tmp_path, monkeypatch, arguments, why):
    monkeypatch.delenv("JAXKG_DATA", raising=False)
    assert why in jaxkg.refused("compare", *arguments, "-o", tmp_path / "out")


class Oracle:
    """Answers with the gold answers; says what it was built of and what it was asked."""

    told: ClassVar[list] = []
    trained: ClassVar[list] = []

    def __init__(self, parts):
        self.right = parts.wishes.get("right", "yes") == "yes"
        self.told.append(("built", self.right, parts.planner_folder))
        self.trained.append({kind: path.name for kind, path in parts.trained.items()})

    def answer(self, questions, *, use_given=True, on_progress=None):
        self.told.append(len(questions))
        usage = Usage(seconds=0.5, calls=1, prompt_tokens=10, completion_tokens=2)
        return [
            Answer(
                question=question.text,
                question_id=question.id,
                entities=(
                    RankedEntity(question.answers[0] if self.right else "nobody", "", 1.0, ()),
                ),
                usage=usage,
                system="oracle",
            )
            for question in questions
        ]


@pytest.fixture
def benchmark(tmp_path, monkeypatch):
    """A folder of benchmark data, small, and systems that need no training."""
    root = tmp_path / "data"
    for hop, asked in enumerate(("who made [Heat]\tMann", "who made [Ali]\tMann"), 1):
        for part in ("test", "dev"):
            file = root / "metaqa" / f"{hop}-hop" / f"qa_{part}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{asked}\n{asked.replace('who', 'and who')}\n", encoding="utf-8")
    (root / "metaqa" / "kb.txt").write_text("Heat|made|Mann\nAli|made|Mann\n", encoding="utf-8")
    monkeypatch.setenv("JAXKG_DATA", str(root))
    Oracle.told.clear()
    Oracle.trained.clear()

    def build(parts):
        oracle = Oracle(parts)
        return Built(oracle, {"right": oracle.right})

    entry = Entry("oracle", build, about="knows")
    monkeypatch.setitem(SYSTEMS, "oracle", entry)
    monkeypatch.setitem(SYSTEMS, "other", entry)
    return root


def test_benchmarks_make_one_table_and_what_lacks_a_part_is_told(jaxkg, benchmark, tmp_path):
    folder = tmp_path / "out"
    command = (
        *("compare", "--systems", "pathmind,oracle,other,planner", "-o", folder, "--json"),
        *("--dataset", "metaqa-1,metaqa-2", "--set", "other.right=no"),
    )
    code, out, err = jaxkg(*command)
    assert code == 0
    found = json.loads(out)["datasets"]
    assert list(found) == ["metaqa-1", "metaqa-2"]
    assert Oracle.told == [("built", True, None), 2, 2, ("built", False, None), 2, 2]
    for each in found.values():
        assert each["baseline"] == "oracle"
        assert "needs a trained model: --set model=FOLDER" in each["left_out"]["pathmind"]
        assert "jaxkg train planner --dataset" in each["left_out"]["planner"]
        assert each["systems"]["oracle"]["metrics"]["hits_at_1"]["value"] == 1
        assert each["systems"]["oracle"]["seconds"] == 1.0
        assert each["systems"]["other"]["peak_memory_mib"] > 10
        assert each["differences"]["other"]["hits_at_1"]["value"] == -1
    assert "metaqa/kb.txt, metaqa/1-hop/qa_test.txt: other content" in err
    assert "metaqa-1: pathmind is left out" in err
    told = (folder / "compare.md").read_text("utf-8")
    assert "| metaqa-2 | other | 2 | 2 | 0.000 [0.000, 0.000] | -1.000 [-1.000, -1.000] |" in told
    assert "| 1 | 12 | 1.0 |" in told
    assert "| metaqa-1 | pathmind | left out: --system pathmind needs" in told
    assert (folder / "compare.png").exists()
    # Again: nothing is asked, and what was measured is kept.
    (folder / "metaqa-1" / "other" / "memory.json").write_text('{"peak_mib": 7.0}', "utf-8")
    Oracle.told.clear()
    again = json.loads(jaxkg.done(*command))["datasets"]
    assert [each for each in Oracle.told if isinstance(each, int)] == []
    assert again["metaqa-1"]["systems"]["other"]["peak_memory_mib"] == 7.0
    assert again["metaqa-2"] == found["metaqa-2"]


def test_what_names_a_benchmark_more_closely_counts(jaxkg, benchmark, tmp_path):
    (tmp_path / "a=b").mkdir()
    code, _, err = jaxkg(
        *("compare", "--systems", "oracle,other", "-o", tmp_path / "out"),
        *("--dataset", "metaqa-1,metaqa-2", "--limit", 1),
        *("--set", "metaqa-2:oracle.right=yes", "--set", "metaqa:oracle.right=no"),
        *("--planner", "metaqa-1=near", "--planner", tmp_path / "a=b"),
    )
    assert code == 0, err
    far = tmp_path / "a=b"
    assert Oracle.told == [
        *(("built", False, Path("near")), 1, ("built", True, far), 1),
        *(("built", True, Path("near")), 1, ("built", True, far), 1),
    ]
    for wrong, why in (
        (("--set", "pq:oracle.right=no"), "'pq' is not one of metaqa-1"),
        (("--planner", "webqsp=x"), "'webqsp' is not one of metaqa-1"),
        (("--systems", "pathmind,planner"), "no system could be built"),
        (("--dataset", "metaqa"), "has no metaqa/3-hop/qa_test.txt; `jaxkg datasets` says"),
    ):
        code, out, err = jaxkg(
            *("compare", "--systems", "oracle,other", "-o", tmp_path / "new"),
            *("--dataset", "metaqa-1", *wrong),
        )
        assert (code, out, why in err) == (2, "", True)


def test_trained_parts_are_found_in_one_folder(jaxkg, benchmark, tmp_path):
    folder = tmp_path / "parts"
    for part in ("metaqa/planner", "metaqa/guided", "metaqa-2/planner", "other/ranked"):
        (folder / part).mkdir(parents=True)
    command = ("compare", "--systems", "oracle,other", "-o", tmp_path / "out", "--parts")
    sets = ("--dataset", "metaqa-1,metaqa-2", "--limit", 1)
    jaxkg.done(*command, folder, *sets, "--planner", "metaqa-1=near")
    planners = [each[2] for each in Oracle.told if isinstance(each, tuple)]
    assert planners == [Path("near"), folder / "metaqa-2" / "planner"] * 2
    assert Oracle.trained == [{"planner": "planner", "guided": "guided"}] * 4
    code, _, err = jaxkg(*command, tmp_path / "absent", *sets)
    assert (code, "absent: no such folder" in err) == (2, True)


def test_a_page_says_where_benchmarks_come_from(jaxkg, benchmark, monkeypatch):
    code, out, err = jaxkg("datasets")
    assert (code, err) == (0, "")
    assert "https://github.com/yuyuz/MetaQA" in out
    assert "  other content metaqa/kb.txt" in out
    assert "  absent        metaqa/3-hop/qa_test.txt" in out
    monkeypatch.delenv("JAXKG_DATA")
    assert "JAXKG_DATA is not set" in jaxkg("datasets")[1]


@pytest.mark.usefixtures("standard_promotion")
@pytest.mark.slow
def test_a_model_that_plans_teaches_the_planner(jaxkg, serve, gold, eight, tmp_path):
    server, run, folder = serve(gold), tmp_path / "run", tmp_path / "planner"
    arguments = ("eval", "--system", "llm-planned", "--questions", eight, "-o", run, "--json")
    out = jaxkg.done(*arguments, *options(server, tmp_path))
    assert json.loads(out)["metrics"]["exact_set"]["value"] == 1
    assert len(server.bodies) == 8
    distil = ("distill", run, "-o", folder, "--held-out", 0, "--epochs", 2)
    found = json.loads(jaxkg.done(*distil, "--json"))
    assert found["distilled"]["traces"] == 8
    assert found["agreement"]["teacher_f1"] == 1
    assert found["agreement"]["questions"] == 8
    assert Planner.open(folder).about["agreement"] == found["agreement"]
    err = jaxkg.refused("distill", tmp_path / "absent", "-o", tmp_path / "p")
    assert "no traces; make some with" in err


@pytest.mark.slow
def test_benchmarks_are_found_by_name(data_dir, monkeypatch):
    from jaxkg.experiments.datasets import NAMES, dataset

    monkeypatch.setenv("JAXKG_DATA", str(data_dir))
    for name in ("metaqa-1", "pql-2h", "webqsp", "cwq", "grailqa"):
        assert name in NAMES
        test, train = dataset(name), dataset(name, "train")
        assert test.graph == train.graph
        assert all(file.is_file() for file in (*test.hashed, *train.hashed))
        assert test.unknown == train.unknown == ()
        assert test.directed == (name not in ("webqsp", "cwq", "grailqa"))
        shared = {q.text for q in test.questions} & {q.text for q in train.questions}
        assert len(shared) < 0.02 * len(test.questions)
    assert dataset("metaqa", "train").questions == dataset("metaqa-1", "train").questions
    for wrong in (("metaqa", "test"), ("pq", "train"), ("frob", "train")):
        with pytest.raises(JaxkgError, match="no dataset is called"):
            dataset(*wrong)
