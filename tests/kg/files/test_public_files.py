"""Public files as a reader of their format counts them, where they are at hand."""

from collections import Counter

import pytest

from jaxkg.kg import read_graph
from jaxkg.kg.qualifiers import Statements

KINDS = {
    "movies_apoc_json/movies.json": {
        "ACTED_IN": 67, "DIRECTED": 20, "PRODUCED": 4, "REVIEWED": 3, "FOLLOWS": 3, "WROTE": 1,
        "born": 56, "released": 15, "roles": 82, "type": 75,
    },
    "attack_stix/ics-attack-sample.json": {
        "uses": 43, "mitigates": 9, "attributed-to": 4, "type": 26, "predicate": 56,
        "external references external id": 26,
    },
    "cyclonedx_sbom/bom.json": {"dependsOn": 82, "version": 40, "licenses": 39, "type": 39},
    "swapi_fixtures/graph": {"characters": 26, "homeworld": 12, "planets": 7, "pilots": 4},
    "wikidata_json/dump.json": {"P69": 3, "P54": 2, "P1082": 1, "P106": 6, "predicate": 6},
    "pizza_owl/pizza.owl": {"hasTopping": 30, "hasSpiciness": 12, "hasCountryOfOrigin": 3},
    "yso_skos": {"broader": 34, "related": 46, "inScheme": 48},
    "ck25/graph": {"hasSupplier": 1000, "hasProductManager": 1009, "hasBomPart": 197},
    "building_bot/building.ttl": {"adjacentElement": 20, "hasSpace": 3, "hasStorey": 2},
    "northwind_csv/graph": {"shipVia": 20, "orderID": 56, "supplierID": 36, "reportsTo": 8},
    "asoiaf_cr_csv/graph": {"linked to": 74},
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_facts_by_relation(data_dir, name):
    path = data_dir / "public_files" / name
    if not path.exists():
        pytest.skip("the public files are not here")
    if name == "yso_skos":
        (path,) = path.glob("*.ttl")
    graph = read_graph(path)
    counts = Counter(graph.relations[code] for code in graph.triples[:, 1].tolist())
    assert {relation: counts[relation] for relation in KINDS[name]} == KINDS[name]
    nameless = [node for node in graph.entity_ids if node.startswith("_:#")]
    assert nameless == []


@pytest.mark.parametrize("name", ["movies_apoc_json/movies.json", "wikidata_json/dump.json"])
def test_what_is_said_of_facts(data_dir, name):
    path = data_dir / "public_files" / name
    if not path.exists():
        pytest.skip("the public files are not here")
    graph = read_graph(path)
    found = Statements.of(graph)
    facts = [graph.triple(row) for row in found.fact[found.fact >= 0].tolist()]
    if name.startswith("movies"):
        assert len(found.node) == 70
        assert Counter(relation for _, relation, _ in facts) == {"ACTED_IN": 67, "REVIEWED": 3}
    else:
        assert len(found.node) == 6
        assert ("Q42", "P69", "Q35794") in facts
