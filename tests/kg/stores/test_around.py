from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.kg.stores import around
from jaxkg.kg.stores.around import (
    Reach,
    cut_words,
    everything,
    sample_graph,
    surroundings,
    topic_graph,
)
from jaxkg.kg.stores.arrays import ArrayStore
from jaxkg.kg.stores.cuts import counted_rows, cuts_met
from jaxkg.query import Count, Domain, Entities, Step, Total

TRIPLES = st.sets(
    st.tuples(st.integers(0, 8), st.integers(0, 2), st.integers(0, 8)), min_size=1, max_size=30
)


def graph_of(triples):
    return KnowledgeGraph.from_triples(
        ((f"e{h}", f"r{r}", f"e{t}") for h, r, t in triples),
        names={"e0": "Zero"},
        aliases={"e1": ["Uno", "Eins"]},
        provenance=[f"line {h}{r}{t}" for h, r, t in triples],
        relation_names={"r0": ["nought", "null"]},
    )


def ball(triples, topic, hops):
    """The facts within so many hops, by plain Python."""
    near, found = {topic}, set()
    for _ in range(hops):
        found |= {triple for triple in triples if triple[0] in near or triple[2] in near}
        near |= {end for head, _, tail in found for end in (head, tail)}
    return found


@given(TRIPLES, st.integers(1, 3))
def test_all_within_reach_is_there(triples, hops):
    kg = graph_of(triples)
    store = ArrayStore(kg)
    for row in range(kg.num_entities):
        found = surroundings(store, [row], Reach(hops=hops))
        part = topic_graph(store, found)
        wanted = ball({kg.triple(t) for t in range(kg.num_triples)}, kg.entity_ids[row], hops)
        assert {part.triple(t) for t in range(part.num_triples)} == wanted
        assert (len(found.cuts.node), found.full, found.troubles) == (0, False, ())
        assert part.relations == kg.relations
        assert part.relation_names == kg.relation_names
        assert [part.entity_ids[at] for at in part.mentionable] == [kg.entity_ids[row]]
        for place in range(part.num_entities):
            whole = kg.entity(part.entity_ids[place])
            assert part.name(place) == kg.name(whole)
            assert part.aliases.get(place) == kg.aliases.get(whole)
            assert part.node_of[place] == whole
        for place, number in enumerate(part.rows.tolist()):
            assert part.triple(place) == kg.triple(number)
            assert part.source(place) == kg.source(number)


@given(TRIPLES, st.integers(1, 4))
def test_what_is_left_out_is_counted(triples, most):
    kg = graph_of(triples)
    store = ArrayStore(kg)
    for row in range(kg.num_entities):
        found = surroundings(store, [row], Reach(hops=2, fan=most, facts=most))
        assert len(found.facts.rows) <= 2 * most  # one seen from both ends counts once
        around = store.runs(np.array([row]))
        fetched = {kg.triple(t) for t in found.facts.rows.tolist()}
        for node, relation, inverse, size in zip(*(column.tolist() for column in found.cuts)):
            rows = kg.triples[:, 2 if inverse else 0] == node
            assert size == int((rows & (kg.triples[:, 1] == relation)).sum())
        told = int(found.cuts.size[found.cuts.node == row].sum())
        mine = {kg.triple(t) for t in range(kg.num_triples) if row in kg.triples[t, ::2]}
        assert len(mine - fetched) <= told
        if int(around.size.sum()) > most:
            assert found.full
            assert len(found.cuts.node)


def test_a_hub_costs_a_count_and_is_told():
    facts = [(f"film{n}", "genre", "Drama") for n in range(50)]
    kg = KnowledgeGraph.from_triples([*facts, ("film1", "by", "Mann"), ("film2", "by", "Mann")])
    store = ArrayStore(kg)
    found = surroundings(store, store.named(["Mann"])[0], Reach(fan=10))
    graph = topic_graph(store, found)
    assert graph.num_triples == 4
    assert cut_words(store, found.cuts) == "^genre of Drama (50 facts)"
    sets, left_out = QuerySets(graph), (found.cuts, counted_rows(graph, found))
    by = Step(Entities(("Mann",)), ("^by",))
    genre = Step(by, ("genre",))
    again = Count(Step(genre, ("^genre",)))
    total = Total(genre, ("^genre",))
    for query, met in ((by, 0), (genre, 0), (again, 1), (total, 1)):
        cuts, everywhere = cuts_met(graph, sets, [query], *left_out, graph.relations)
        assert (len(cuts.node), everywhere) == (met, ())
    assert cuts_met(graph, sets, [Domain(("genre",))], *left_out, graph.relations)[1] == ("genre",)
    assert not len(surroundings(store, store.named(["Mann"])[0], Reach(fan=50)).cuts.node)
    # From the topic itself a hub is fetched.
    mine = surroundings(store, store.named(["Drama"])[0], Reach(hops=1, fan=10))
    assert len(mine.facts.rows) == 50
    assert not len(mine.cuts.node)


def test_what_was_not_even_counted_is_told():
    kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "r", "c"), ("c", "r", "d")])
    store = ArrayStore(kg)
    found = surroundings(store, store.named(["a"])[0], Reach(hops=2))
    graph = topic_graph(store, found)
    left_out = found.cuts, counted_rows(graph, found)
    steps = [Entities(("a",))]
    for _ in range(3):
        steps.append(Step(steps[-1], ("r",)))
    for hops, told in ((1, ""), (2, ""), (3, "r of c (too far away to be counted)")):
        cuts, _ = cuts_met(graph, QuerySets(graph), [steps[hops]], *left_out, kg.relations)
        assert cut_words(store, cuts) == told


@given(TRIPLES)
def test_everything_is_the_graph(triples):
    kg = graph_of(triples)
    graph = topic_graph(ArrayStore(kg), everything(ArrayStore(kg)))
    assert graph.fingerprint == kg.fingerprint
    assert graph.mentionable is None
    assert dict(graph.aliases) == dict(kg.aliases)


@given(TRIPLES)
def test_a_sample_is_of_the_graph(triples):
    kg = graph_of(triples)
    facts = {kg.triple(row) for row in range(kg.num_triples)}
    store = ArrayStore(kg)
    for most in (1, 4, 100):
        seeds = {(*map(int, fact),) for fact in store.some(most)}
        assert seeds <= {tuple(fact) for fact in kg.triples.tolist()}
        assert 0 < len(seeds) <= max(most, 1)
    with mock.patch.multiple(around, SAMPLED=12, _SEEDS=4, _SAMPLE_FAN=3):
        sample = sample_graph(store)
    told = {sample.triple(row) for row in range(sample.num_triples)}
    assert told <= facts
    assert (told == facts) or len(facts) > 12


@given(TRIPLES)
def test_a_run_whose_facts_are_known_is_not_fetched_again(triples):
    kg = graph_of(triples)

    class Counted(ArrayStore):
        def fetch(self, runs):
            for node, relation, inverse in zip(*(c.tolist() for c in runs[:3])):
                rows = self.kg.triples[:, 2 if inverse else 0] == node
                mine = self.kg.triples[rows & (self.kg.triples[:, 1] == relation)]
                assert {tuple(fact) for fact in mine.tolist()} - there
            found = super().fetch(runs)
            there.update(map(tuple, found.triples.tolist()))
            return found

    store = Counted(kg)
    for row in range(kg.num_entities):
        there = set()
        surroundings(store, [row], Reach(hops=3))
        wanted = ball({kg.triple(t) for t in range(kg.num_triples)}, kg.entity_ids[row], 3)
        assert len(there) == len(wanted)
