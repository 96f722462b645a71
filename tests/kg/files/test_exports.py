"""Nodes and edges as graph databases and network tools export them."""

import itertools
import json

import pytest
from named_facts import named_facts, plain_facts

from jaxkg.kg import read_graph


def test_the_headers_of_an_import(folder):
    heard = []
    nodes = "personId:ID(All),name,born:int,:LABEL\np1,Ann,1970,Person;Actor\nm1,Gull,2001,Film\n"
    edges = ":START_ID(All),role,:END_ID(All),:TYPE\np1,Captain,m1,ACTED_IN\n"
    graph = folder({"nodes.csv": nodes, "rels.csv": edges}, on_reading=heard.append)
    assert ("Ann acted in Gull", "role", "Captain") in named_facts(graph)
    facts = {(h, r.lower(), t) for h, r, t in plain_facts(graph)}
    assert facts == {
        ("Ann", "born", "1970"), ("Ann", "type", "Person"), ("Ann", "type", "Actor"),
        ("Gull", "born", "2001"), ("Gull", "type", "Film"), ("Ann", "acted_in", "Gull"),
    }  # fmt: skip
    assert "rels.csv role said of each" in heard[0]
    edges = "head,relation,tail,source,weight\np1,saw,m1,a letter,3\n"
    folder({"nodes.csv": nodes, "rels.csv": edges}, on_reading=heard.append)
    assert "rels.csv weight said of each" in heard[1]


def test_edges_between_numbered_rows(folder):
    heard = []
    nodes = "id,label,kind,rank\n1,Ann,person,2\n2,Bo,person,1\n3,Gull,film,3\n"
    edges = "source,target,relation\n1,3,acted in\n2,3,directed\n"
    graph = folder({"edges.csv": edges, "nodes.csv": nodes}, on_reading=heard.append, lines=True)
    facts = named_facts(graph)
    assert {("Ann", "acted in", "Gull"), ("Bo", "directed", "Gull"), ("Ann", "rank", "2")} <= facts
    assert "ends of edges mean rows called node and a number" in heard[0]
    row = next(r for r in range(graph.num_triples) if graph.triple(r)[1] == "directed")
    assert graph.source(row) == "edges.csv:3"


def test_edges_between_the_rows_of_two_tables(folder):
    people, films = "id,name\n1,Ann\n2,Bo\n", "id,name\n7,Gull\n8,Tern\n"
    edges = "head,relation,tail\n1,acted in,7\n2,directed,8\n"
    files = {"people.csv": people, "films.csv": films, "edges.csv": edges}
    assert ("Bo", "directed", "Tern") in named_facts(folder(files))


def test_a_number_that_two_tables_have_is_told_and_left(folder):
    heard = []
    people, films = "id,name\n1,Ann\n2,Bo\n", "id,name\n1,Gull\n8,Tern\n"
    edges = "head,relation,tail\n2,directed,1\n"
    files = {"people.csv": people, "films.csv": films, "edges.csv": edges}
    assert ("2", "directed", "1") in named_facts(folder(files, on_reading=heard.append))
    assert "ends of edges left as numbers: not each is a row of one table" in heard[0]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("wrapped", [False, True])
def test_node_link_documents(tmp_path, indent, wrapped):
    nodes = [{"id": 1, "label": "Ann", "age": 3}, {"id": 2, "label": "Gull"}]
    edges = [{"source": 1, "target": 2, "type": "sails", "weight": 2}, {"source": 2, "target": 1}]
    if wrapped:
        nodes, edges = ([{"data": one} for one in some] for some in (nodes, edges))
        document = {"elements": {"nodes": nodes, "edges": edges}}
    else:
        document = {"directed": True, "graph": {}, "nodes": nodes, "links": edges}
    (tmp_path / "net.json").write_text(json.dumps(document, indent=indent))
    graph = read_graph(tmp_path / "net.json")
    assert plain_facts(graph) == {
        ("Ann", "age", "3"), ("Ann", "sails", "Gull"), ("Gull", "linked to", "Ann"),
    }  # fmt: skip
    assert named_facts(graph) - plain_facts(graph) == {
        ("Ann sails Gull", "subject", "Ann"), ("Ann sails Gull", "predicate", "sails"),
        ("Ann sails Gull", "object", "Gull"), ("Ann sails Gull", "weight", "2"),
    }  # fmt: skip


def test_nodes_whose_links_lead_nowhere_are_other_records(tmp_path):
    document = {"nodes": [{"id": "Ann", "age": 3}], "links": [{"href": "x", "size": 2}]}
    (tmp_path / "net.json").write_text(json.dumps(document))
    facts = named_facts(read_graph(tmp_path / "net.json"))
    assert facts
    assert not any(relation == "linked to" for _, relation, _ in facts)


def test_edges_without_nodes(tmp_path):
    document = {"nodes": [], "links": [{"source": "Ann", "target": "Bo", "label": "knows"}]}
    (tmp_path / "net.json").write_text(json.dumps(document))
    assert named_facts(read_graph(tmp_path / "net.json")) == {("Ann", "knows", "Bo")}


