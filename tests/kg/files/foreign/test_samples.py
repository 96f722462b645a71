"""A small file of each kind: what a reader of the format knows of it is what is read."""

import zipfile
from pathlib import Path

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph
from jaxkg.kg.files.foreign import cypher, sql_dump

SAMPLES = Path(__file__).parent / "samples"


def read_told(path):
    """The graph, and what was told of its reading."""
    told = []
    kg = read_graph(path, on_reading=told.append)
    return kg, "\n".join(told)


def named_facts(kg):
    """(name, relation in words, name) of every fact but those that say what a statement is of."""
    return {
        (kg.name(head), kg.relation_labels[relation], kg.name(tail))
        for head, relation, tail in kg.triples.tolist()
        if kg.relations[relation] not in ("subject", "predicate", "object")
    }


def test_obo():
    kg, told = read_told(SAMPLES / "boats.obo")
    facts = named_facts(kg)
    assert facts >= {
        ("sailing boat", "subclass of", "vessel"),
        ("sailing boat", "is driven by", "WIND:1"),
        ("yawl ! small", "subclass of", "sailing boat"),
        ("yawl ! small", "has part", "BOAT:9"),
        ("yawl ! small", "length m", "9"),
        ("vessel", "definition", 'A thing that floats "on purpose".'),
        ("obsolete punt", "replaced by", "vessel"),
        ("obsolete punt", "status", "obsolete"),
        ("vessel", "is a", "term"),
    }
    assert kg.aliases[kg.entity("BOAT:2")] == ("BOAT:20", "sailer", "wind boat")
    assert ("sailing boat", "synonym", "sailer") in facts
    assert len(facts) == 15
    assert kg.meanings == {"subclass of": {"hierarchy": True}, "driven_by": {"hierarchy": True}}
    assert "1 stanzas of [Annotation] left out" in told


def test_obo_graphs():
    kg, told = read_told(SAMPLES / "boats.json")
    assert named_facts(kg) == {
        ("vessel", "is a", "term"),
        ("vessel", "definition", "A thing that floats."),
        ("sailing boat", "is a", "term"),
        ("sailing boat", "subclass of", "vessel"),
        ("sailing boat", "is driven by", "http://example.org/WIND_1"),
        ("sailing boat", "length", "9"),
        ("sailing boat", "status", "obsolete"),
        ("sailing boat", "synonym", "sailer"),
    }
    assert set(kg.aliases[kg.entity("http://example.org/BOAT_2")]) == {"sailer", "BOAT:2"}
    assert "1 logicalDefinitionAxioms left out" in told
    assert "1 edges without two ends and a relation left out" in told


def test_gedcom():
    kg, told = read_told(SAMPLES / "family.ged")
    facts = named_facts(kg)
    assert facts >= {
        ("Ada Lind", "birth date", "3 MAY 1901"),
        ("Ada Lind", "birth place", "Oslo, Norway"),
        ("Ada Lind", "first flight date", "1920"),
        ("Ada Lind", "occupation", "pilot"),
        ("Bo Ek", "wife", "Ada Lind"),
        ("Ada Lind", "husband", "Bo Ek"),
        ("Ada Lind", "spouse", "Bo Ek"),
        ("Cy Ek", "mother", "Ada Lind"),
        ("Cy Ek", "father", "Bo Ek"),
        ("Bo Ek", "child", "Di Ek"),
        ("Di Ek", "sibling", "Cy Ek"),
        ("Bo Ek spouse Ada Lind", "marriage place", "Bergen"),
        ("Bo Ek spouse Ada Lind", "marriage date", "7 JUN 1925"),
    }
    assert not any(tail == "Y" for _, _, tail in facts)
    assert kg.aliases[kg.entity("I1")] == ("Captain Ada", "Addy")
    assert kg.meanings["spouse"] == {"symmetric": True}
    assert "1 references of families to nobody left out" in told
    assert "breaks off" not in told


def test_half_a_family_tree_is_told(tmp_path):
    text = (SAMPLES / "family.ged").read_text().partition("0 TRLR")[0]
    (tmp_path / "half.ged").write_text(text)
    assert "it breaks off" in read_told(tmp_path / "half.ged")[1]


