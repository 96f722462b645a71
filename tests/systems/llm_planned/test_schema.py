import itertools

import pytest

from jaxkg.adjudicate.reading.match import Candidates
from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.llm_planned.schema import PlanSchema

KG = KnowledgeGraph.from_triples(
    [
        ("Heat", "directed_by", "Mann"),
        ("Heat", "has_genre", "Crime"),
        ("Ali", "directed_by", "Mann"),
        ("Mann", "born_in", "Chicago"),
        ("Mann", "spouse", "Summer"),
        ("Summer", "spouse", "Mann"),
    ]
)
DIRECTED, GENRE, BORN, SPOUSE = map(
    KG.relation_code, ("directed_by", "has_genre", "born_in", "spouse")
)
BACK = KG.num_relations
OFFERED = Candidates((name, name) for name in KG.relations)


def read(*plans, topic="Mann", hops=3, offered=OFFERED):
    return PlanSchema(KG).read(plans, [KG.entity(topic)], offered, hops=hops)


def codes(found):
    return [plan.hops for plan in found.plans]


def test_what_follows_what_is_what_the_triples_say():
    schema = PlanSchema(KG)
    steps = [(h, r, t) for h, r, t in KG.triples.tolist()]
    steps += [(t, r + BACK, h) for h, r, t in KG.triples.tolist()]
    for before, after in itertools.product(range(2 * BACK), repeat=2):
        truth = any(
            a[1] == before and b[1] == after and a[2] == b[0]
            for a, b in itertools.product(steps, repeat=2)
        )
        assert schema.follows(before, after) == truth
    for code, node in itertools.product(range(2 * BACK), range(KG.num_entities)):
        assert schema.leaves([node], code) == any(s[0] == node and s[1] == code for s in steps)
    assert not schema.leaves([], DIRECTED)


@pytest.mark.parametrize(
    "name", ["^directed_by", "directed_by", "Directed By", "directed_by (inverse)", "~directed_by",
             "inverse of directed_by", "directed_by^-1", "direced_by"],
)  # fmt: skip
def test_names_are_matched_and_walked_the_way_that_can_follow(name):
    found = read([[name], ["has_genre"]])
    assert codes(found) == [((DIRECTED + BACK,), (GENRE,))]
    assert (found.dropped, found.refused) == ((), ())


def test_both_ways_open_means_the_way_that_was_named():
    assert codes(read([["spouse"]])) == [((SPOUSE,),)]
    assert codes(read([["^spouse"]])) == [((SPOUSE + BACK,),)]


def test_a_relation_of_that_very_name_is_meant():
    kg = KnowledgeGraph.from_triples([("a", "r (inverse)", "b"), ("a", "r", "c")])
    offered = Candidates((name, name) for name in kg.relations)
    found = PlanSchema(kg).read([[["r (inverse)"]]], [kg.entity("a")], offered, hops=1)
    assert [plan.names(kg) for plan in found.plans] == [(("r (inverse)",),)]


def test_names_never_offered_are_dropped_and_half_a_plan_is_none():
    found = read([["^directed_by", "produced_by"], ["has_genre"]], [["^directed_by"], ["won"]])
    assert codes(found) == [((DIRECTED + BACK,), (GENRE,))]
    assert found.dropped == ("produced_by", "won")
    hidden = Candidates([("directed_by", "directed_by")])
    assert read([["born_in"]], offered=hidden).dropped == ("born_in",)


def test_hops_that_cannot_follow_refuse_the_plan_with_the_reason():
    found = read([["born_in"], ["has_genre"]], [["has_genre"]], [["born_in", "has_genre"]])
    assert codes(found) == [((BORN,),)], "the third plan keeps what it can walk"
    assert found.refused == (
        "born_in → has_genre: has_genre does not leave hop 1",
        "has_genre: has_genre does not leave the topic",
        "born_in or has_genre: has_genre does not leave the topic",
    )
    assert found.dropped == ()


def test_a_plan_is_held_against_the_longest_allowed_and_two_relations_a_hop():
    found = read([["spouse"]] * 3, [["spouse"]] * 2, hops=2)
    assert codes(found) == [((SPOUSE,), (SPOUSE,))]
    assert found.refused == ("spouse → spouse → spouse: 3 hops, 2 are allowed",)
    three = read([["born_in", "spouse", "directed_by"]])
    assert codes(three) == [((BORN, SPOUSE),)]
    assert three.dropped == ("directed_by",)


def test_equal_plans_are_one_and_an_empty_hop_refuses():
    assert len(read([["spouse"]], [["Spouse"]]).plans) == 1
    assert codes(read([["spouse"], []])) == []
