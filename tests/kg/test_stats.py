import json

import pytest

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.stats import graph_stats


def test_every_count_of_a_small_graph():
    graph = KnowledgeGraph.from_triples(
        [
            ("hub", "r", "a"),
            ("hub", "r", "b"),
            ("c", "s", "hub"),
            ("c", "s", "hub"),
            ("x", "s", "x"),
            ("m.0z", "r", "y"),
        ],
        names={"a": "Kismet", "b": "Kismet", "hub": "The Hub"},
        aliases={"a": ["A", "B"]},
    )
    stats = graph_stats(graph)
    assert stats == {
        "entities": 7,
        "relations": 2,
        "triples": 5,
        "duplicates": 1,
        "aliases": 2,
        # degrees: a 1, b 1, c 1, hub 3, m.0z 1, x 2, y 1
        "degree": {
            "median": 1.0,
            "p90": pytest.approx(2.4),
            "max": 3,
            "hub": "hub",
            "hub_name": "The Hub",
        },
        "relation_counts": {"r": 3, "s": 2},
        "components": 3,
        "largest_component": 4,
        "homonyms": 2,
        "unnamed": 1,
        "values": {},
    }
    assert list(stats["relation_counts"]) == ["r", "s"]
    assert json.loads(json.dumps(stats)) == stats


def test_the_empty_graph_has_counts_too():
    stats = graph_stats(KnowledgeGraph.from_triples([]))
    assert (stats["entities"], stats["components"], stats["largest_component"]) == (0, 0, 0)
    assert stats["degree"]["hub"] is None


def test_a_number_written_in_two_types_is_no_homonym():
    xsd = "http://www.w3.org/2001/XMLSchema#"
    three = [f'"3"^^<{xsd}integer>', f'"3"^^<{xsd}decimal>']
    graph = KnowledgeGraph.from_triples(
        [("a", "stars", three[0]), ("b", "rating", three[1])],
        names=dict.fromkeys(three, "3") | {"a": "Kormoran", "b": "Kormoran"},
    )
    assert graph_stats(graph)["homonyms"] == 2
