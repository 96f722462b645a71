import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.serve.facts import Facts, NotThere

GRAPH = KnowledgeGraph.from_triples(
    [
        ("Heat", "directed_by", "Mann"),
        ("Ali", "directed_by", "Mann"),
        ("Ali", "starring", "Will Smith"),
        ("m.1", "starring", "Will Smith"),
        ("m.2", "directed_by", "Mann"),
        ("Alone", "directed_by", "Nobody"),
    ],
    names={"m.1": "Kismet", "m.2": "Kismet"},
    aliases={"Mann": ["Michael Mann"]},
    provenance=["f:1", "f:2", "f:3", "f:4", "f:5", "f:6"],
)
FACTS = Facts.of(GRAPH)


class TestLookingUp:
    def test_entities_by_id_name_alias_and_slip(self):
        assert [e["id"] for e in FACTS.entities("Kismet")["entities"]] == ["m.1", "m.2"]
        assert FACTS.entities("michael mann")["entities"][0]["id"] == "Mann"
        assert FACTS.entities("Will Smth")["entities"][0]["id"] == "Will Smith"

    def test_what_is_left_out_is_told(self):
        found = FACTS.entities("Kismet", limit=1)
        assert (len(found["entities"]), found["left_out"]) == (1, 1)

    def test_an_entity_has_its_facts_by_relation_both_ways(self):
        found = FACTS.entity("Mann", limit=2)
        [relation] = found["relations"]
        assert (relation["relation"], relation["count"]) == ("^directed_by", 3)
        assert [fact["head"] for fact in relation["facts"]] == ["Ali", "Heat"]
        assert relation["left_out"] == 1
        assert found["aliases"] == ["Michael Mann"]

    def test_a_name_that_several_bear_is_refused_with_their_ids(self):
        with pytest.raises(NotThere, match=r"2 entities.*'m.1', 'm.2'"):
            FACTS.entity("Kismet")

    def test_an_unknown_one_is_told_with_the_nearest(self):
        with pytest.raises(NotThere, match="nearest: 'Will Smith'"):
            FACTS.entity("Will Smiht")

    def test_typed_schema_is_that_of_a_question(self):
        found = FACTS.typed("who directed Heat")
        assert found["topics"] == ["Heat"]
        assert {each["relation"] for each in found["relations"]} == set(FACTS.kg.relations)
        told = {each["relation"]: each["typed"] for each in found["relations"]}
        assert "-[directed by]->(" in told["directed_by"]
        assert found["left_out"] == 0

    def test_schema(self):
        found = FACTS.schema(limit=1)
        assert found["relations"][0]["relation"] == "directed_by"
        assert found["relations"][0]["count"] == 4
        assert found["left_out"] == 1


class TestPaths:
    def test_shortest_walks_are_cited(self):
        [path] = FACTS.paths("Heat", "Will Smith")["paths"]
        assert path["relation_path"] == ("directed_by", "^directed_by", "starring")
        assert [c["source"] for c in path["citations"]] == ["f:1", "f:2", "f:3"]

    def test_no_way_is_no_path(self):
        assert FACTS.paths("Heat", "Alone", hops=4) == {
            "paths": [],
            "more": False,
            "complete": True,
        }

    def test_a_walk_is_not_longer_than_wished(self):
        assert FACTS.paths("Heat", "Will Smith", hops=2)["paths"] == []
        with pytest.raises(JaxkgError, match="1 to 4"):
            FACTS.paths("Heat", "Ali", hops=5)

    def test_more_walks_than_wanted_are_told(self):
        kg = KnowledgeGraph.from_triples([("a", r, "b") for r in "xyz"])
        found = Facts.of(kg).paths("a", "b", limit=2)
        assert (len(found["paths"]), found["more"]) == (2, True)

    def test_a_search_that_would_see_too_much_stops_and_says_so(self, monkeypatch):
        monkeypatch.setattr("jaxkg.serve.facts._MOST_EDGES", 2)
        assert FACTS.paths("Heat", "Will Smith")["complete"] is False


class TestClaims:
    @pytest.mark.parametrize(
        "claim",
        [
            ("Heat", "directed_by", "Mann"),
            ("Heat", "Directed by", "Mann"),
            ("Mann", "^directed_by", "Heat"),
            ("Kismet", "directed_by", "Mann"),
        ],
    )
    def test_a_fact_is_supported_by_its_triple(self, claim):
        found = FACTS.check(*claim)
        assert found["supported"]
        assert {fact["relation"] for fact in found["triples"]} == {"directed_by"}

    def test_a_claim_that_is_not_there_is_told_what_is(self):
        found = FACTS.check("Heat", "directed_by", "Nobody")
        assert not found["supported"]
        assert [fact["tail"] for fact in found["instead"]] == ["Mann"]

    def test_a_claim_the_wrong_way_round_is_not_supported(self):
        assert not FACTS.check("Mann", "directed_by", "Heat")["supported"]

    def test_an_unknown_relation_is_refused(self):
        with pytest.raises(NotThere, match="directed_by"):
            FACTS.check("Heat", "eats", "Mann")