def test_spdx():
    kg, told = read_told(SAMPLES / "parts.spdx")
    assert named_facts(kg) >= {
        ("boat-sbom", "describes", "rudder"),
        ("rudder", "depends on", "keel"),
        ("rudder", "contains", "./rudder.c"),
        ("rudder", "supplier", "Acme Boats"),
        ("rudder", "copyright text", "Copyright 2020 Acme Boats"),
        ("./rudder.c", "license concluded", "MIT"),
        ("boat-sbom", "creator", "Ann Lee"),
        ("Harbour licence", "extracted text", "Do as you like."),
        ("keel", "is a", "package"),
    }
    assert "1 tags that assert nothing left out" in told


def test_cypher():
    kg, told = read_told(SAMPLES / "crew.cypher")
    facts = named_facts(kg)
    ada, gull = 'Ada; "the" first', "The Gull's"
    assert facts >= {
        (ada, "is a", "captain"),
        (ada, "is a", "sailor"),
        (ada, "ports", "Bergen"),
        (ada, "sailed on", gull),
        (ada, "owns", gull),
        (f"{ada} sailed on {gull}", "role", "deck"),
        (f"{ada} sailed on {gull}", "since", "1920"),
        (gull, "built", "1910-05-01"),
        ("Bo", "knows", "Cy"),
        ("Bo", "teaches", "Cy"),
        ("Bo", "born", "1899"),
        ("Di", "born", "-5"),
        ("Di", "married", "Bo"),
    }
    assert sum(relation == "is a" for _, relation, _ in facts) == 6  # Bo is one
    assert "UNIQUE IMPORT" not in str(facts)
    assert "1 statements from LOAD on left out" in told  # nothing is fetched
    assert "1 statements from DETACH on left out" in told


def test_dot():
    kg, told = read_told(SAMPLES / "harbour.dot")
    facts = named_facts(kg)
    assert facts >= {
        ("The Gull", "kind", "ship"),
        ("The Gull", "moored at", "north pier"),
        ("north pier", "moored at", "quay"),
        ("north pier moored at quay", "weight", "2"),
        ("quay", "part of", "Harbour"),
        ("a", "linked to", "b"),
        ("a", "linked to", "c"),
        ("quay", "guards", "The Gull"),
    }
    assert ("a", "part of", "Harbour") not in facts
    assert "how things are drawn left out" in told


def test_vault():
    kg, told = read_told(SAMPLES / "vault")
    facts = named_facts(kg)
    assert facts - {("The Gull", "nested deep", "1")} == {
        ("The Gull", "is a", "ship"),
        ("The Gull", "built", "1910"),
        ("The Gull", "owner", "Ada Lind"),
        ("The Gull", "crew", "Bo"),
        ("The Gull", "crew", "Cy"),
        ("The Gull", "length", "31 m"),
        ("The Gull", "tag", "old"),
        ("The Gull", "tag", "white"),
        ("The Gull", "tag", "harbour/north"),
        ("The Gull", "links to", "Ada Lind"),
        ("The Gull", "links to", "North Pier"),
        ("The Gull", "links to", "Bo"),
        ("Ada Lind", "is a", "note"),
        ("Ada Lind", "folder", "people"),
        ("Ada Lind", "links to", "Bo"),
        ("Ada Lind", "tag", "1920s-club"),
        ("Bo", "is a", "note"),
        ("Bo", "folder", "people"),
    }
    assert ("The Gull", "nested deep", "1") in facts
    assert "1 links to pictures and other files left out" in told


def test_front_matter_that_is_no_yaml_is_told(tmp_path):
    (tmp_path / "a.md").write_text("---\nto: [[B]]\nby: [[C]], [[D]]\n---\n")
    (tmp_path / "b.md").write_text("---\ntitle: x: y\n---\n[[a]]\n")
    kg, told = read_told(tmp_path)
    facts = named_facts(kg)
    assert facts >= {("a", "to", "b"), ("a", "by", "C"), ("a", "by", "D"), ("b", "links to", "a")}
    assert "1 front matter (b.md:2: not YAML" in told


