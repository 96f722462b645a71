"""The training loop beside a plain one, stopped anywhere, selecting, keeping."""

import functools
import json
import signal

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.learn.checkpoint import fingerprint, load_state, save_state
from jaxkg.learn.loop import Checkpoints, Selection, in_batches, program, run, shuffled
from jaxkg.storage import write_npz

pytestmark = pytest.mark.usefixtures("standard_promotion")  # of optax

TARGET = np.asarray([1.0, -2.0, 3.0], np.float32)
STEPS = 12


@functools.cache
def descent():
    def loss(weights, noise):
        return jnp.sum((weights["w"] - TARGET + noise) ** 2)

    return program(loss, optax.adam(0.3))


def batches(seed=0):
    draw = np.random.default_rng(seed)
    for _ in range(STEPS):
        yield (draw.normal(scale=0.1, size=3).astype(np.float32),)


def train(folder=None, mark=(), **options):
    state = descent().init({"w": jnp.zeros(3)})
    options["checkpoints"] = Checkpoints(folder, dict(mark))
    options = {"steps": STEPS, "per_epoch": 4, **options}
    return run(descent().step, state, options.pop("batches", batches)(), **options)


@functools.cache
def plain():
    """Weights before and after each step, and losses, without the loop."""
    optimiser, weights = optax.adam(0.3), {"w": jnp.zeros(3)}
    moments, passed, losses = optimiser.init(weights), [weights], []

    @jax.jit
    def step(weights, moments, noise):
        value, gradient = jax.value_and_grad(lambda w: jnp.sum((w["w"] - TARGET + noise) ** 2))(
            weights
        )
        updates, moments = optimiser.update(gradient, moments, weights)
        return optax.apply_updates(weights, updates), moments, value

    for (noise,) in batches():
        weights, moments, value = step(weights, moments, noise)
        passed.append(weights)
        losses.append(float(value))
    return passed, losses


def test_it_is_a_plain_loop():
    epochs, kept = [], []
    start = {"w": jnp.zeros(3)}
    found = run(
        descent().step, descent().init(start), batches(), steps=STEPS, per_epoch=5,
        on_epoch=lambda *told: epochs.append(told),
        checkpoints=Checkpoints(every=6, on_keep=lambda *told: kept.append(told)),
    )  # fmt: skip
    passed, losses = plain()
    np.testing.assert_allclose(found.weights["w"], passed[-1]["w"], rtol=1e-5)
    np.testing.assert_allclose(found.losses, losses, rtol=1e-4)
    assert [epoch for epoch, *_ in epochs] == [1, 2, 3]
    assert epochs[2][1] == pytest.approx(np.mean(found.losses[10:]))
    assert np.isnan(epochs[0][2])
    assert kept == [(6, found.losses[5]), (12, found.losses[11])]
    np.testing.assert_array_equal(start["w"], 0)  # what was given is still there


