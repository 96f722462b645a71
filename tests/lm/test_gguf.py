"""GGUF files give the model that the same weights in a folder give, and bad ones say so."""

import dataclasses
import sys

import numpy as np
import pytest
from gguf_twin import MODELS, write_gguf
from lm_twin import checkpoint, tokenizer, write_folder

from jaxkg.errors import JaxkgError
from jaxkg.lm import LanguageModel
from jaxkg.lm.backend import LocalLM
from jaxkg.lm.checkpoint import named_tensors

gguf = pytest.importorskip("gguf")


def rounded(tensors, kind):
    """The weights after they were stored so."""
    kind = gguf.GGMLQuantizationType[kind]
    return {
        name: array
        if array.ndim == 1
        else gguf.quants.dequantize(gguf.quants.quantize(array, kind), kind)
        for name, array in tensors.items()
    }


@pytest.mark.parametrize("family", MODELS)
@pytest.mark.parametrize("kind", ["F32", "F16", "Q8_0", "Q5_0"])
def test_a_file_is_the_folder_of_its_weights(tmp_path, family, kind):
    tensors = checkpoint(MODELS[family])
    write_folder(tmp_path / "folder", MODELS[family], rounded(tensors, kind))
    folder = LanguageModel.open(tmp_path / "folder")
    file = LanguageModel.open(write_gguf(tmp_path / "tiny.gguf", family, tensors, kind))
    assert file.config.rms_norm_eps == pytest.approx(folder.config.rms_norm_eps)
    eps = {"rms_norm_eps": folder.config.rms_norm_eps}
    assert dataclasses.replace(file.config, **eps) == folder.config
    assert file.name == "tiny"
    expected = dict(named_tensors(folder.model))
    for name, array in named_tensors(file.model):
        np.testing.assert_array_equal(array, expected.pop(name))
    assert not expected
    chat = [("system", "be brief"), ("user", "Who directed <|im_end|> Alien's 123?\n\nnaïve")]
    assert file.tokenizer.chat(chat) == folder.tokenizer.chat(chat)
    assert file.tokenizer.end == folder.tokenizer.end
    assert file.tokenizer.decode(file.tokenizer.encode("東京 Heat")) == "東京 Heat"


def test_a_file_is_saved_as_a_folder_and_opened_in_another_dtype(tmp_path):
    path = write_gguf(tmp_path / "tiny.gguf", "qwen2", checkpoint(MODELS["qwen2"]), "Q8_0")
    LanguageModel.open(path, dtype="bfloat16").save(tmp_path / "folder")
    again = LanguageModel.open(tmp_path / "folder")
    assert str(again.model.embedding[...].dtype) == "bfloat16"
    assert again.tokenizer.encode("Ridley Scott") == tokenizer().encode("Ridley Scott")


def test_a_models_name_is_of_its_file_and_dtype(tmp_path):
    files = [
        write_gguf(tmp_path / f"{kind}.gguf", "qwen2", checkpoint(MODELS["qwen2"]), kind)
        for kind in ("Q8_0", "F16")
    ]
    named = [LocalLM.open(path, dtype=dtype).model.partition("@")[2]
             for path in files for dtype in ("float32", "bfloat16")]  # fmt: skip
    assert len(set(named)) == 4
    assert LocalLM.open(files[0]).model.endswith(named[0])


@pytest.mark.parametrize(
    ("words", "text", "pieces"),
    [
        ("qwen2", "12 don't", ["1", "2", "Ġdon", "'t"]),
        ("llama-bpe", "1234 a", ["123", "4", "Ġa"]),
        ("smollm", "12 a", ["1", "2", "Ġa"]),
    ],
)
def test_texts_are_cut_as_the_file_says(tmp_path, words, text, pieces):
    path = write_gguf(tmp_path / "a.gguf", "qwen2", checkpoint(MODELS["qwen2"]), words=words)
    cut = LanguageModel.open(path).tokenizer.inner.pre_tokenizer.pre_tokenize_str(text)
    assert [piece for piece, _ in cut] == pieces


@pytest.mark.parametrize(
    ("family", "changes", "says"),
    [
        ("qwen2", {"architecture": "gpt2"}, "architecture 'gpt2'; this model runs llama, qwen2"),
        ("qwen2", {"tokenizer": "llama"}, "tokenizer of kind 'llama'"),
        ("qwen2", {"words": "tekken"}, r"tokenizer\.ggml\.pre is 'tekken'"),
        ("qwen2", {"template": "[INST] {{ x }}"}, "chat template is neither"),
        ("llama", {"odd": 1.5}, r"rope_freqs\.weight is not that of Llama 3.1"),
    ],
)
def test_other_models_are_refused(tmp_path, family, changes, says):
    path = write_gguf(tmp_path / "a.gguf", family, checkpoint(MODELS[family]), **changes)
    with pytest.raises(JaxkgError, match=says) as error:
        LanguageModel.open(path)
    assert "a.gguf" in str(error.value)


def test_damaged_files_are_refused(tmp_path, monkeypatch):
    tensors = checkpoint(MODELS["qwen2"])
    path = write_gguf(tmp_path / "a.gguf", "qwen2", tensors)
    whole = path.read_bytes()
    for size in (3, 5, 30, 900, len(whole) // 20, len(whole) - 200):
        path.write_bytes(whole[:size])
        with pytest.raises(JaxkgError, match=r"a\.gguf (is cut short|is no GGUF)"):
            LanguageModel.open(path)
    for wrong, says in (
        (b"GGML" + whole[4:], "is no GGUF file"),
        (whole[:4] + b"\1\0\0\0" + whole[8:], "version 1"),
        (whole[:16] + b"\xff" * 8 + whole[24:], "damaged"),
        (whole.replace(b"qwen2.block_count", b"qwen2.block_c\xffunt"), "no UTF-8"),
        (whole.replace(b"qwen2.block_count", b"qwen2.block_coun!"), "qwen2.block_count is None"),
    ):
        path.write_bytes(wrong)
        with pytest.raises(JaxkgError, match=says):
            LanguageModel.open(path)
    write_gguf(path, "qwen2", {k: v for k, v in tensors.items() if "1.mlp.down" not in k})
    with pytest.raises(JaxkgError, match=r"no tensor 'model\.layers\.1\.mlp\.down_proj"):
        LanguageModel.open(path)
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(JaxkgError, match=r"pip install 'jaxkg\[gguf\]'"):
        LanguageModel.open(path)
