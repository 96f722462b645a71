"""Checkpoints in the Hugging Face layout, and what the model computes from them."""

import json

import jax.numpy as jnp
import numpy as np
import pytest
from lm_twin import LLAMA, QWEN, QWEN3, checkpoint, tokenizer, twin, write_folder

from jaxkg.errors import JaxkgError
from jaxkg.lm import LanguageModel, LMConfig
from jaxkg.lm.checkpoint import load_llama, named_tensors
from jaxkg.lm.model import causal_mask

TEXTS = [[3, 9, 1, 22, 5, 7, 290, 11, 40, 2], [7], [31, 2, 2, 30]]


def logits(model, texts, width=10, filler=0):
    ids, segment = np.full((3, width), filler, np.int32), np.full((3, width), -1, np.int32)
    for row, text in enumerate(texts):
        ids[row, : len(text)], segment[row, : len(text)] = text, 0
    places = np.broadcast_to(np.arange(width, dtype=np.int32), ids.shape)
    states, _ = model(jnp.asarray(ids), jnp.asarray(places), causal_mask(jnp.asarray(segment)))
    return model.logits(states)


@pytest.mark.parametrize(
    ("config", "files"), [(LLAMA, 1), (QWEN, 3), (QWEN3, 1)], ids=["llama", "qwen2", "qwen3"]
)
def test_a_folder_gives_the_twins_logits_whatever_pads_them(tmp_path, config, files):
    tensors = checkpoint(config)
    write_folder(tmp_path, config, tensors, files)
    language = LanguageModel.open(tmp_path)
    assert language.config == config
    assert language.tokenizer.decode(language.tokenizer.encode("Ridley Scott")) == "Ridley Scott"
    for filler in (0, 17):
        found = logits(language.model, TEXTS, filler=filler)
        for row, text in enumerate(TEXTS):
            expected = twin(config, tensors, text)
            np.testing.assert_allclose(found[row, : len(text)], expected, atol=2e-5, rtol=2e-5)


def test_what_is_saved_is_what_is_opened(tmp_path):
    tensors = checkpoint(LLAMA)
    model = load_llama(LLAMA, tensors, dtype="bfloat16")
    LanguageModel(model, tokenizer(), {"prompts": "compact"}).save(tmp_path / "mine")
    again = LanguageModel.open(tmp_path / "mine")
    assert again.config == LLAMA
    assert (again.about, again.name) == ({"prompts": "compact"}, "mine")
    first, second = dict(named_tensors(model)), dict(named_tensors(again.model))
    assert first.keys() == second.keys() == tensors.keys()
    for name, array in first.items():
        assert array.dtype == second[name].dtype == jnp.bfloat16
        np.testing.assert_array_equal(array, second[name])
        np.testing.assert_allclose(array.astype(np.float32), tensors[name], rtol=0.01)
    wide = LanguageModel.open(tmp_path / "mine", dtype="float32").model
    assert wide.embedding[...].dtype == jnp.float32
    assert not list((tmp_path / "mine").glob("*.tmp"))


def test_bfloat16_stays_near_its_twin():
    tensors = checkpoint(QWEN)
    found = np.asarray(logits(load_llama(QWEN, tensors, dtype="bfloat16"), TEXTS)[0])
    expected = twin(QWEN, tensors, TEXTS[0])
    error = np.abs(found - expected).mean() / np.abs(expected).mean()
    assert 1e-4 < error < 0.05


def test_checkpoints_that_do_not_fit_are_refused(tmp_path):
    tensors = checkpoint(LLAMA)
    name = "model.layers.1.mlp.down_proj.weight"
    with pytest.raises(JaxkgError, match=r"no tensor 'model.layers.1.mlp.down_proj.weight'"):
        load_llama(LLAMA, {k: v for k, v in tensors.items() if k != name})
    with pytest.raises(JaxkgError, match="has shape"):
        load_llama(LLAMA, {**tensors, name: tensors[name].T})
    with pytest.raises(JaxkgError, match=r"'model.layers.2.x'"):
        load_llama(LLAMA, {**tensors, "model.layers.2.x": np.zeros(1, np.float32)})
    with pytest.raises(JaxkgError, match="no such file"):
        LanguageModel.open(tmp_path / "absent")
    write_folder(tmp_path / "a", LLAMA, tensors, 2)
    index = tmp_path / "a" / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {name: "../b.safetensors"}}))
    with pytest.raises(JaxkgError, match="another folder"):
        LanguageModel.open(tmp_path / "a")
    index.unlink()
    with pytest.raises(JaxkgError, match="neither"):
        LanguageModel.open(tmp_path / "a")
    (tmp_path / "a" / "model.safetensors").write_bytes(b"no such thing")
    with pytest.raises(JaxkgError, match="damaged"):
        LanguageModel.open(tmp_path / "a")
    (tmp_path / "a" / "tokenizer.json").write_text("{}")
    with pytest.raises(JaxkgError, match=r"tokenizer\.json is damaged"):
        LanguageModel.open(tmp_path / "a")


SIZES = {
    "model_type": "llama",
    "vocab_size": 32,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
}


def test_configurations_of_both_generations_are_read():
    config = LMConfig.from_dict(SIZES)
    assert (config.head_dim, config.num_key_value_heads) == (4, 4)
    rope = {"rope_type": "default", "rope_theta": 5e5}
    assert LMConfig.from_dict({**SIZES, "rope_parameters": rope}).rope_theta == 5e5
    for one in (LLAMA, QWEN, QWEN3, config):
        assert LMConfig.from_dict(json.loads(json.dumps(one.to_dict()))) == one


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"model_type": "gpt2"}, "model_type is 'gpt2'"),
        ({"hidden_act": "gelu"}, "hidden_act is 'gelu'"),
        ({"attention_bias": True}, "attention_bias is True"),
        ({"rope_scaling": {"rope_type": "yarn"}}, "rope_type is 'yarn'"),
        ({"num_key_value_heads": 3}, "no multiple"),
        ({"num_attention_heads": None}, "sizes of the model are missing"),
        ({"head_dim": 5}, "head_dim is even"),
    ],
)
def test_other_models_are_refused(change, says):
    with pytest.raises(JaxkgError, match=says):
        LMConfig.from_dict({**SIZES, **change})