@pytest.mark.parametrize("stop", [1, 4, 6, 12])
def test_a_stopped_run_goes_on_bit_for_bit(tmp_path, stop, interruptible):
    selection = Selection(lambda weights: float(weights["w"][0]), patience=9)
    whole = train(selection=selection)
    folder, mark = tmp_path / "run", {"seed": 0}
    interrupt = functools.partial(signal.raise_signal, signal.SIGINT)

    def halt(done):
        if done == stop:
            interrupt()

    with pytest.raises(KeyboardInterrupt):
        train(selection=selection, folder=folder, mark=mark, on_step=halt)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    taken = []
    again = train(selection=selection, folder=folder, mark=mark, on_step=taken.append)
    assert taken == list(range(stop + 1, STEPS + 1))
    assert (again.losses, again.scores, again.best) == (whole.losses, whole.scores, whole.best)
    for one, other in zip(jax.tree.leaves(again), jax.tree.leaves(whole), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(JaxkgError, match=r"another run \(its seed differ"):
        train(selection=selection, folder=folder, mark={"seed": 1})


@pytest.mark.parametrize(
    ("scores", "options", "steps", "best"),
    [
        ([0.1, 0.3, 0.2], {"patience": 9}, 12, (8, 0.3)),
        ([0.3, 0.1, 0.2], {"patience": 2}, 12, (4, 0.3)),
        ([0.3, 0.1, 0.9], {"patience": 1}, 8, (4, 0.3)),
        ([0.3, 0.1, 0.9], {"patience": 1, "warm_up": 8}, 12, (12, 0.9)),
        ([0.3, 0.35, 0.2], {"patience": 9, "margin": 0.1}, 12, (4, 0.3)),
        ([0.3, 1.0, 0.2], {"patience": 9, "enough": 1.0}, 8, (8, 1.0)),
        ([-5.0, -6.0, -7.0], {"patience": 9}, 12, (0, -1.0)),
    ],
)
def test_the_best_epoch_is_kept(scores, options, steps, best):
    left = iter(scores)
    found = train(selection=Selection(lambda weights: next(left), **options))
    assert (len(found.losses), found.best) == (steps, best)
    assert [score for _, score in found.scores] == scores[: steps // 4]
    np.testing.assert_allclose(found.weights["w"], plain()[0][best[0]]["w"], rtol=1e-5, atol=1e-6)


def test_an_overflow_is_remembered():
    def loss(weights, noise):
        return jnp.sum((weights["w"] - noise) ** 2), noise[0] > 0.1

    over = program(loss, optax.sgd(0.1), overflows=True)

    def overflows(*values):
        noise = [(np.full(3, value, np.float32),) for value in values]
        state, seen = over.init({"w": jnp.zeros(3)}), []

        def check(state):
            seen.append(bool(state[2]))

        run(over.step, state, noise, steps=3, per_epoch=3, checkpoints=Checkpoints(check=check))
        return seen

    assert overflows(0.0, 0.0, 0.0) == [False]
    assert overflows(0.0, 0.2, 0.0) == [True]


def test_other_folders_are_refused(tmp_path):
    tree = {"key": jax.random.key(3), "w": jnp.ones(2, jnp.bfloat16)}
    save_state(tmp_path / "run", tree, [1.0, 0.5], [(2, 0.25)], mark={"a": [1]})
    kept = load_state(tmp_path / "run", tree, mark={"a": (1,)})
    assert kept is not None
    assert kept[1:] == ([1.0, 0.5], [(2, 0.25)])
    assert fingerprint(kept[0]) == fingerprint(tree) != fingerprint(tree["w"])
    assert kept[0]["w"].dtype == jnp.bfloat16
    assert load_state(tmp_path / "nowhere", tree, mark={}) is None
    with pytest.raises(JaxkgError, match=r"another model: .*disagree"):
        load_state(tmp_path / "run", {**tree, "w": jnp.ones(3)}, mark={"a": [1]})
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "training.json").touch()
    with pytest.raises(JaxkgError, match=r"other files \(training\.json\)"):
        load_state(tmp_path / "old", tree, mark={})
    path = tmp_path / "run" / "state.npz"
    told = np.frombuffer(
        json.dumps({"format": "x", "version": 1, "mark": {}, "scores": []}).encode(), np.uint8
    )
    write_npz(path, {"about": told, "losses": np.zeros(1)})
    with pytest.raises(JaxkgError, match="is x version 1"):
        load_state(tmp_path / "run", tree, mark={})
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(JaxkgError, match="damaged"):
        load_state(tmp_path / "run", tree, mark={})


def test_batches_cover_an_epoch_in_an_order_of_its_own():
    rows = list(shuffled(5, 2, epochs=2, seed=0))
    assert len(rows) == 6
    for epoch in (rows[:3], rows[3:]):
        assert set(np.concatenate(epoch).tolist()) == set(range(5))
        assert epoch[2][1] == epoch[0][0]
    assert np.concatenate(rows[:3]).tolist() != np.concatenate(rows[3:]).tolist()
    assert in_batches(np.asarray([7]), 3).tolist() == [[7, 7, 7]]
