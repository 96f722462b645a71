"""Training of the path priority: the loss by hand, learning, and going on where it stopped."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from dated_films import films
from priority_twin import all_walks
from random_graphs import random_graph_from

from jaxkg.errors import JaxkgError
from jaxkg.learn.priority.fit import fit_priority
from jaxkg.learn.priority.model import entity_features
from jaxkg.learn.priority.subgraphs import subgraph_sizes
from jaxkg.learn.priority.train import (
    PriorityConfig,
    path_loss,
    priority_loss,
)
from jaxkg.learn.supervision import Training
from jaxkg.records import Question
from jaxkg.score.priority import Question as Read
from jaxkg.score.priority_params import PrioritySizes, init_priority
from jaxkg.settings import settings_made
from jaxkg.tensors import tensor_graph
from jaxkg.text.hashing import HashingEncoder

loss_of = jax.jit(priority_loss, static_argnames=("num_questions", "balanced"))
CONFIG = PriorityConfig(
    batch_size=8, epochs=12, learning_rate=0.02, dropout=0.0, checkpoint_every=25
)


def asked(count=12):
    out = []
    for n in range(count):
        rows = (
            (f"who directed film {n}", f"person {n % 5}"),
            (f"when was film {n} released", str(1990 + n % 3)),
            (f"where was the director of film {n} born", f"town {n % 2}"),
        )
        for kind, (text, answer) in enumerate(rows):
            begin = text.index("film")
            out.append(
                Question(
                    f"{kind}-{n}",
                    text,
                    topics=(f"film {n}",),
                    answers=(answer,),
                    mention=(begin, begin + len(f"film {n}")),
                )
            )
    return out


def fit(config=CONFIG, **options):
    kg = films()
    with jax.numpy_dtype_promotion("standard"):
        return fit_priority(
            kg, tensor_graph(kg), asked(), config=config, hops=2, training=Training(3, **options)
        )


@pytest.fixture(scope="module")
def fitted():
    return fit()


def test_the_loss_balances_answers_and_others():
    logit = jnp.asarray([2.0, -1.0, 0.5, 0.5, 3.0, 9.0, 1.0])
    row = jnp.asarray([0, 0, 0, 0, 1, 1, 2])
    right = jnp.asarray([True, True, False, False, False, False, True])
    wrong = jnp.asarray([False, False, True, True, True, False, False])
    found = loss_of(logit, row, right, wrong, num_questions=4, sharpness=1.0)
    plus = np.log1p(np.exp(-np.asarray([2.0, -1.0, 1.0])))
    minus = np.log1p(np.exp(0.5))
    # Question 1 has no answer in reach and does not count; the slot of 9 is neither.
    want = ((plus[0] + plus[1]) / 2 + minus + plus[2]) / 2
    np.testing.assert_allclose(found, want, rtol=1e-5)


def test_the_loss_as_printed_counts_every_entity_alike():
    logit = jnp.asarray([2.0, 0.5, 0.1, 3.0, 9.0])
    row = jnp.asarray([0, 0, 0, 1, 1])
    right = jnp.asarray([True, False, False, False, False])
    wrong = jnp.asarray([False, True, True, True, False])
    found = loss_of(logit, row, right, wrong, num_questions=2, sharpness=1.0, balanced=False)
    # Eq. 6 of the question with an answer, a mean over its three entities.
    want = np.log1p(np.exp(np.asarray([-2.0, 0.5, 0.1]))).mean()
    np.testing.assert_allclose(found, want, rtol=1e-5)


def test_wrong_entities_weigh_by_how_high_they_stand():
    row, right = jnp.zeros(3, jnp.int32), jnp.asarray([True, False, False])
    logit = jnp.asarray([0.0, 2.0, -4.0])

    def loss(logit, sharpness):
        return loss_of(logit, row, right, ~right, num_questions=1, sharpness=sharpness)

    slope = jax.jit(jax.grad(loss))
    even, sharp = (np.asarray(slope(logit, sharpness)) for sharpness in (0.0, 1.0))
    sigmoid = 1 / (1 + np.exp(-np.asarray(logit)))
    np.testing.assert_allclose(even, [-0.5, sigmoid[1] / 2, sigmoid[2] / 2], rtol=1e-5)
    share = 1 / (1 + np.exp(-6.0))
    np.testing.assert_allclose(
        sharp, [-0.5, share * sigmoid[1], (1 - share) * sigmoid[2]], rtol=1e-4
    )


def test_given_paths_are_followed_in_either_direction():
    rng = np.random.default_rng(0)
    weight = rng.dirichlet(np.ones(6), (3, 2)).astype(np.float32)
    length = rng.dirichlet(np.ones(2), 3).astype(np.float32)
    paths = np.asarray([[[2, 0], [1, -1]], [[0, -1], [-1, -1]], [[-1, -1], [-1, -1]]], np.int32)
    found = jax.jit(path_loss)(Read(weight, length, jnp.zeros(()), jnp.zeros(())), paths)
    both = weight[:, :, :3] + weight[:, :, 3:]
    first = both[0, 0, 2] * both[0, 1, 0] * length[0, 1] + both[0, 0, 1] * length[0, 0]
    second = both[1, 0, 0] * length[1, 0]
    np.testing.assert_allclose(found, -(np.log(first) + np.log(second)) / 2, rtol=1e-5)
    assert path_loss(Read(weight, length, jnp.zeros(()), jnp.zeros(())), paths[:, :0]) == 0.0


@pytest.mark.parametrize("revisit", ["topic", "any"])
def test_sizes_are_what_a_subgraph_wants(revisit):
    graph = random_graph_from(4)
    topics, edges = [[0], [], [3, 5]], graph.facts.edges
    found = subgraph_sizes(graph.tensors, topics, hops=2, fan_out=99, revisit=revisit)
    for row, some in enumerate(topics):
        walks = all_walks(edges, some, 2, revisit)
        for hop in (0, 1):
            nodes = set(some) if hop == 0 else {edges[w[0]][2] for w in walks if len(w) == 1}
            runs = {(head, code) for head, code, _ in edges if head in nodes}
            leaving = sum(head in nodes for head, _, _ in edges)
            assert found[row, 2 * hop : 2 * hop + 2].tolist() == [len(runs), leaving]


@pytest.mark.slow
def test_it_learns_relations_and_lengths_from_answers_alone(fitted):
    model, report = fitted
    assert report.trained_on == 36
    assert report.without_answer == report.without_topic == report.too_large == 0
    assert report.losses[-1] < 0.1 < report.losses[0]
    assert model.about["revisit"] == "topic"


@pytest.mark.slow
def test_a_stopped_training_goes_on_bit_for_bit(fitted, tmp_path):
    model, report = fitted
    stopped = []

    def stop(stage, done, total):
        if stage == "train" and done == 31 and not stopped:
            stopped.append(done)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(folder=tmp_path, on_progress=stop)
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == ["state.npz"]
    again, continued = fit(folder=tmp_path)
    assert continued.losses == report.losses
    for one, other in zip(jax.tree.leaves(again.params), jax.tree.leaves(model.params)):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(JaxkgError, match=r"another run \(its config differ"):
        fit(dataclasses.replace(CONFIG, dropout=0.2), folder=tmp_path)


@pytest.mark.slow
def test_learned_states_tie_the_model_to_its_graph():
    model, report = fit(dataclasses.replace(CONFIG, epochs=1, transductive=True))
    assert model.graph == films().fingerprint
    assert model.params.entities.entity.shape[0] == tensor_graph(films()).graph.num_nodes
    assert np.isfinite(report.losses).all()


@pytest.mark.slow
def test_paths_teach_questions_that_the_graph_cannot_answer():
    told = [dataclasses.replace(q, paths=(("directed_by",),), answers=()) for q in asked()[:6]]
    other = [dataclasses.replace(q, paths=(("composed_by",),), answers=()) for q in asked()[:6]]
    kg, config = films(), dataclasses.replace(CONFIG, epochs=3)
    with jax.numpy_dtype_promotion("standard"):
        _, report = fit_priority(
            kg, tensor_graph(kg), told + other, config=config, hops=2, use_paths=True
        )
    assert report.trained_on == 6
    assert report.losses[-1] < report.losses[0]
    with pytest.raises(JaxkgError, match="nothing to train on"):
        fit_priority(kg, tensor_graph(kg), told)


def test_names_become_features_in_any_chunks():
    kg = films()
    table = entity_features(kg, HashingEncoder(), rows=64, width=16)
    assert table.shape == (64, 16)
    assert not table[kg.num_entities :].any()
    same = table[kg.entity("film 1")] @ table[kg.entity("film 2")]
    other = table[kg.entity("film 1")] @ table[kg.entity("person 2")]
    assert same > other


def test_nothing_to_train_on_is_told():
    kg = films()
    with pytest.raises(JaxkgError, match="no questions"):
        fit_priority(kg, tensor_graph(kg), [])
    with pytest.raises(JaxkgError, match="nothing to train on"):
        fit_priority(kg, tensor_graph(kg), [Question("q", "who", topics=("film 1",), answers=())])


def test_the_papers_d_is_a_vector_of_the_questions_size():
    """PathMind, Eq. 3 to 5: `[d, q]` goes into a network, and d is to be near q."""
    config = settings_made(PriorityConfig, {"preset": "paper"})
    assert config.heads == PrioritySizes.state
    sizes = PrioritySizes(hops=2, buckets=4, heads=config.heads)
    params = jax.eval_shape(lambda: init_priority(3, sizes, key=jax.random.key(0)))
    assert params.future.out.shape[1] - 2 == params.cost.ask.shape[1]
    with pytest.raises(JaxkgError, match="heads"):
        settings_made(PriorityConfig, {"preset": "paper", "heads": "0"})
