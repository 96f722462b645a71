import contextlib
import sqlite3

import pytest
from named_facts import named_facts

from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph

SCHEMA = """
CREATE TABLE keepers (id INTEGER PRIMARY KEY, name TEXT, boss INTEGER REFERENCES keepers (id));
CREATE TABLE animals (name TEXT, tag INTEGER PRIMARY KEY, fed_by INTEGER REFERENCES Keepers (id),
                      weight REAL, photo BLOB, cage INTEGER);
CREATE TABLE visits (animal INTEGER REFERENCES animals, keeper INTEGER REFERENCES keepers,
                     day TEXT, PRIMARY KEY (animal, keeper));
CREATE TABLE "an ""odd"" name" ("a b" TEXT, "select" TEXT);
CREATE TABLE single (x TEXT);
CREATE TABLE notes (id INTEGER PRIMARY KEY, animal INTEGER, keeper INTEGER, text TEXT,
                    FOREIGN KEY (animal, keeper) REFERENCES visits (animal, keeper));
INSERT INTO notes VALUES (1, 2, 1, 'calm');
INSERT INTO keepers VALUES (1, 'Ann', NULL), (2, 'Bo', 1);
INSERT INTO animals VALUES ('Rex', 1, 2, 4.50, x'00ff', 2), ('Tia', 2, 1, 3.0, NULL, 1);
INSERT INTO visits VALUES (1, 1, '2021-03-04'), (1, 2, '2022-03-04'), (2, 1, '2023-03-04');
INSERT INTO "an ""odd"" name" VALUES (NULL, 'kept'), ('x', 'y');
"""


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "zoo.sqlite"
    with sqlite3.connect(path) as base:
        base.executescript(SCHEMA)
    base.close()
    return path


def test_tables_are_joined_by_declared_keys(database):
    heard = []
    before = database.read_bytes()
    graph = read_graph(database, on_reading=heard.append, lines=True)
    found = named_facts(graph)
    assert {("Bo", "boss", "Ann"), ("Rex", "fed_by", "Bo"), ("Tia", "fed_by", "Ann")} <= found
    assert {("Rex", "weight", "4.5"), ("Tia", "weight", "3"), ("Rex", "cage", "2")} <= found
    assert ("Rex", "is a", "animals") in found
    assert "photo" not in graph.relations
    rex, ann = graph.entity_names.rows("Rex")[0], graph.entity_names.rows("Ann")[0]
    visited = {h for h, _, tail in graph.triples.tolist() if tail == rex}
    kept = {h for h, _, tail in graph.triples.tolist() if tail == ann}
    assert {h for h, r, t in found if (r, t) == ("text", "calm")} == {"note 1"}
    assert {("note 1", "animal", "Tia"), ("note 1", "keeper", "Ann")} <= found  # by their names
    (both,) = visited & kept
    assert graph.entity_ids[both].startswith("_:visit")
    assert ("x", "kept") not in {(h, t) for h, _, t in found}
    assert "kept" in {tail for _, _, tail in found}
    assert "left out: 'single' has but one column" in heard[0]
    assert any(graph.source(r) == "zoo.sqlite:animals:1" for r in range(graph.num_triples))
    assert database.read_bytes() == before


def test_what_is_no_database_says_so(tmp_path, database):
    (tmp_path / "text.db").write_text("no database at all, but some text of some length" * 30)
    with pytest.raises(JaxkgError, match="not an SQLite database, or a damaged one"):
        read_graph(tmp_path / "text.db")
    damaged = tmp_path / "half.sqlite"
    damaged.write_bytes(database.read_bytes()[:5000])
    with pytest.raises(JaxkgError, match="not an SQLite database"):
        read_graph(damaged)
    with sqlite3.connect(tmp_path / "empty.db") as base:
        base.execute("CREATE TABLE t (a, b)")
    base.close()
    with pytest.raises(JaxkgError, match="no triples in it"):
        read_graph(tmp_path / "empty.db")
    with pytest.raises(JaxkgError, match="columns has no meaning"):
        read_graph(database, columns=("a", "b", "c"))


def test_a_table_of_heads_relations_and_tails_holds_triples(tmp_path):
    path = tmp_path / "kb.db"
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute("create table t (head, relation, tail)")
        base.executemany("insert into t values (?, ?, ?)", [("a", "r", "b"), ("b", "r", "c")])
        base.commit()
    assert named_facts(read_graph(path)) == {("a", "r", "b"), ("b", "r", "c")}
