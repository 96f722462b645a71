import dataclasses
import json

import pytest

from jaxkg.answer import Answer
from jaxkg.experiments.datasets import dataset, kinds
from jaxkg.experiments.registry import SYSTEMS

TEXTS = {
    "Alien": "Alien is a 1979 film directed by Ridley Scott.",
    "Ridley Scott": "Ridley Scott was born in South Shields.",
    "Heat": "Heat is a 1995 film directed by Michael Mann.",
    "Michael Mann": "Michael Mann was born in Chicago.",
}


def row(film, person, place, others):
    titles = [film, person, *others]
    return {
        "_id": film.casefold(),
        "question": f"Where was {person}, who directed {film}, born?",
        "answer": place,
        "type": "bridge",
        "supporting_facts": [[film, 0], [person, 0]],
        "context": [[title, [TEXTS[title]]] for title in titles],
    }


def test_help_names_every_system(jaxkg):
    out = jaxkg.done("eval", "--help")
    assert all(name in "".join(out.split()) for name in SYSTEMS)


def test_a_hypergraph_is_built_and_asked_by_its_own_system(jaxkg, tmp_path):
    source, folder = tmp_path / "facts.tsv", tmp_path / "hyper"
    source.write_text("starred\tHeat\tAl Pacino\tHanna\nstarred\tRonin\tDe Niro\tSam\n")
    code, out, _ = jaxkg("hypergraph", "build", source, "-o", folder, "--format", "nary")
    assert (code, "6 entities" in out) == (0, True)
    assert jaxkg("hypergraph", "stats", folder)[0] == 0
    err = jaxkg.refused("ask", "who is Hanna", "--system", "planner", "--hypergraph", folder)
    assert "--hypergraph requires --system proh, not 'planner'" in err
    # Without one, the facts of the graph are its hyperedges.
    (tmp_path / "kg.tsv").write_text("Heat\tstarred\tAl Pacino\nRonin\tstarred\tDe Niro\n")
    ask = ("ask", "who starred in Heat", "--system", "proh", "--kg", tmp_path / "kg.tsv")
    answer = Answer.from_json(jaxkg.done(*ask, "--set", "encoder=hashing", "--json"))
    assert answer.entities[0].entity == "Al Pacino"
    assert answer.paths[0].hyperedges[0].entities == (("Heat", "Heat"), ("Al Pacino", "Al Pacino"))
    ask = ("ask", "who is Hanna in Heat", "--system", "proh", "--hypergraph", folder)
    code, out, err = jaxkg(*ask, "--set", "encoder=hashing", "--json")
    assert code in (0, 1), err
    assert Answer.from_json(out).question == "who is Hanna in Heat"


def test_a_hypergraph_is_built_from_texts(jaxkg, tmp_path):
    corpus, folder = tmp_path / "corpus", tmp_path / "hypergraph"
    corpus.mkdir()
    (corpus / "engine.txt").write_text("Charles Babbage designed the Difference Engine in London.")
    assert "1 chunk)" in jaxkg.done("hypergraph", "build", corpus, "-o", folder)
    out = jaxkg.done("hypergraph", "stats", folder)
    assert json.loads(out)["kinds"]["passage"] == 1
    assert "Charles Babbage" in out

    (corpus / "blank.txt").write_text("\n")
    code, out, err = jaxkg("hypergraph", "build", corpus, "-o", folder)
    assert (code, err) == (0, f"{corpus / 'blank.txt'}: no text, left out\n")
    assert "1 chunk)" in out
    code, _, err = jaxkg("hypergraph", "build", corpus / "blank.txt", "-o", tmp_path / "other")
    assert (code, "no document has any text" in err) == (2, True)

    assert "nothing" in jaxkg.refused("hypergraph", "build", tmp_path / "nothing", "-o", folder)
    build = ["hypergraph", "build", corpus / "engine.txt", "-o", folder]
    assert "drop --llm" in jaxkg.refused(*build, "--format", "nary", "--llm", "m")


