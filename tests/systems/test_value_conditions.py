"""What questions ask of values: which paths lead to values, which is chosen, and what it keeps."""

import numpy as np
import pytest
from value_graphs import value_triples

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.query import Entities, Extreme, Value, Where
from jaxkg.systems.value_conditions import VIEWS, WEIGHTS, ValueConditions, asked_of_values
from jaxkg.text import HashingEncoder

TEAMS = ("Ajax", "Celtic", "Leeds")
SEATS = ("55500", "60411", "37608")
FACTS = [
    ("Ajax", "sports.team.founded", "1900"),
    ("Celtic", "sports.team.founded", "1888-05-01"),
    ("Leeds", "sports.team.founded", "1919"),
    *((team, "sports.team.stadium", f"m.0stad{n}") for n, team in enumerate(TEAMS)),
    *((f"m.0stad{n}", "venue.capacity", size) for n, size in enumerate(SEATS)),
    ("Ajax", "sports.team.city", "Amsterdam"),
    ("Amsterdam", "place.population", "905234"),
]  # fmt: skip


@pytest.fixture(scope="module")
def conditions():
    return ValueConditions(QuerySets(KnowledgeGraph.from_triples(FACTS)), HashingEncoder())


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Which of them was founded last?", (True, 1)),
        ("What are the two oldest teams?", (False, 2)),
        ("Who has the smallest stadium?", (False, 1)),
    ],
)
def test_words_order(question, wanted):
    asked = asked_of_values(question)
    assert (asked.largest, asked.most) == wanted


def test_words_compare_and_years_of_events_and_places_in_an_order_are_left_alone():
    bound = asked_of_values("What team with more than 40,000 seats did he play for?")
    assert (bound.comparison, bound.low) == (">", "40000")
    for text in ("Who did he play for in 2011?", "Who directed it?", "the second largest stadium"):
        assert asked_of_values(text) is None


def test_paths_lead_to_numbers_and_dates_at_once_or_through_nodes_without_a_name():
    for seed in range(6):
        triples = value_triples(np.random.default_rng(seed), 14, 60)
        renamed = {f"e{n}": f"m.0e{n}" for n in range(0, 14, 2)}
        triples = [(renamed.get(h, h), r, renamed.get(t, t)) for h, r, t in triples]
        kg = KnowledgeGraph.from_triples(triples)
        sets = QuerySets(kg)
        kinds = {r: k for r, k in sets.values.relation_kinds.items() if k in ("number", "date")}
        walks = {}
        for h, r, t in triples:
            walks.setdefault(h, set()).add((r, t))
            walks.setdefault(t, set()).add((f"^{r}", h))
        some = sorted(walks)[::3]
        wanted = {}
        for entity in some:
            paths = {(r,) for r, _ in walks[entity] if r in kinds}
            for first, middle in walks[entity]:
                if first not in kinds and not kg.has_name(kg.entity(middle)):
                    paths |= {(first, r) for r, _ in walks[middle] if r in kinds}
            for path in paths:
                wanted[path] = wanted.get(path, 0) + 1 / len(some)
        nodes = np.array(sorted(kg.entity(entity) for entity in some))
        found = ValueConditions(sets, HashingEncoder()).paths(nodes)
        assert {path.relations: path.share for path in found} == pytest.approx(wanted)
        assert all(path.kind == kinds[path.relations[-1]] for path in found)


def test_entities_without_values_have_no_paths(conditions):
    kg = conditions.kg
    assert conditions.paths(np.array([kg.entity("905234")])) == []
    bare = ValueConditions(
        QuerySets(KnowledgeGraph.from_triples([("a", "r", "b")])), HashingEncoder()
    )
    assert bare.of("Which is the oldest?", [0, 1], least=-100.0) is None


@pytest.mark.parametrize(
    ("question", "path", "kept"),
    [
        ("Which team was founded last?", ("sports.team.founded",), {"Leeds"}),
        ("Which team was founded first?", ("sports.team.founded",), {"Celtic"}),
        ("Which team was founded before 1905?", ("sports.team.founded",), {"Ajax", "Celtic"}),
        (
            "Which team was founded between 1895 and 1910?",
            ("sports.team.founded",),
            {"Ajax"},
        ),
        (
            "Which team has the largest capacity of its stadium?",
            ("sports.team.stadium", "venue.capacity"),
            {"Celtic"},
        ),
        (
            "Which team has a stadium of a capacity of more than 50000?",
            ("sports.team.stadium", "venue.capacity"),
            {"Ajax", "Celtic"},
        ),
    ],
)
def test_the_words_choose_the_values_and_the_way(conditions, question, path, kept):
    nodes = sorted(map(conditions.kg.entity, TEAMS))
    query = conditions.of(question, nodes, least=3.5)
    assert query.path == path
    rows = conditions.sets.execute(query).rows
    assert {conditions.kg.entity_ids[row] for row in rows} == kept


def test_the_query_graph_says_what_was_read(conditions):
    nodes = [conditions.kg.entity(team) for team in TEAMS]
    founded = ("sports.team.founded",)
    source = Entities(TEAMS)
    assert conditions.of("the first founded", nodes, least=0.0) == Extreme(source, founded, False)
    assert conditions.of("founded after 1900", nodes, least=0.0) == Where(
        source, founded, ">", Value("date", "1900")
    )
    assert conditions.of("the first founded", nodes, least=100.0) is None
    assert conditions.of("who founded it", nodes, least=-100.0) is None


def test_each_view_speaks_for_what_it_names(conditions):
    nodes = np.array(sorted(map(conditions.kg.entity, ("Ajax", "Celtic"))))
    question = "Which team was founded after 1966?"
    paths = conditions.paths(nodes)
    views = conditions.views(question, asked_of_values(question), paths)
    assert views.shape == (2, len(VIEWS)) == (2, len(WEIGHTS))
    of = {path.relations[-1]: dict(zip(VIEWS, view)) for path, view in zip(paths, views)}
    founded, seats = of["sports.team.founded"], of["venue.capacity"]
    assert founded["text"] > seats["text"]
    # "team founded" is in the question; of "team stadium capacity" one word.
    assert (founded["words"], seats["words"]) == (1.0, pytest.approx(1 / 3))
    assert (founded["share"], seats["share"]) == (1.0, 1.0)
    assert (founded["other kind"], seats["other kind"]) == (0.0, 1.0)
