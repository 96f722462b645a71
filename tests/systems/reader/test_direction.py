"""Who does what to whom: a reading the other way round is offered and does not answer."""

import dataclasses

import numpy as np
import pytest

from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.sets.direction import is_reversed, is_undirected
from jaxkg.systems.reader.system import Reader

PEOPLE = ("Ann", "Bo", "Cy", "Di")


@pytest.fixture(scope="module")
def reader() -> Reader:
    """People who each beat the next one."""
    facts = [(a, "beats", b) for a, b in zip(PEOPLE, PEOPLE[1:] + PEOPLE[:1])]
    facts += [(name, "type", "Person") for name in PEOPLE]
    return Reader.build(KnowledgeGraph.from_triples(facts))


@pytest.mark.parametrize(
    ("question", "wanted"),
    [("Who beats Bo?", "Ann"), ("Who does Bo beat?", "Cy"), ("Who is beaten by Bo?", "Cy")],
)
def test_the_other_way_round_is_never_sure(reader, question, wanted):
    seen = reader.seen(reader.readings.asked(question, ()))
    ends = [reader.kg.entity_ids[end] for one in seen.found[:2] for end in one.ends]
    assert set(ends) == {"Ann", "Cy"}
    for candidate, end in zip(seen.found, ends):
        against = is_reversed(seen.asked, candidate, seen.found, reader.readings.find)
        assert against == (end != wanted)
    for end, is_sure in (wanted, None), (({"Ann", "Cy"} - {wanted}).pop(), False):
        scores = np.zeros_like(seen.scores)
        scores[ends.index(end)] = 10.0
        understood = reader.understood(dataclasses.replace(seen, scores=scores))
        assert understood.readings[0].answers == (end,)
        assert is_sure is None or understood.sure is is_sure


def test_a_relation_that_leads_nowhere_the_other_way_is_not_turned(reader):
    graph = KnowledgeGraph.from_triples([("Ann", "beats", "Bo"), ("Ann", "type", "Person")])
    one_way = Reader.build(graph)
    seen = one_way.seen(one_way.readings.asked("Who does Bo beat?", ()))
    find = one_way.readings.find
    assert not any(is_reversed(seen.asked, one, seen.found, find) for one in seen.found)


def test_a_reading_that_no_verb_directs_has_a_rival_the_other_way(reader):
    readings = reader.readings
    asked = readings.asked("Which ones are with Bo?")
    found = [one for one in readings.of(asked) if one.shape == "path" and len(one.relations) == 1]
    names = {reader.kg.name(int(one.ends[0])): one for one in found}
    best, other = names["Ann"], names["Cy"]
    assert is_undirected(asked, best, [best, other], readings.find)
    assert not is_undirected(asked, best, [best], readings.find)
    assert not is_undirected(asked, best, [best, other._replace(wanting=1.0)], readings.find)
    told = readings.asked("Who beats Bo?")
    assert not is_undirected(told, best, [best, other], readings.find)
