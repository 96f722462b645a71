"""A model folder on this machine judges through the command, with no endpoint at all."""

import dataclasses
import json

import pytest
from gguf_twin import MODELS, write_gguf
from lm_twin import LLAMA, checkpoint, tokenizer
from planners import in_cache

from jaxkg.answer import Answer
from jaxkg.lm import LanguageModel
from jaxkg.lm.checkpoint import named_tensors

__all__ = ["in_cache"]
SIZES = dataclasses.replace(LLAMA, max_position_embeddings=1024, rope_scaling=None)


@pytest.mark.usefixtures("in_cache")
def test_a_folder_is_a_language_model(jaxkg, tmp_path):
    student = LanguageModel.create(tokenizer(), SIZES, about={"prompts": "compact"})
    student.save(tmp_path / "model")
    ask = ["ask", "--json", "--no-cache", "who directed [Alien]?", "--llm"]
    code, out, err = jaxkg(*ask, f"local:{tmp_path / 'model'}")
    assert code in (0, 1), err  # untrained: it may judge that nothing answers
    answer = Answer.from_json(out)
    assert answer.usage.calls == 1
    assert {entity.name for entity in answer.entities} <= {"Ridley Scott"}

    assert "nowhere" in jaxkg.refused(*ask, f"local:{tmp_path / 'nowhere'}")


@pytest.mark.usefixtures("in_cache", "standard_promotion")
def test_a_gguf_file_is_asked_and_taught(jaxkg, tmp_path):
    pytest.importorskip("gguf")
    sizes = dataclasses.replace(MODELS["qwen2"], max_position_embeddings=2048)
    file = write_gguf(tmp_path / "tiny.gguf", "qwen2", checkpoint(sizes), "Q8_0", config=sizes)
    ask = ["ask", "--json", "--no-cache", "who directed [Alien]?", "--llm"]
    _, out, err = jaxkg(*ask, f"local:{file}", "--ask-model", "always")
    assert Answer.from_json(out).usage.calls, err  # of what it writes, untrained, nothing is read

    lessons, taught = tmp_path / "sft.jsonl", tmp_path / "taught"
    lessons.write_text(json.dumps({"prompt": "who?", "completion": "Ridley Scott"}) + "\n")
    train = ["train", "lm", "--sft", lessons, "--from", file, "--lora", 2, "-o", taught]
    jaxkg.done(*train, "--set", "epochs=4", "--set", "length=32")
    before, after = (dict(named_tensors(LanguageModel.open(x).model)) for x in (file, taught))
    moved = {name for name in before if (before[name] != after[name]).any()}
    assert moved
    assert all("_proj.weight" in name for name in moved)