def test_near_names_are_joined_where_the_model_confirms_them(jaxkg, serve, tmp_path):
    source = tmp_path / "facts.tsv"
    source.write_text("starred\tHeat\tAl Pacino\nwon\tHeat (film)\tOscar\nset\tHeats\tParis\n")
    build = ["hypergraph", "build", source, "--format", "nary", "--synonyms", "hashing"]

    def groups(name, *options):
        folder = tmp_path / name
        jaxkg.done(*build, "-o", folder, *options)
        out = jaxkg.done("hypergraph", "stats", folder)
        return json.loads(out)["kinds"].get("synonym", 0)

    assert groups("near", "--alike", "0.4") == 1
    assert groups("apart", "--alike", "1") == 0
    model = ("--base-url", serve(lambda _: json.dumps({"groups": []})).url, "--llm", "loopback")
    assert groups("refused", "--alike", "0.4", *model) == 0
    code, _, err = jaxkg(*build[:-2], "-o", tmp_path / "x", "--alike", "0.4")
    assert (code, "name --synonyms" in err) == (2, True)


@pytest.mark.slow
def test_texts_alone_take_an_encoder_by_name(jaxkg):
    plain = ["ask", "--system", "pathhd", "--set", "query=text", "who directed [Alien]?"]
    out = jaxkg.done(*plain, "--set", "encoder=hashing", "--set", "dimension=256")
    assert "Ridley Scott" in out
    assert "'words'" in jaxkg.refused(*plain, "--set", "encoder=words")


@pytest.mark.slow
def test_several_devices_answer_as_one_and_go_on_with_its_run(jaxkg, eight, tmp_path):
    ask = ("ask", "who directed [Alien]?", "--system", "planner", "--json")
    (code, one, err), (other, two, told) = jaxkg(*ask), jaxkg(*ask, "--devices", "2")
    assert (code, other) == (0, 0), err + told
    first, second = (dataclasses.replace(Answer.from_json(out), usage=None) for out in (one, two))
    assert first == second

    def lines(folder, *options):
        run = ("eval", "-o", tmp_path / folder, "--questions", eight, "--system", "planner")
        jaxkg.done(*run, *options)
        file, numbers = tmp_path / folder / "predictions.jsonl", []

        def number(text):  # batches of other sizes may differ in the last bits
            numbers.append(float(text))
            return 0.0

        rows = [json.loads(line, parse_float=number) for line in file.read_text().splitlines()]
        return [{**row, "usage": None} for row in rows], len(numbers)

    alone = lines("one")
    assert lines("three", "--devices", "3") == alone
    half = tmp_path / "three" / "predictions.jsonl"
    half.write_text("".join(half.read_text().splitlines(keepends=True)[:3]))
    assert lines("three") == alone


@pytest.mark.parametrize("command", ["ask", "eval", "chat", "compare", "serve", "mcp"])
@pytest.mark.parametrize(
    ("devices", "why"),
    [
        ("3x", "--devices 3x: write 4 for questions over four devices"),
        ("99", "--devices: a mesh of 99 x 1 requires 99 devices; there are 8"),
    ],
)
def test_devices_that_are_none_are_told_in_a_line(jaxkg, tmp_path, command, devices, why):
    pytest.importorskip({"serve": "uvicorn", "mcp": "mcp"}.get(command, "typer"))
    given = {
        "ask": ["who directed Alien?"],
        "eval": ["-o", tmp_path / "out"],
        "compare": ["-o", tmp_path / "out", "--systems", "planner,reader"],
    }
    code, out, err = jaxkg(command, *given.get(command, ()), "--devices", devices)
    assert (code, out, why in err) == (2, "", True)


@pytest.fixture
def asked(tmp_path, monkeypatch):
    rows = [
        row("Alien", "Ridley Scott", "South Shields", ["Heat"]),
        {**row("Heat", "Michael Mann", "Chicago", ["Alien"]), "type": "comparison"},
    ]
    path = tmp_path / "data" / "multihop_text" / "hotpotqa_200.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(rows))
    monkeypatch.setenv("JAXKG_DATA", str(tmp_path / "data"))
    return path


