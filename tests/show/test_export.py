import dataclasses
import shutil
import subprocess

import pytest
from cited_answers import answer_along

from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, read_graph
from jaxkg.kg.builtin import demo_graph
from jaxkg.records import RankedEntity
from jaxkg.show import cited_triples, to_csv, to_dot, to_triples
from jaxkg.show.export import cited_paths, roles

EVIL = 'He said "hi\\N"\n<b>[bold]\x1b[31m'


@pytest.fixture(scope="module")
def answer():
    return answer_along(demo_graph(), ["Alien"], ("directed_by", "^directed_by", "starred"))


def test_the_cited_paths_come_first_for_every_answer_then_second(answer):
    entities = (
        RankedEntity("a", "a", 1, ("p3", "p1", "p5")),
        RankedEntity("b", "b", 1, ("p2",)),
        RankedEntity("c", "c", 1, ("p4", "p3", "p99")),
    )
    changed = dataclasses.replace(answer, entities=entities)
    assert [path.id for path in cited_paths(changed)] == ["p3", "p2", "p4", "p1", "p5"]


def test_an_abstention_shows_the_paths_looked_at(answer):
    refused = dataclasses.replace(answer, entities=(), abstained="refused")
    assert cited_paths(refused) == list(answer.paths)
    assert cited_triples(Answer("?", abstained="none")) == []


def test_a_table_is_csv_with_its_columns_and_other_answers_of_one():
    rows = (
        RankedEntity("v1", "Sea Salt", 1, (), cells=("Leeds", "12, 14")),
        RankedEntity("v2", 'The "Hut"', 1, (), cells=("York", "")),
    )
    table = Answer("?", entities=rows, columns=("of", "city", "price"))
    assert to_csv(table) == 'of,city,price\nSea Salt,Leeds,"12, 14"\n"The ""Hut""",York,\n'
    plain = Answer("?", entities=(RankedEntity("a", "Ann", 1, ()),))
    assert to_csv(plain) == "answer\nAnn\n"
    assert to_csv(Answer("?", abstained="none")) == "answer\n"


def test_a_triple_several_paths_walk_is_there_once(answer):
    triples = cited_triples(answer)
    assert len({c.triple for c in triples}) == len(triples) == 10
    assert triples[0].triple == answer.paths[0].citations[0].triple


def test_paths_no_answer_cites_are_left_out(answer):
    one = dataclasses.replace(answer, entities=answer.entities[:1])
    assert len(cited_triples(one)) == 3
    assert to_triples(one).count("\n") == 4


def test_an_answer_that_is_a_topic_counts_as_an_answer(answer):
    assert roles(answer)["Alien"] == "topic"
    again = RankedEntity("Alien", "Alien", 1.0, ("p1",))
    assert roles(dataclasses.replace(answer, entities=(again,)))["Alien"] == "answer"
    runner_up = dataclasses.replace(answer.topics[0], chosen=False)
    assert "Alien" not in roles(dataclasses.replace(answer, topics=(runner_up,)))


def test_the_table_is_read_back_as_a_graph_with_its_sources(answer, tmp_path):
    file = tmp_path / "answer.tsv"
    file.write_text(to_triples(answer), encoding="utf-8")
    kg = read_graph(file)
    cited = cited_triples(answer)
    assert {kg.triple(row) for row in range(kg.num_triples)} == {
        (c.head, c.relation, c.tail) for c in cited
    }
    assert {kg.source(row) for row in range(kg.num_triples)} == {c.source for c in cited}


def test_the_table_has_names_and_rows():
    kg = KnowledgeGraph.from_triples(
        [("m.1", "r", "m.2")], names={"m.1": "A\tb\nc"}, provenance=["x\ty"]
    )
    assert to_triples(answer_along(kg, ["m.1"], ("r",))) == (
        "head\trelation\ttail\thead_name\ttail_name\tsource\ttriple\n"
        "m.1\tr\tm.2\tA b c\tm.2\tx y\t0\n"
    )


@pytest.mark.parametrize("entity", ["a\tb", "a\nb", " a", "a\r"])
def test_an_id_a_table_cannot_hold_is_refused(entity):
    path = answer_along(KnowledgeGraph.from_triples([("a", "r", "b")]), ["a"], ("r",)).paths[0]
    cited = dataclasses.replace(path.citations[0], tail=entity)
    changed = Answer("?", paths=(dataclasses.replace(path, citations=(cited,)),), abstained="-")
    with pytest.raises(JaxkgError, match="cannot stand in a TSV table"):
        to_triples(changed)


def test_dot_has_every_node_and_every_edge_in_the_triples_direction(answer):
    dot = to_dot(answer)
    lines = dot.splitlines()
    assert lines[0] == "digraph answer {"
    assert lines[-1] == "}"
    name = {
        line.split(" [label=")[0].strip(): line.split('"')[1] for line in lines if "shape=" in line
    }
    edges = {
        (name[a], name[b], line.split('"')[1])
        for line in lines
        if "->" in line
        for a, b in [line.split(" [")[0].strip().split(" -> ")]
    }
    assert edges == {(c.head, c.tail, c.relation) for c in cited_triples(answer)}
    [topic] = [line for line in lines if 'label="Alien"' in line]
    assert "style=bold" in topic
    assert sum("style=filled" in line for line in lines) == len(answer.entities)


def test_dot_quotes_what_a_name_may_hold():
    kg = KnowledgeGraph.from_triples([(EVIL, 'r"; x -> y', "b")])
    dot = to_dot(answer_along(kg, [EVIL], ('r"; x -> y',)))
    assert r'label="He said \"hi\\N\" <b>[bold]�[31m"' in dot
    assert r'label="r\"; x -> y"' in dot
    assert len(dot.splitlines()) == 6


def test_dot_tells_homonyms_apart():
    kg = KnowledgeGraph.from_triples(
        [("m.1", "by", "x"), ("m.2", "by", "x")], names={"m.1": "Kismet", "m.2": "Kismet"}
    )
    dot = to_dot(answer_along(kg, ["m.1"], ("by", "^by")))
    assert 'label="Kismet [m.1]"' in dot
    assert 'label="Kismet [m.2]"' in dot


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_reads_it(answer):
    drawn = subprocess.run(
        ["dot", "-Tplain"], input=to_dot(answer), capture_output=True, text=True, check=True
    )
    assert drawn.stdout.count("\nnode ") == 11
