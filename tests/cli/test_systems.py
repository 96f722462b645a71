import dataclasses
import json

import pytest

from jaxkg.answer import Answer
from jaxkg.experiments.registry import SYSTEMS


def test_help_names_every_system(jaxkg):
    code, out, _ = jaxkg("eval", "--help")
    assert code == 0
    assert all(name in "".join(out.split()) for name in SYSTEMS)


def test_a_hypergraph_is_built_and_asked_by_its_own_system(jaxkg, tmp_path):
    source, folder = tmp_path / "facts.tsv", tmp_path / "hyper"
    source.write_text("starred\tHeat\tAl Pacino\tHanna\nstarred\tRonin\tDe Niro\tSam\n")
    code, out, _ = jaxkg("hypergraph", "build", source, "-o", folder, "--format", "nary")
    assert (code, "6 entities" in out) == (0, True)
    assert jaxkg("hypergraph", "stats", folder)[0] == 0
    code, _, err = jaxkg("ask", "who is Hanna", "--system", "planner", "--hypergraph", folder)
    assert code == 2
    assert "--hypergraph is asked by --system proh, not by 'planner'" in err
    # Without one, the facts of the graph are its hyperedges.
    (tmp_path / "kg.tsv").write_text("Heat\tstarred\tAl Pacino\nRonin\tstarred\tDe Niro\n")
    ask = ("ask", "who starred in Heat", "--system", "proh", "--kg", tmp_path / "kg.tsv")
    code, out, err = jaxkg(*ask, "--set", "encoder=hashing", "--json")
    assert code == 0, err
    answer = Answer.from_json(out)
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
    code, out, err = jaxkg("hypergraph", "build", corpus, "-o", folder)
    assert code == 0, err
    assert "1 chunk)" in out
    code, out, _ = jaxkg("hypergraph", "stats", folder)
    assert code == 0
    assert json.loads(out)["kinds"]["passage"] == 1
    assert "Charles Babbage" in out

    code, _, err = jaxkg("hypergraph", "build", tmp_path / "nothing", "-o", folder)
    assert code == 2
    assert "nothing" in err
    build = ["hypergraph", "build", corpus / "engine.txt", "-o", folder]
    code, _, err = jaxkg(*build, "--format", "nary", "--llm", "m")
    assert code == 2
    assert "drop --llm" in err


def test_near_names_are_joined_where_the_model_confirms_them(jaxkg, serve, tmp_path):
    source = tmp_path / "facts.tsv"
    source.write_text("starred\tHeat\tAl Pacino\nwon\tHeat (film)\tOscar\nset\tHeats\tParis\n")
    build = ["hypergraph", "build", source, "--format", "nary", "--synonyms", "hashing"]

    def groups(name, *options):
        folder = tmp_path / name
        code, _, err = jaxkg(*build, "-o", folder, *options)
        assert code == 0, err
        code, out, _ = jaxkg("hypergraph", "stats", folder)
        return json.loads(out)["kinds"].get("synonym", 0)

    assert groups("near", "--alike", "0.4") == 1
    assert groups("apart", "--alike", "1") == 0
    model = ("--base-url", serve(lambda _: json.dumps({"groups": []})).url, "--llm", "loopback")
    assert groups("refused", "--alike", "0.4", *model) == 0
    code, _, err = jaxkg(*build[:-2], "-o", tmp_path / "x", "--alike", "0.4")
    assert (code, "name --synonyms" in err) == (2, True)


def test_texts_alone_take_an_encoder_by_name(jaxkg):
    plain = ["ask", "--system", "pathhd", "--set", "query=text", "who directed [Alien]?"]
    code, out, err = jaxkg(*plain, "--set", "encoder=hashing", "--set", "dimension=256")
    assert code == 0, err
    assert "Ridley Scott" in out
    code, _, err = jaxkg(*plain, "--set", "encoder=words")
    assert code == 2
    assert "'words'" in err


def test_several_devices_answer_as_one_and_go_on_with_its_run(jaxkg, eight, tmp_path):
    ask = ("ask", "who directed [Alien]?", "--system", "planner", "--json")
    (code, one, err), (other, two, told) = jaxkg(*ask), jaxkg(*ask, "--devices", "2")
    assert (code, other) == (0, 0), err + told
    first, second = (dataclasses.replace(Answer.from_json(out), usage=None) for out in (one, two))
    assert first == second

    def lines(folder, *options):
        run = ("eval", "-o", tmp_path / folder, "--questions", eight, "--system", "planner")
        code, _, err = jaxkg(*run, *options)
        assert code == 0, err
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
        ("99", "--devices: a mesh of 99 x 1 wants 99 devices; there are 8"),
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
    assert (code, out) == (2, "")
    assert why in err
