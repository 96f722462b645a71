import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.learn.loop import Program, program
from jaxkg.learn.mine import mine_paths
from jaxkg.learn.planner import train as training_of_planners
from jaxkg.learn.planner.train import (
    Examples,
    PlannerConfig,
    expected_f1,
    held_out_f1,
    marginal_log_likelihood,
    mined_log_probabilities,
    train_planner,
)
from jaxkg.learn.words import label_table, question_table
from jaxkg.score.planner import (
    init_planner,
    label_vectors,
    path_log_probability,
    read_question,
)
from jaxkg.tensors import edge_tables
from jaxkg.text import NgramHasher
from jaxkg.words import TOPIC_WORD

mined, expectation = jax.jit(mined_log_probabilities), jax.jit(expected_f1)
likelihood = jax.jit(marginal_log_likelihood, static_argnames="temperature")
BUCKETS = 256
SMALL = PlannerConfig(hops=2, width=16, batch_size=16, epochs=12, learning_rate=0.03, patience=12)


def test_marginal_likelihood_by_hand():
    p = np.log(np.float32([[0.5, 0.2, 0.1], [0.5, 0.2, 0.1], [0.5, 0.2, 0.1]]))
    f1 = np.float32([[1.0, 1.0, 0.0], [0.8, 0.5, 0.2], [0.0, 0.0, 0.0]])
    got = likelihood(p, f1, temperature=0.1)
    second = 0.5 + 0.2 * math.exp(-3.0) + 0.1 * math.exp(-6.0)
    np.testing.assert_allclose(got, [math.log(0.7), math.log(second), 0.0], rtol=1e-5)


