"""The sentence encoder: a tiny one that is always there, and the real one where its weights are."""

import json
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from bert_twin import CONFIG, checkpoint, twin
from tiny_bert import write_tiny_bert

from jaxkg.errors import JaxkgError
from jaxkg.text.bert import init_change
from jaxkg.text.minilm import MiniLM, default_encoder
from jaxkg.text.weights import find_weights

tokenizers = pytest.importorskip("tokenizers")
safetensors_numpy = pytest.importorskip("safetensors.numpy")
REFERENCE = Path(__file__).parent / "reference"
WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "who",
    "wrote",
    "directed",
    "the",
    "film",
    "alien",
    "heat",
    "a",
    "b",
    "c",
    "d",
    "e",
]


@pytest.fixture
def folder(tmp_path):
    """A tiny model in the layout of the hub."""
    write_tiny_bert(tmp_path, WORDS[4:])
    (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 12}')
    return tmp_path


@pytest.mark.slow
def test_texts_of_all_lengths_equal_the_twin(folder):
    encode = MiniLM.open(folder)
    texts = ["who wrote alien", "", "a b c d e the film", "a " * 40, "who wrote alien", "zebra"]
    found = encode(texts)
    tensors = checkpoint(CONFIG)
    for text, vector in zip(texts, found):
        ids = [2, *(WORDS.index(w) if w in WORDS else 1 for w in text.split()[:10]), 3]
        np.testing.assert_allclose(vector, twin(CONFIG, tensors, ids), atol=2e-6)
    assert found.dtype == np.float32
    np.testing.assert_allclose(encode(texts[:1]), found[:1], atol=2e-6)
    assert encode([]).shape == (0, encode.dimension) == (0, 24)


def test_a_revision_tells_weights_and_dtype_apart(folder):
    plain = MiniLM.open(folder)
    assert plain.revision == MiniLM.open(folder).revision
    half = MiniLM.open(folder, dtype="bfloat16")
    assert half.revision != plain.revision
    cosine = np.sum(half(["who wrote alien"]) * plain(["who wrote alien"]))
    assert 0.99 < cosine < 1 - 1e-7
    other = checkpoint(CONFIG, seed=1)
    safetensors_numpy.save_file(other, folder / "model.safetensors")
    assert MiniLM.open(folder).revision != plain.revision


def test_the_default_one_is_loaded_once_and_lies_on_every_device(folder, monkeypatch):
    monkeypatch.setattr("jaxkg.text.minilm.find_weights", lambda source: folder)
    default_encoder.cache_clear()
    one = default_encoder()
    change = init_change(one.weights, layers=1, rank=2, key=jax.random.key(0))
    for device in jax.devices()[:2]:
        with jax.default_device(device):
            assert default_encoder() is one
            for encoder in (one, one.changed(change)):
                weights = jax.tree.leaves(encoder.weights)
                assert {on for weight in weights for on in weight.devices()} == {device}
                assert encoder.weights is encoder.weights
    default_encoder.cache_clear()


_TEXTS = ["who directed Alien?", "Alien", "who wrote the film", "Alien", "who wrote Alien?"]


def test_a_few_texts_are_encoded_on_the_host_where_jax_is_not_imported(folder):
    """As on the device; weights with a low-rank change, too."""
    program = """
import sys, numpy as np
from jaxkg.text.minilm import MiniLM
encode = MiniLM.open(sys.argv[1])
rng = np.random.default_rng(0)
inputs, outputs = encode._host.layers[-1].qkv.kernel.shape
change = {"qkv": [rng.normal(size=s).astype("f") for s in ((1, inputs, 2), (1, 2, outputs))]}
texts = sys.argv[3:]
here = [encode(texts), encode.changed(change)(texts)]
assert "jax" not in sys.modules, "JAX was imported"
import jax
there = [encode(texts), encode.changed(change)(texts)]
assert encode._host is None
np.savez(sys.argv[2], here=here, there=there)
"""
    kept = folder / "vectors.npz"
    asked = [sys.executable, "-c", program, str(folder), str(kept), *_TEXTS]
    subprocess.run(asked, check=True, timeout=120)
    with np.load(kept) as found:
        here, there = found["here"], found["there"]
    np.testing.assert_allclose(here, there, atol=2e-6)
    assert not np.allclose(here[0], here[1], atol=1e-3)
    assert np.array_equal(here[:, 1], here[:, 3])


def test_many_texts_or_coarser_products_are_for_the_device(folder):
    program = """
import sys
from jaxkg.text.minilm import MiniLM, _ON_HOST
for dtype, texts in (("float32", _ON_HOST + 1), ("bfloat16", 1)):
    assert MiniLM.open(sys.argv[1], dtype=dtype)._on_host(texts) is None
assert MiniLM.open(sys.argv[1])._on_host(_ON_HOST) is not None
"""
    subprocess.run([sys.executable, "-c", program, str(folder)], check=True, timeout=120)


def test_other_poolings_and_damage_are_refused(folder):
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": false}')
    with pytest.raises(JaxkgError, match="mean of the tokens"):
        MiniLM.open(folder)
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[: len(data) // 2])
    with pytest.raises(JaxkgError, match="damaged"):
        MiniLM.open(folder)
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(JaxkgError, match="no tokenizer"):
        MiniLM.open(folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(JaxkgError, match=r"has no tokenizer\.json"):
        MiniLM.open(folder)


def test_where_nothing_is_found_one_line_says_what_would_work():
    with pytest.raises(JaxkgError, match="no weights of nobody/nothing") as caught:
        find_weights("nobody/nothing", download=False)
    assert "\n" not in str(caught.value)
    assert "hashing" in str(caught.value)


def test_minilm_equals_the_recorded_vectors_of_another_implementation():
    try:
        folder = find_weights(download=False)
    except JaxkgError as error:
        pytest.skip(str(error))
    recorded = json.loads((REFERENCE / "minilm.json").read_text(encoding="utf-8"))
    with np.load(REFERENCE / "minilm.npz") as file:
        expected = file["vectors"].astype(np.float32)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    found = MiniLM.open(folder)(recorded["sentences"])
    assert len(found) == 50
    assert np.sum(found * expected, axis=1).min() > 0.99999