def test_they_are_evaluated_over_their_own_passages(jaxkg, asked, tmp_path):
    for number, given in enumerate((("--dataset", "hotpotqa"), ("--questions", asked))):
        folder = tmp_path / str(number)
        run = ("eval", *given, "--system", "proh", "-o", folder, "--set", "encoder=hashing")
        metrics = json.loads(jaxkg.done(*run, "--json"))["metrics"]
        assert metrics["support_recall_at_3"]["value"] == 1
        assert metrics["grounded"]["value"] == 1
        assert metrics["retrieval_rate"]["value"] == 1, (
            "gold names are known by the passages' names"
        )
        lines = map(json.loads, (folder / "predictions.jsonl").read_text().splitlines())
        for line, lacks in zip(lines, ("Michael Mann", "Ridley Scott"), strict=True):
            assert len(line["retrieved"]) == 3
            assert not any(id.startswith(lacks) for id in line["retrieved"])


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("eval --system planner", "asks a graph, and these questions bring passages instead"),
        ("eval --system proh --devices 2", "does not work with questions over their own passages"),
        ("train planner", "--dataset hotpotqa has no questions to train on"),
    ],
)
def test_another_system_two_devices_and_training_want_a_graph(jaxkg, asked, tmp_path, typed, told):
    code, _, err = jaxkg(*typed.split(), "--dataset", "hotpotqa", "-o", tmp_path / "out")
    assert code != 0
    assert told in err


def test_they_are_listed_with_their_kinds(jaxkg, asked):
    assert "\nhotpotqa\n  other content multihop_text/hotpotqa_200.json" in jaxkg.done("datasets")
    assert kinds(dataset("hotpotqa")) == {"alien": "bridge", "heat": "comparison"}


def test_all_their_passages_make_one_hypergraph(jaxkg, asked, tmp_path):
    folder = tmp_path / "hyper"
    build = ("hypergraph", "build", "--format", "questions", "-o", folder)
    jaxkg.done(*build, asked)
    assert json.loads(jaxkg("hypergraph", "stats", folder)[1])["chunks"] == 4
    run = ("eval", "--dataset", "hotpotqa", "--system", "proh", "--hypergraph", folder)
    out = jaxkg.done(*run, "-o", tmp_path / "out", "--set", "encoder=hashing", "--json")
    lines = (tmp_path / "out" / "predictions.jsonl").read_text().splitlines()
    assert all(len(json.loads(line)["retrieved"]) == 4 for line in lines)
    assert json.loads(out)["metrics"]["support_recall_at_5"]["value"] == 1
    plain = tmp_path / "plain.txt"
    plain.write_text("why?\n")
    code, _, err = jaxkg(
        "hypergraph", "build", "--format", "questions", "-o", tmp_path / "x", plain
    )
    assert code != 0
    assert "no question brings passages" in err


def test_one_set_is_not_asked_over_the_passages_of_another(jaxkg, asked, tmp_path):
    rows = [
        {
            "id": "chad",
            "question": "Who leads Chad?",
            "answer": "Ali",
            "paragraphs": [
                {"title": "Chad", "paragraph_text": "Chad is led by Ali.", "is_supporting": True}
            ],
        }
    ]
    (asked.parent / "musique_200.json").write_text(json.dumps(rows))
    run = ("compare", "--systems", "proh,planner", "--dataset", "hotpotqa,musique", "--json")
    out = jaxkg.done(*run, "-o", tmp_path / "out", "--set", "proh.encoder=hashing")
    found = json.loads(out)["datasets"]
    assert found["musique"]["systems"]["proh"]["metrics"]["grounded"]["value"] == 1
    assert found["musique"]["systems"]["proh"]["metrics"]["retrieval_rate"]["value"] == 1
    assert found["hotpotqa"]["systems"]["proh"]["counts"]["asked"] == 2
    marks = (tmp_path / "out" / name / "proh" / "run.json" for name in ("hotpotqa", "musique"))
    first, second = (json.loads(mark.read_text())["fingerprint"]["graph"] for mark in marks)
    assert first != second, "entities are known by the passages of their own set"
    assert "bring passages instead" in found["musique"]["left_out"]["planner"]