NETWORKS = {
    "club.gml": """Creator "x"
graph [
  directed 0
  node [ id 1 label "Ann &amp; Co" graphics [ x 1 ] ]
  node [ id 2 label "Bo" ]
  edge [ source 1 target 2 label "knows" value 2 ]
]
""",
    "club.net": '*Vertices 2\n1 "Ann & Co" 0.1 0.2\n2 "Bo"\n*Arcs :1 "knows"\n1 2 2\n',
    "club.tgf": "1 Ann & Co\n2 Bo\n#\n1 2 knows\n",
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks(tmp_path, name):
    (tmp_path / name).write_text(NETWORKS[name])
    kg, _ = read_told(tmp_path / name)
    facts = named_facts(kg)
    assert ("Ann & Co", "knows", "Bo") in facts
    if name != "club.tgf":  # a weight is no node of that number
        assert {tail for _, relation, tail in facts if relation in ("value", "weight")} == {"2"}


def test_edges_of_two_numbers(tmp_path):
    (tmp_path / "web.txt").write_text("# From To\n1\t2\n2\t3\n")
    (tmp_path / "m.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 3\n")
    (tmp_path / "nx.edgelist").write_text("ann bo {'weight': 3}\nbo cy {}\n")
    facts = named_facts(read_told(tmp_path / "web.txt")[0])
    assert facts == {("node 1", "linked to", "node 2"), ("node 2", "linked to", "node 3")}
    assert len(named_facts(read_told(tmp_path / "m.mtx")[0]) - facts) == 1
    (tmp_path / "links.txt").write_text("protein1 protein2 score\na b 4\na c 5\n")
    (tmp_path / "a.sif").write_text("A\tacts on\tB\tC\nD\n")
    assert ("a linked to b", "score", "4") in named_facts(read_told(tmp_path / "links.txt")[0])
    facts = named_facts(read_told(tmp_path / "a.sif")[0])
    assert facts == {("A", "acts on", "B"), ("A", "acts on", "C")}
    facts = named_facts(read_told(tmp_path / "nx.edgelist")[0])
    assert ("bo", "linked to", "cy") in facts
    assert ("ann linked to bo", "weight", "3") in facts


@pytest.mark.parametrize("packed", [False, True])
def test_gtfs(tmp_path, packed):
    path = SAMPLES / "feed"
    if packed:
        with zipfile.ZipFile(tmp_path / "feed.zip", "w") as file:
            for table in path.iterdir():
                file.write(table, table.name)
        path = tmp_path / "feed.zip"
    kg, told = read_told(path)
    assert named_facts(kg) >= {
        ("Pier, north", "parent station", "Pier"),
        ("Pier", "location type", "station"),
        ("4", "agency", "Bay Lines"),
        ("4", "type", "ferry"),
        ("T1", "headsign", "Bay"),
        ("T1", "route", "4"),  # and not the stop whose key is S1, too
        ("T1", "service", "service W"),  # of which no table tells
    }
    times = [kg.triple(row) for row in range(kg.num_triples)]
    assert ("_:stop_time_stop_times_3", "stop", "stop S2") in times
    assert ("_:stop_time_stop_times_3", "trip", "trip T1") in times
    assert "the table shapes.txt left out" in told


def test_zones_are_called_as_the_feed_does(tmp_path):
    (tmp_path / "stops.txt").write_text("stop_id,stop_name,zone_id\nS1,Pier,B\nS2,Quay,A\n")
    (tmp_path / "calendar.txt").write_text("service_id,monday\nW,1\n")
    (tmp_path / "trips.txt").write_text("route_id,service_id,trip_id\nR,W,T1\n")
    found = named_facts(read_told(tmp_path)[0])
    assert {("Pier", "zone", "B"), ("T1", "service", "W")} <= found


def test_a_feed_that_is_cut_is_told(tmp_path):
    with zipfile.ZipFile(tmp_path / "feed.zip", "w", zipfile.ZIP_DEFLATED) as file:
        for table in (SAMPLES / "feed").iterdir():
            file.write(table, table.name)
    data = (tmp_path / "feed.zip").read_bytes()
    for end in range(4, len(data), len(data) // 9):
        (tmp_path / "cut.zip").write_bytes(data[:end])
        with pytest.raises(JaxkgError, match=r"cut\.zip"):
            read_told(tmp_path / "cut.zip")


def test_tables_without_a_header():
    kg, told = read_told(SAMPLES / "tables")
    facts = named_facts(kg)
    assert facts >= {
        ("Bay, Air", "call sign", "GULL"),
        ("Hill Air", "country", "Norway"),
        ("Gull (1960)", "genres", "Sea"),
        ("Ada", "home port", "Oslo"),
        ("5", "column 2", "x"),
    }
    assert not any(tail == "\\N" for _, _, tail in facts)
    assert "odd.dat has no header: its columns are called by their position" in told
    row = [kg.triple(at) for at in range(kg.num_triples) if "_:" in kg.triple(at)[0]]
    assert ("_:route_1", "airline", "airline 7") in row
    assert ("_:route_1", "to airport", "airport 2") in row


def test_kgx(tmp_path):
    for name in ("nodes", "edges"):
        (tmp_path / f"{name}.tsv").write_text((SAMPLES / f"{name}.kgx.tsv").read_text())
    kg, _ = read_told(tmp_path)
    facts = named_facts(kg)
    assert facts >= {
        ("G1 (human)", "has phenotype", "short stature"),
        ("G1 (human)", "interacts with", "G1 (human)"),
        ("G1 (human)", "is a", "gene"),
        ("short stature", "is a", "phenotypic feature"),
        ("G1 (human)", "taxon", "NCBITaxon:9606"),
        ("G1 (human) has phenotype short stature", "publications", "PMID:1"),
        ("G1 (human) has phenotype short stature", "primary knowledge source", "infores:b"),
    }
    assert set(kg.aliases[kg.entity("HGNC:1")]) == {"gene one", "g-1"}


def test_graphs_of_questions():
    kg, told = read_told(SAMPLES / "questions.jsonl")
    assert {kg.triple(row) for row in range(kg.num_triples)} == {
        ("Gull", "boat.boat.owner", "Ada"),
        ("Ada", "people.person.born", "1901"),
        ("Bo", "people.person.friend", "Ada"),
    }
    assert "the graphs of 2 questions read as one" in told
    assert "1 rows that are no triples left out" in told


def test_sql_dump():
    kg, told = read_told(SAMPLES / "shop.sql")
    assert named_facts(kg) >= {
        ("Gull 'the old'", "harbour id", "Bergen"),
        ("Gull 'the old'", "price", "-1.5e3"),
        ("Tern", "price", "20"),
        ("Ada Lind", "boat id", "Gull 'the old'"),
    }
    assert "Oslo's; quay" in kg.entity_names.tolist()
    assert ("boat 3", "harbour id", "Oslo's; quay") in named_facts(kg)
    assert "1 values that are worked out left out" in told
    assert "1 INSERTs without plain values left out" in told


@pytest.mark.parametrize(
    ("name", "module", "line"),
    [
        ("a.sql", sql_dump, "INSERT INTO a VALUES (1, 'x');\n"),
        ("a.cypher", cypher, "CREATE (:A {b: 'x'});\n"),
    ],
)
def test_an_open_quote_is_looked_for_but_a_few_times(tmp_path, monkeypatch, name, module, line):
    looks, plain = [], module.scan
    monkeypatch.setattr(module, "scan", lambda *args: looks.append(1) or plain(*args))
    (tmp_path / name).write_text(line.replace("'x'", "'x", 1) + line * 2000)
    with pytest.raises(JaxkgError, match=f"{name}:1: a text or comment that is not closed"):
        read_graph(tmp_path / name)
    assert len(looks) < 30


def test_keys_that_number_themselves(tmp_path):
    (tmp_path / "a.sql").write_text(
        "CREATE TABLE [dbo].[Ship] ([Id] INT IDENTITY, [Name] TEXT, Built DATE,\n"
        "CONSTRAINT [PK] PRIMARY KEY CLUSTERED ([Id]));\nGO\n"
        "INSERT INTO [dbo].[Ship] ([Name], Built) VALUES (N'Gull', TO_DATE('1910-05-01', 'x')),\n"
        "('Tern', '1920-01-02'::date);\nGO\n"
    )
    kg, told = read_told(tmp_path / "a.sql")
    assert kg.name(kg.entity("ship 2")) == "Tern"
    assert ("Gull", "built", "1910-05-01") in named_facts(kg)
    assert ("Tern", "built", "1920-01-02") in named_facts(kg)
    assert "worked out" not in told


def test_graphrag(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    tables = {
        "entities": {
            "id": ["e1", "e2"],
            "title": ["ADA", "GULL"],
            "type": ["PERSON", None],
            "description": ["A sailor.", ""],
            "text_unit_ids": [["t1"], ["t1", "t9"]],
        },
        "relationships": {
            "source": ["ADA", "ADA"],
            "target": ["GULL", None],
            "description": ["Ada owns the Gull.", ""],
            "weight": [3.0, 1.0],
            "text_unit_ids": [["t1"], []],
        },
        "text_units": {"id": ["t1"], "human_readable_id": [4], "text": ["Ada owns\nthe Gull."]},
        "communities": {"id": ["c1"]},
    }
    for name, columns in tables.items():
        parquet.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    kg, told = read_told(tmp_path)
    assert named_facts(kg) >= {
        ("ADA", "related to", "GULL"),
        ("ADA related to GULL", "description", "Ada owns the Gull."),
        ("ADA related to GULL", "weight", "3.0"),
        ("ADA related to GULL", "text unit", "text unit 4"),
        ("ADA", "is a", "person"),
        ("GULL", "is a", "entity"),
        ("GULL", "mentioned in", "text unit 4"),
        ("text unit 4", "text", "Ada owns the Gull."),
    }
    assert "1 relationships without two ends left out" in told
    assert "the table communities.parquet left out" in told


def test_lightrag_and_hypergraphrag():
    kg, _ = read_told(SAMPLES / "light.graphml")
    assert named_facts(kg) == {
        ("ADA", "is a", "person"),
        ("GULL", "is a", "boat"),
        ("OSLO", "is a", "entity"),
        ("ADA", "description", "A sailor."),
        ("ADA", "description", "She owns a boat."),
        ("ADA", "ownership", "GULL"),
        ("ADA", "sailing", "GULL"),
        ("ADA ownership GULL", "weight", "2.0"),
        ("ADA ownership GULL", "description", "Ada owns the Gull."),
        ("Ada sailed the Gull to Oslo.", "involves", "ADA"),
        ("Ada sailed the Gull to Oslo.", "involves", "OSLO"),
    }


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.obo", "[Term]\nid: A\nis_a B\n", "a.obo:3: no tag"),
        ("a.ged", "0 HEAD\n1 GEDC\n5 VERS 7\n", "a.ged:3: its level skips one"),
        ("a.spdx", "SPDXVersion: SPDX-2.3\nX: <text>a\n", "a.spdx:2: a <text> that is not closed"),
        ("a.cypher", "CREATE (a {b: 'x)\n", "a.cypher:1: a text or comment that is not closed"),
        ("a.dot", "digraph { a -> b\n", "a.dot:1: not DOT: its end where a name should be"),
        ("a.dot", 'digraph { a -> "b\n', "a.dot:1: not DOT: a quote or comment"),
        ("a.sql", "INSERT INTO a VALUES (1, 'x\n", "a.sql:1: a text or comment that is not closed"),
        ("a.sql", "CREATE TABLE a (b int, c int);\n", "no rows in it"),
        ("a.dat", "1,2\n1,2,3\n4\n", "tells the format"),
        ("a.dat", "id,name\n1,Ann\n2,Bo\n", "a.dat:1: names columns, it seems"),
        ("a.json", '{"graphs": 3, "lbl": 1}', "read as obographs"),
        (
            "kgx.tsv",
            "subject\tobject\tpredicate\tx\na\tb\n",
            "kgx.tsv:2: 2 fields where the first line has 4",
        ),
    ],
)
def test_bad_input_is_one_line(tmp_path, name, text, why):
    (tmp_path / name).write_text(text)
    with pytest.raises(JaxkgError) as told:
        read_graph(tmp_path / name)
    assert why in str(told.value)
    assert "\n" not in str(told.value)


def test_lists_below_headings_that_many_notes_have(tmp_path):
    for name, items in (("Soup", "- 400 ml coconut milk\n- 2 limes, cut\n- salt\n"),
                        ("Cake", "- 3 eggs\n"), ("Tea", "* 1 tsp tea\n")):  # fmt: skip
        text = f"# {name}\n\n## Ingredients\n\n{items}\n## Method\n\n1. Stir.\n"
        text += "\n## Shopping\n\n- call Ann\n" if name == "Tea" else ""
        (tmp_path / f"{name}.md").write_text(text)
    graph = read_graph(tmp_path)
    facts = {graph.triple(row) for row in range(graph.num_triples)}
    assert {
        ("Soup", "ingredients", "coconut milk"), ("Soup", "ingredients", "limes"),
        ("Soup", "ingredients", "salt"), ("Cake", "ingredients", "eggs"),
    } <= facts  # fmt: skip
    amounts = {tail for _, relation, tail in facts if relation == "amount"}
    assert amounts == {"400 ml", "2", "3", "1 tsp"}
    assert not [fact for fact in facts if fact[1] in ("shopping", "method")]
