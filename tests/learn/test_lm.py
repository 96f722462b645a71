"""Training learns, is stopped and goes on exactly, and gives the same on many devices."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from lm_twin import tokenizer

from jaxkg.errors import JaxkgError
from jaxkg.learn.lm import TrainConfig, align, train
from jaxkg.lm import Example, LanguageModel, LMConfig, generate
from jaxkg.lm.checkpoint import named_tensors
from jaxkg.lm.lora import init_lora, merge

pytestmark = pytest.mark.usefixtures("standard_promotion")

TINY = LMConfig(
    vocab_size=304,
    hidden_size=16,
    intermediate_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=8,
)
SHORT = TrainConfig(epochs=4, length=16, batch_size=4, learning_rate=1e-2, every=3)
LORA = dataclasses.replace(SHORT, lora_rank=2, epochs=2)


@pytest.fixture(scope="module")
def language():
    return LanguageModel.create(tokenizer(), TINY, seed=1)


@pytest.fixture(scope="module")
def examples():
    """After (10 + i, 20 + j) comes (40 + j, 60 + i) and the end."""
    return [Example((10 + i, 20 + j), (40 + j, 60 + i, 299)) for i in range(5) for j in range(5)]


@pytest.fixture(scope="module")
def trained(language, examples, tmp_path_factory):
    with jax.numpy_dtype_promotion("standard"):
        folder = tmp_path_factory.mktemp("trained") / "run"
        return train(language, examples, config=SHORT, checkpoints=folder), folder


@pytest.fixture(scope="module")
def trained_lora(language, examples):
    with jax.numpy_dtype_promotion("standard"):
        return train(language, examples, config=LORA)


def weights_of(language):
    return dict(named_tensors(language.model))


def test_training_learns_and_leaves_its_start_alone(language, examples):
    before = weights_of(language)
    config = dataclasses.replace(SHORT, epochs=30)
    trained = train(language, examples, config=config)
    assert len(trained.losses) == 30 * 3  # 125 tokens in nine rows of 15
    assert trained.losses[-1] < 0.05 < 5 < trained.losses[0]
    prompts = [example.prompt for example in examples]
    found = generate(trained.language.model, prompts, end=[299], max_tokens=8)
    assert [each.tokens for each in found] == [example.answer[:-1] for example in examples]
    for name, array in weights_of(language).items():
        np.testing.assert_array_equal(array, before[name])


class Killed(Exception):
    pass


@pytest.mark.parametrize(
    "config",
    [pytest.param(SHORT, marks=pytest.mark.slow, id="all weights"), pytest.param(LORA, id="lora")],
)
def test_a_run_that_is_killed_goes_on_bit_for_bit(
    language, examples, tmp_path, trained, trained_lora, config
):
    def kill(done, steps, loss):
        if done == 3:
            raise Killed

    whole = trained[0] if config == SHORT else trained_lora
    with pytest.raises(Killed):
        train(language, examples, config=config, checkpoints=tmp_path / "run", on_progress=kill)
    told = []
    again = train(
        language,
        examples,
        config=config,
        checkpoints=tmp_path / "run",
        on_progress=lambda *args: told.append(args[:2]),
    )
    assert told[0] == (6, len(whole.losses))  # steps 1 to 3 were not done again
    assert again.losses == whole.losses
    for name, array in weights_of(again.language).items():
        np.testing.assert_array_equal(array, weights_of(whole.language)[name])


def test_a_folder_serves_one_run(language, examples, trained, tmp_path):
    _, folder = trained
    for change in ({"learning_rate": 2e-2}, {"lora_rank": 2}):
        with pytest.raises(JaxkgError, match=r"another run \(its config differ"):
            train(
                language,
                examples,
                config=dataclasses.replace(SHORT, **change),
                checkpoints=folder,
            )
    with pytest.raises(JaxkgError, match="its examples, seed differ"):
        train(language, examples[1:], config=SHORT, checkpoints=folder, seed=1)
    (tmp_path / "notes.txt").touch()
    with pytest.raises(JaxkgError, match="other files"):
        train(language, examples, config=SHORT, checkpoints=tmp_path)
    (folder.parent / "bad").mkdir()
    (folder.parent / "bad" / "state.npz").write_bytes(b"x" * 64)
    with pytest.raises(JaxkgError, match="damaged"):
        train(language, examples, config=SHORT, checkpoints=folder.parent / "bad")


def test_lora_is_merged_and_taken_off_again(language):
    graphdef, weights = nnx.split(language.model)
    lora = init_lora(weights, rank=3, key=jax.random.key(0))
    for name, array in dict(named_tensors(nnx.merge(graphdef, merge(weights, lora)))).items():
        np.testing.assert_array_equal(array, weights_of(language)[name])  # changes nothing yet
    draw = np.random.default_rng(0)
    lora = jax.tree.map(lambda a: jnp.asarray(draw.normal(size=a.shape), jnp.float32), lora)
    merged = merge(weights, lora, alpha=6.0)
    first, second = (np.asarray(part, np.float64)[1] for part in lora["down"])
    np.testing.assert_allclose(
        np.asarray(merged["layers"]["down"][...][1]),
        np.asarray(weights["layers"]["down"][...][1]) + 2.0 * first @ second,
        atol=1e-5,
    )
    after, before = dict(named_tensors(nnx.merge(graphdef, merged))), weights_of(language)
    changed = {name for name in after if (after[name] != before[name]).any()}
    assert changed == {name for name in after if "_proj" in name}
    back = merge(merged, lora, alpha=-6.0)
    for one, other in zip(jax.tree.leaves(back), jax.tree.leaves(weights)):
        np.testing.assert_allclose(one, other, atol=1e-5)
    with pytest.raises(JaxkgError, match="rank is at least 1"):
        init_lora(weights, rank=0, key=jax.random.key(0))


def test_lora_trains_the_change_alone(language, trained_lora):
    trained = trained_lora
    assert trained.losses[-1] < trained.losses[0] - 0.3
    assert trained.lora is not None
    graphdef, weights = nnx.split(language.model)
    whole = nnx.merge(graphdef, merge(weights, trained.lora, alpha=LORA.lora_alpha))
    before = weights_of(language)
    for name, array in dict(named_tensors(whole)).items():
        np.testing.assert_array_equal(array, weights_of(trained.language)[name])
        assert ("norm" in name or "embed" in name or "head" in name) == np.array_equal(
            array, before[name]
        )


def test_preferences_are_learnt_against_the_start(language, examples):
    pairs = [
        (Example(one.prompt, one.answer), Example(one.prompt, (*one.answer[1::-1], 299)))
        for one in examples[:12]
    ]
    config = dataclasses.replace(SHORT, epochs=10, learning_rate=3e-3)
    trained = align(language, pairs, config=config)
    np.testing.assert_allclose(trained.losses[0], np.log(2), rtol=1e-4)  # nothing left it yet
    assert trained.losses[-1] < 0.3


@pytest.mark.slow
def test_bfloat16_products_train_float32_weights(language, examples, trained):
    found = train(language, examples, config=dataclasses.replace(SHORT, dtype="bfloat16"))
    assert found.language.model.embedding[...].dtype == jnp.float32
    difference = np.abs(np.subtract(found.losses, trained[0].losses))
    assert 0 < difference.max() < 0.15
