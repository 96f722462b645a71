"""Public files: as many facts as a reader of the format counts in them."""

from collections import Counter

import pytest

from jaxkg.kg import read_graph


@pytest.fixture
def counted(data_dir):
    """Facts by relation, and things by what they are; skipped where the file is absent."""

    def run(name):
        path = data_dir / "public_files" / name
        if not path.exists():
            pytest.skip(f"no {name}")
        kg = read_graph(path)
        facts = Counter(kg.relation_labels[relation] for _, relation, _ in kg.triples.tolist())
        sorts = Counter(
            kg.name(tail)
            for _, relation, tail in kg.triples.tolist()
            if kg.relation_labels[relation] == "is a"
        )
        return kg, facts, sorts

    return run


def test_an_ontology_in_obo(counted):
    kg, facts, sorts = counted("pato_obo/pato-color.obo")
    assert sorts == {"term": 86}
    assert facts["subclass of"] == 85
    assert kg.name(kg.entity("PATO:0000014")) == "color"
    assert len(kg.aliases.names) >= 11


def test_a_family_tree(counted):
    kg, facts, sorts = counted("gedcom_royal/victoria.ged")
    assert sorts == {"person": 43}
    assert facts["child"] == facts["parent"] == 72  # 36 children, both of whose parents are there
    assert facts["wife"] == facts["husband"] == 6
    assert facts["birth date"] == 43
    victoria = kg.entity("I1")
    children = {
        t for h, r, t in kg.triples.tolist() if h == victoria and kg.relations[r] == "child"
    }
    assert len(children) == 9


def test_a_cypher_script(counted):
    _, facts, sorts = counted("movies_cypher/movies.cypher")
    assert sorts["movie"] == 15
    assert sorts["person"] == 60
    assert [facts[kind] for kind in ("acted in", "directed", "produced", "wrote")] == [67, 20, 4, 1]
    assert [facts[kind] for kind in ("reviewed", "follows", "rating")] == [3, 3, 3]
    assert facts["roles"] == 82


def test_kgx(counted):
    _, facts, _ = counted("kgx_tsv/graph")
    assert [facts[kind] for kind in ("has phenotype", "interacts with", "part of")] == [10, 6, 5]
    assert facts["subject"] == facts["object"] == 49  # every edge has a source


def test_tables_without_a_header(counted):
    _, facts, sorts = counted("openflights_dat/graph")
    assert sorts == {"airport": 10, "airline": 9, "routes": 133}
    assert facts["from airport"] == facts["to airport"] == 133
