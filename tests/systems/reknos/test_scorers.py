import dataclasses
import itertools

import jax
import numpy as np
import pytest
from programs import frontier_of

from jaxkg.errors import JaxkgError
from jaxkg.kg import Topics
from jaxkg.learn.planner.model import Planner
from jaxkg.records import Question
from jaxkg.score.planner import (
    init_planner,
    label_vectors,
    next_relation_logits,
    read_question,
)
from jaxkg.search.relation_beam import init
from jaxkg.systems.reknos.scorers import (
    LabelScorer,
    PlannerScorer,
    group_scores,
    probabilities,
    stop_share,
)
from jaxkg.text import NgramHasher

# Operation by operation each would be a little program of its own.
begin = jax.jit(init, static_argnames=("num_questions", "width", "hops"))
grouped = jax.jit(group_scores, static_argnums=3)
stopping, over_options = jax.jit(stop_share), jax.jit(probabilities)
RELATIONS = ("film.film.directed_by", "people.person.place_of_birth", "location.country.languages")


def asked(*texts):
    """Questions without topics."""
    return [Question(id=text, text=text) for text in texts], [Topics((), (), ())] * len(texts)


def beam_of(relations, score=None, finished=None):
    """A beam with these [B, W, L] paths."""
    relations = np.asarray(relations, np.int32)
    batch, width, hops = relations.shape
    beam = begin(frontier_of([[0]] * batch), num_questions=batch, width=width, hops=hops)
    score = np.zeros((batch, width), np.float32) if score is None else np.float32(score)
    finished = np.zeros((batch, width), bool) if finished is None else np.asarray(finished)
    return beam._replace(relations=relations, score=score, finished=finished)


def logits_of(scorer, reading, beam):
    def logits(weights, reading, beam):
        return scorer.beam_scorer(weights, reading)(beam, None).logits

    return jax.jit(logits)(scorer.weights(), reading, beam)


def test_a_label_scores_by_its_likeness_both_ways():
    scorer = LabelScorer(RELATIONS, hints={}, temperature=0.5, stop=0.25)
    reading = scorer.read(*asked("who directed it", "what languages does it have"))
    assert reading.shape == (2, 3)
    logits = np.asarray(logits_of(scorer, reading, beam_of(np.full((2, 2, 3), -1))))
    assert logits.shape == (2, 2, 7)
    assert np.argmax(reading, axis=1).tolist() == [0, 2]
    np.testing.assert_allclose(logits[:, 1, :3], reading / 0.5, rtol=1e-6)
    np.testing.assert_array_equal(logits[..., :3], logits[..., 3:6])
    assert (logits[..., 6] == 0.5).all()


def test_a_label_that_has_been_taken_scores_nothing_again():
    scorer = LabelScorer(RELATIONS, hints={}, temperature=0.5)
    reading = np.float32([[0.4, 0.8, -0.2], [0.1, 0.2, 0.3]])
    taken = [[[1, -1], [3, 2], [-1, -1]], [[4, -1], [5, -1], [0, 3]]]
    logits = np.asarray(logits_of(scorer, reading, beam_of(taken)))
    for question, place in itertools.product(range(2), range(3)):
        left = reading[question].copy()
        for code in taken[question][place]:
            if code >= 0:
                left[code % 3] = min(left[code % 3], 0)
        expected = np.concatenate([left, left, [scorer.stop]]) / 0.5
        np.testing.assert_allclose(logits[question, place], expected, rtol=1e-6)


def test_scorers_are_for_one_graph():
    LabelScorer(RELATIONS).check(RELATIONS, 9)
    with pytest.raises(JaxkgError, match="labels of 3 relations"):
        LabelScorer(RELATIONS).check(RELATIONS[:2], 2)
    scorer = PlannerScorer(planner(hops=2))
    scorer.check(RELATIONS, 2)
    with pytest.raises(JaxkgError, match="plans at most 2 hops, but the search takes 3"):
        scorer.check(RELATIONS, 3)
    with pytest.raises(JaxkgError, match="another graph"):
        scorer.check(RELATIONS[::-1], 2)


def planner(hops):
    hasher = NgramHasher(buckets=16)
    params = init_planner(3, hops=hops, width=8, buckets=16, key=jax.random.key(0))
    return Planner(params, RELATIONS, hasher, hops, np.ones(16, bool))


def test_confidence_is_the_planners_own_in_the_whole_path_and_the_words_it_knows():
    known = planner(hops=3)
    who = known.hasher.ids("who directed it")[0]
    known = dataclasses.replace(known, seen=np.arange(16) == who)
    scorer = PlannerScorer(known)
    questions, topics = asked("who directed it", "who", "who")
    assert 0 < known.known_share(questions[0].text) < 1 == known.known_share("who")
    paths = np.asarray([[2, 4], [0, -1], [-1, -1]], np.int32)
    got = scorer.confidence(questions, topics, paths)
    params, label_ngrams = scorer.weights()
    labels = jax.jit(label_vectors)(params, label_ngrams)
    for row, steps in enumerate([[2, 4, 6], [0, 6]]):  # the last code is to stop
        reading = jax.jit(read_question)(params, scorer.read(questions, topics)[row])
        taken = np.pad(paths[row], (0, 1), constant_values=-1)
        told = jax.device_get(jax.jit(next_relation_logits)(params, labels, reading, taken))
        expected = np.exp(sum(told[hop, code] for hop, code in enumerate(steps)))
        share = known.known_share(questions[row].text)
        assert got[row] == pytest.approx(expected * share, rel=1e-4)
    assert got[2] == 0


def test_probabilities_are_over_what_can_be_done():
    logits = np.asarray([[[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [9.0, 9.0, 9.0]]], np.float32)
    options = np.asarray([[[True, False], [True, True], [False, False]]])
    may_stop = np.asarray([[True, False, False]])
    got = np.exp(over_options(logits, options, may_stop))
    e = np.exp([1.0, 3.0])
    np.testing.assert_allclose(got[0, 0], [e[0] / e.sum(), 0, e[1] / e.sum()], rtol=1e-6)
    np.testing.assert_allclose(got[0, 1], [0.5, 0.5, 0], rtol=1e-6)
    assert (got[0, 2] == 0).all()


def test_a_super_relation_scores_the_probability_of_its_members():
    beam = beam_of(
        np.full((1, 3, 2), -1), score=np.log([[0.5, 0.25, 0.25]]), finished=[[False, False, True]]
    )
    table = np.log(np.float32([[[0.1, 0.2, 0.3, 0.4, 0.9]] * 2 + [[1.0] * 5]]))
    got = grouped(beam, table, np.asarray([0, 1, 1, 2], np.int32), 3)
    # Relative to the best open path: 1 and 1/2; the finished one goes nowhere.
    np.testing.assert_allclose(got[0], 1.5 * np.asarray([0.1, 0.5, 0.4]), rtol=1e-6)
