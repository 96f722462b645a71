"""A model folder on this machine judges through the command, with no endpoint at all."""

import dataclasses

import pytest
from lm_twin import LLAMA, tokenizer
from planners import in_cache

from jaxkg.answer import Answer
from jaxkg.lm import LanguageModel

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

    code, _, err = jaxkg(*ask, f"local:{tmp_path / 'nowhere'}")
    assert code == 2
    assert "nowhere" in err
