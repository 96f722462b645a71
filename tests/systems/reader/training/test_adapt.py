import dataclasses

import numpy as np
import pytest
from reader_graphs import PROJECTS

from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.confidence import recalibrated
from jaxkg.systems.reader.system import Reader
from jaxkg.systems.reader.training import adapt
from jaxkg.systems.reader.training.adapt import (
    adapt_reader,
    adapted,
    better,
    counted,
    held_out,
    marked,
    told_of,
)
from jaxkg.systems.reader.training.maker import Asked
from jaxkg.systems.reader.training.own_world import own_questions
from jaxkg.systems.reader.weights import shipped_weights
from jaxkg.text import HashingEncoder

FACTS = [
    fact
    for n, name in enumerate(PROJECTS)
    for fact in (
        (name, "project lead", f"Person{n}"),
        (name, "sponsor", f"Firm{n % 5}"),
        (name, "status", ["on hold", "active"][n % 2]),
        (name, "budget", f"{n + 10}"),
        (f"Person{n}", "works in", f"Unit{n % 3}"),
    )
]


@pytest.fixture(scope="module")
def reader() -> Reader:
    """One that is never sure."""
    weights = shipped_weights("hashing")
    unsure = dataclasses.replace(weights, confidence=recalibrated(weights.confidence, 1.0, -3.0))
    return Reader.build(KnowledgeGraph.from_triples(FACTS), HashingEncoder(), weights=unsure)


def of(reader, text, answer="Person{}"):
    return marked(
        reader,
        [Asked(text.format(a), frozenset({answer.format(n)})) for n, a in enumerate(PROJECTS)],
    )


def test_own_words_are_learned_and_judged_where_they_were_not_learned_from(reader):
    own = of(reader, "who runs {}?")
    weights, *judged = adapt_reader(reader, own)
    assert judged == [(0, 0), (12, 0)]
    assert weights.version.startswith(f"{reader.weights.version}+")
    assert better((12, 0), (11, 0))
    assert not better((12, 1), (11, 0))


def test_the_answers_of_a_part_held_out_say_nothing_of_how_it_is_answered(reader):
    own = of(reader, "who runs {}?")
    answered = held_out(reader, own)[:: adapt.PARTS, 1]
    for inside in (True, False):
        some = [
            dataclasses.replace(one, right=np.zeros_like(one.right))
            if (n % adapt.PARTS == 0) == inside
            else one
            for n, one in enumerate(own)
        ]
        assert (held_out(reader, some)[:: adapt.PARTS, 1] == answered).all() == inside


def test_the_line_found_is_best_by_brute_force(reader):
    own = of(reader, "{} is paid by whom?", "Firm{}")[:5]
    own = [o for n, o in enumerate(own) if o.right.any()]
    moved = adapt._line(reader, own).params["line"] - reader.weights.params["line"]

    def loss(change):
        total = 0.0
        for one in own:
            scores = one.seen.scores.astype(np.float64)
            share = np.exp(scores + reader.standard(one.seen.views) @ change)
            total -= np.log(share[one.right].sum() / share.sum())
        return total / len(own) + adapt._HELD * float((change**2).sum())

    draws = np.random.default_rng(0).normal(0, 0.02, (20, len(moved)))
    assert loss(moved) < min(loss(moved + draw) for draw in draws)
    assert loss(moved) < min(loss(moved * scale) for scale in (0.0, 0.8, 0.95, 1.05, 1.2))


def test_what_was_learned_ranks(reader):
    weights = reader.weights
    own = of(reader, "{} is paid by whom?", "Firm{}")
    learned = adapted(reader, own)
    shares = []
    for some in (reader, learned):
        scores = [some.standard(one.seen.views) @ some.weights.params["line"] for one in own]
        shares.append([np.exp(s - s.max())[one.right].sum() / np.exp(s - s.max()).sum()
                       for s, one in zip(scores, own) if one.right.any()])  # fmt: skip
    assert np.mean(shares[1]) > np.mean(shares[0])
    # What was looked at by others' weights is ranked by one's own.
    turned = {name: -array for name, array in weights.params.items() if name in ("line", "outer")}
    against = dataclasses.replace(weights, params={**weights.params, **turned})
    other = Reader(reader.readings, against, reader.settings, reader.advice)
    known = of(reader, "who runs {}?")
    assert told_of(other, known)[:, 0].sum() < told_of(reader, known)[:, 0].sum()


def test_questions_made_of_a_graph_have_its_answers(reader):
    asked = own_questions(reader.readings, 30, 0)
    assert asked == own_questions(reader.readings, 30, 0)
    assert len(asked) > 20
    assert {r for one in asked for r in one.relations} <= set(reader.kg.relations)
    known = {name for head, _, tail in FACTS for name in (head, tail)}
    assert all(a in known or a.isdigit() or a in ("yes", "no") for o in asked for a in o.answers)
    made = marked(reader, asked)
    assert np.mean([one.right.any() for one in made]) > 0.8
    right, _ = counted(told_of(adapted(reader, [], made), made))
    assert right >= counted(told_of(reader, made))[0]
