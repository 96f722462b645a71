"""A small language model: Llama-shaped, run on the device; `jaxkg.learn.lm` trains it.

`LanguageModel` is a checkpoint folder in the Hugging Face layout, or a GGUF file: a `Llama`, its
sizes and its tokenizer. `generate` continues token lists, freely or within a `Grammar`, which
restricts what is written to lists of given options.
"""

from jaxkg.lm.checkpoint import LanguageModel
from jaxkg.lm.config import Llama3Rope, LMConfig
from jaxkg.lm.generate import Generated, generate
from jaxkg.lm.grammar import Grammar, build_grammar
from jaxkg.lm.lora import init_lora, merge
from jaxkg.lm.model import Llama
from jaxkg.lm.packing import Example, Packed, pack
from jaxkg.lm.tokenizer import LMTokenizer

__all__ = [
    "Example",
    "Generated",
    "Grammar",
    "LMConfig",
    "LMTokenizer",
    "LanguageModel",
    "Llama",
    "Llama3Rope",
    "Packed",
    "build_grammar",
    "generate",
    "init_lora",
    "merge",
    "pack",
]