def test_expected_f1_by_hand():
    p = np.log(np.float32([[0.5, 0.2, 0.1], [0.5, 0.2, 0.1]]))
    f1 = np.float32([[1.0, 0.5, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(expectation(p, f1), [0.6, 0.0], rtol=1e-6)
    # A path that was not mined counts for nothing, however its log-probability came out.
    p[:, 2] = np.nan
    np.testing.assert_allclose(expectation(p, f1), [0.6, 0.0], rtol=1e-6)


def test_the_likelihood_has_a_gradient_also_where_nothing_is_right():
    f1 = np.float32([[1.0, 0.0], [0.0, 0.0]])
    gradient = jax.jit(jax.grad(lambda p: likelihood(p, f1, temperature=0.05).sum()))
    np.testing.assert_allclose(
        gradient(np.full((2, 2), -1.0, np.float32)), [[1.0, 0.0], [0.0, 0.0]]
    )


def test_log_probabilities_of_mined_paths_are_those_of_each_path():
    params = init_planner(2, hops=2, width=8, buckets=32, key=jax.random.key(0))
    labels = jnp.asarray([[1, 2], [3, -1]], jnp.int32)
    ngrams = jnp.asarray([[4, 5, -1], [6, -1, -1]], jnp.int32)
    paths = jnp.asarray([[[0, 3], [1, -1]], [[-1, -1], [2, 2]]], jnp.int32)
    got = mined(params, labels, ngrams, paths)

    @jax.jit
    def one(words, path):
        reading = read_question(params, words)
        return path_log_probability(params, label_vectors(params, labels), reading, path)

    for question, place in itertools.product(range(2), range(2)):
        expected = one(ngrams[question], paths[question, place])
        assert float(got[question, place]) == pytest.approx(float(expected), abs=1e-5)


FILMS, RELATIONS = 24, ("directed_by", "starring", "genre", "written_by")
WORDINGS = {
    (0,): ["who directed {}", "name the director of {}", "{} was directed by whom"],
    (1,): ["who acts in {}", "which people star in {}", "cast of {}"],
    (4,): ["which movies did {} direct", "films directed by {}", "what has {} directed"],
    (5, 0): ["who directed the movies starring {}", "directors of the films of actor {}"],
}


@pytest.fixture(scope="module")
def film_task():
    """Questions of four meanings with their answers; no path is ever told."""
    rng = np.random.default_rng(5)
    triples = []
    for film in range(FILMS):
        director, writer = FILMS + rng.integers(10, size=2)
        # Most films are written by who directs them: their answers cannot tell the two apart.
        triples += [(film, 0, director), (film, 3, director if rng.random() < 0.7 else writer)]
        triples += [(film, 1, FILMS + 10 + a) for a in rng.choice(12, 2, replace=False)]
        triples.append((film, 2, FILMS + 22 + rng.integers(3)))
    triples = np.unique(np.asarray(triples, np.int32), axis=0)
    tensors = edge_tables(triples, FILMS + 25, len(RELATIONS))

    def step(nodes, code):
        here = np.isin(tensors.head, sorted(nodes)) & (tensors.relation == code)
        return set(tensors.tail[here].tolist())

    hasher = NgramHasher(buckets=BUCKETS)
    texts, topics, answers, meant = [], [], [], []
    for path, wordings in WORDINGS.items():
        for topic in range(FILMS + 25):
            reached = {topic}
            for code in path:
                reached = step(reached, code)
            if reached - {topic}:
                texts.append(wordings[topic % len(wordings)].format(TOPIC_WORD))
                topics.append([topic])
                answers.append(sorted(reached - {topic}))
                meant.append(path)
    mined = mine_paths(tensors, topics, answers, hops=SMALL.hops, keep=8)
    examples = Examples(question_table(hasher, texts), mined.relations, mined.f1)
    shuffled = rng.permutation(len(texts))
    cut = len(texts) // 4
    parts = (Examples(*(part[some] for part in examples)) for some in np.split(shuffled, [cut]))
    return label_table(hasher, RELATIONS), *parts, [meant[i] for i in shuffled[:cut]]


@pytest.fixture(scope="module")
def trained(film_task):
    labels, held_out, training, _ = film_task
    told = []
    with jax.numpy_dtype_promotion("standard"):
        params, score, _ = train_planner(
            labels,
            training,
            held_out,
            SMALL,
            buckets=BUCKETS,
            seed=1,
            on_epoch=lambda *epoch: told.append(epoch),
        )
    return params, score, told


def test_training_learns_the_meaning_from_answers_alone(film_task, trained):
    labels, held_out, training, meant = film_task
    params, score, told = trained
    # Answers alone leave it open: many questions have several paths that reach them exactly.
    assert ((training.f1 == 1.0).sum(axis=1) > 1).mean() > 0.2
    assert [epoch for epoch, _, _ in told] == list(range(1, len(told) + 1))
    assert score == pytest.approx(max(f1 for _, _, f1 in told))
    assert told[-1][1] < told[0][1] / 3
    assert score > 0.9
    assert held_out_f1(params, labels, held_out) == pytest.approx(score)

    paths = [p for n in range(SMALL.hops + 1) for p in itertools.product(range(8), repeat=n)]
    table = np.asarray([[*p, *[-1] * (SMALL.hops - len(p))] for p in paths], np.int32)
    every = np.broadcast_to(table, (len(meant), *table.shape))
    best = np.argmax(mined(params, labels, held_out.ngrams, every), axis=1)
    right = [paths[i] == path for i, path in zip(best, meant)]
    assert np.mean(right) > 0.95


@pytest.mark.slow
@pytest.mark.usefixtures("standard_promotion")
def test_training_by_rows_is_training_on_the_whole_table(film_task, monkeypatch):
    """Beside plain Adam, which reads the same rows of all of the table."""

    def plain(loss, *, table, schedule, steps):
        def of_all(weights, rows, *batch):
            return loss(weights._replace(ngram=weights.ngram.at[rows].get(mode="clip")), *batch)

        descent = program(of_all, optax.adam(schedule))
        return Program(descent.init, lambda state, whole, *batch: descent.step(state, *batch))

    labels, held_out, training, _ = film_task
    config = PlannerConfig(hops=2, width=8, batch_size=64, epochs=2)
    buckets = 4 * BUCKETS
    few, score, _ = train_planner(labels, training, held_out, config, buckets=buckets, seed=1)
    named = {int(n) for part in (labels, training.ngrams, held_out.ngrams) for n in np.unique(part)}
    moved = np.flatnonzero(np.asarray(few.ngram).any(axis=1))
    assert set(moved.tolist()) == named - {-1}
    make = training_of_planners._program.__wrapped__
    monkeypatch.setattr(training_of_planners, "row_program", plain)
    monkeypatch.setattr(training_of_planners, "_program", make)
    whole, whole_score, _ = train_planner(
        labels, training, held_out, config, buckets=buckets, seed=1
    )
    assert score == pytest.approx(whole_score, rel=1e-4)
    for one, other in zip(few, whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)


@pytest.mark.usefixtures("standard_promotion")
def test_without_improvement_training_stops_and_keeps_the_best(film_task):
    labels, held_out, training, _ = film_task
    config = PlannerConfig(
        hops=2, width=8, batch_size=32, epochs=9, patience=2, learning_rate=1e-30
    )
    told = []
    params, score, _ = train_planner(
        labels,
        training,
        held_out,
        config,
        buckets=BUCKETS,
        seed=5,
        on_epoch=lambda *epoch: told.append(epoch),
    )
    assert len(told) == 3
    assert score == pytest.approx(told[0][2])
    assert held_out_f1(params, labels, held_out) == pytest.approx(score)
    assert np.abs(params.previous).max() < 1e-20  # as they were


@pytest.mark.slow
@pytest.mark.usefixtures("standard_promotion")
def test_patience_does_not_count_while_the_rate_rises(film_task):
    labels, held_out, training, _ = film_task
    config = PlannerConfig(
        hops=2, width=8, batch_size=64, epochs=40, patience=2, learning_rate=1e-30
    )
    epochs = train_planner(labels, training, held_out, config, buckets=BUCKETS).epochs
    assert len(epochs) == 4 + 2, "a tenth of the epochs, and as many as it is patient"


def test_held_out_f1_is_the_mean_over_all_batches(film_task):
    labels, held_out, _, _ = film_task
    params = init_planner(4, hops=2, width=8, buckets=BUCKETS, key=jax.random.key(3))
    log_p = mined(params, labels, held_out.ngrams, held_out.paths)
    mean = float(np.mean(expectation(log_p, held_out.f1)))
    assert held_out_f1(params, labels, held_out) == pytest.approx(mean, rel=1e-4)
    assert held_out_f1(params, labels, held_out, batch_size=7) == pytest.approx(mean, rel=1e-4)
    nothing = Examples(*(part[:0] for part in held_out))
    assert held_out_f1(params, labels, nothing) == 0.0


def test_questions_without_any_path_are_refused(film_task):
    labels, held_out, training, _ = film_task
    hopeless = training._replace(f1=np.zeros_like(training.f1))
    with pytest.raises(JaxkgError, match="no relation path leads from a topic to an answer"):
        train_planner(labels, hopeless, held_out, SMALL, buckets=BUCKETS)
    nothing = Examples(*(part[:0] for part in training))
    with pytest.raises(JaxkgError, match="no relation path"):
        train_planner(labels, nothing, held_out, SMALL, buckets=BUCKETS)