def test_directions_of_edges_are_no_relation(folder):
    heard = []
    nodes = "Id,Label,timeset,age\nn1,Ann,,31\nn2,Bo,,29\nn3,Cy,,40\n"
    edges = (
        "Source,Target,Type,Id,Label,Weight\nn1,n2,Directed,0,knows,1.0\n"
        "\nn2,n3,Undirected,1,,2.0\nn1,n3,Mutual,2\n"
    )
    files = {"nodes.csv": nodes, "edges.csv": edges}
    graph = folder(files, on_reading=heard.append, lines=True, skip_bad=1)
    facts = plain_facts(graph) - {("Ann", "age", "31"), ("Bo", "age", "29"), ("Cy", "age", "40")}
    assert facts == {("Ann", "knows", "Bo"), ("Bo", "linked to", "Cy")}
    assert ("Ann knows Bo", "Weight", "1.0") in named_facts(graph)
    assert not any(relation in ("Type", "Id") for _, relation, _ in named_facts(graph))
    told = "Source, Label, Target: taken as head, relation, tail; Id left out; Type, Weight said of"
    assert told in heard[0]
    assert "; directions and blank relations read as 'linked to'" in heard[0]
    row = next(r for r in range(graph.num_triples) if graph.triple(r)[1] == "linked to")
    assert graph.source(row) == "edges.csv:4"
    assert ":5: 4 fields where the first line has 6: 'n1,n3,Mutual,2'" in graph.skipped[0]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Source\tTarget\tType\nA\tB\tDirected\nB\tC\tMutual\n",
         {("A", "linked to", "B"), ("B", "linked to", "C")}),
        ("Source\tTarget\tType\nA\tB\tDirected\nB\tC\tActed\n",
         {("A", "Directed", "B"), ("B", "Acted", "C")}),
        ("source\ttarget\ttype\nA\tB\tdirected\n", {("A", "directed", "B")}),
        ("source\ttarget\trelation\nA\tB\tDirected\n", {("A", "Directed", "B")}),
    ],
)  # fmt: skip
def test_types_that_are_directions_alone(tmp_path, text, facts):
    (tmp_path / "net.tsv").write_text(text)
    assert named_facts(read_graph(tmp_path / "net.tsv")) == facts


def test_directions_in_many_lines(tmp_path):
    lines = [f"node {at}\tnode {at + 1}\tUndirected" for at in range(9000)]
    (tmp_path / "net.tsv").write_text("\n".join(["Source\tTarget\tType", *lines]))
    graph = read_graph(tmp_path / "net.tsv")
    assert (graph.num_triples, list(graph.relations)) == (9000, ["linked to"])


@pytest.mark.parametrize(
    ("name", "lines", "facts", "told"),
    [
        ("e.csv", "source,target/Ann,Bo", [("Ann", "linked to", "Bo")],
         "source, linked to, target: taken as head, relation, tail"),
        ("e.csv", "source,target,weight/Ann,Bo,3/Ann,Cy,1",
         [("Ann", "linked to", "Bo"), ("Ann", "linked to", "Cy")], "weight said of each"),
        ("e.csv", "source,target,weight/a,b,3/b,c,1/c,d,2/d,e,4/e,f,5/f,g,6",
         [(a, "linked to", b) for a, b in itertools.pairwise("abcdefg")], "weight said of each"),
        ("e.tsv", "From\tTo\tLabel/Ann\tBo\tknows/Bo\tCy\t",
         [("Ann", "knows", "Bo"), ("Bo", "linked to", "Cy")],
         "blank relations read as 'linked to'"),
        ("e.csv", "from,to,price,line/Rome,Oslo,9,A/Oslo,Rome,8,B/Oslo,Bonn,7,C", None,
         "read as a table"),
    ],
)  # fmt: skip
def test_edges_that_do_not_say_what_they_are(tmp_path, name, lines, facts, told):
    (tmp_path / name).write_text(lines.replace("/", "\n"))
    heard = []
    graph = read_graph(tmp_path / name, on_reading=heard.append)
    assert told in heard[0]
    found = plain_facts(graph)
    assert found == set(facts or ()) or (facts is None and "linked to" not in graph.relations)


def test_edges_without_a_relation_join_their_nodes(folder):
    nodes = "Id,Label\nn1,Ann\nn2,Bo\n"
    graph = folder({"nodes.csv": nodes, "edges.csv": "Source,Target,Weight\nn1,n2,2\n"})
    assert plain_facts(graph) == {("Ann", "linked to", "Bo")}
    assert ("Ann linked to Bo", "Weight", "2") in named_facts(graph)


def test_what_is_said_of_edges_between_numbers_is_of_the_rows(folder):
    nodes = "id,name\n1,Ann\n2,Bo\n3,Cy\n"
    edges = "source,target,relation,role\n1,2,knows,mentor\n2,3,knows,\n"
    graph = folder({"people.csv": nodes, "edges.csv": edges})
    assert plain_facts(graph) >= {("Ann", "knows", "Bo"), ("Bo", "knows", "Cy")}
    assert ("Ann knows Bo", "role", "mentor") in named_facts(graph)


def test_a_row_too_long_for_edges_is_told(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\nAnn,Bo\nBo,Cy,3\nCy,\n")
    graph = read_graph(tmp_path / "e.csv", skip_bad=2)
    assert graph.num_triples == 1
    assert "3 fields where the first line has 2" in graph.skipped[0]
    assert "a blank name" in graph.skipped[1]
