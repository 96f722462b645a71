"""A small language model: Llama-shaped, generated from and trained on the device.

`LanguageModel` is a checkpoint folder in the Hugging Face layout: a `Llama`, its sizes and its
tokenizer. `generate` continues token lists, freely or within a `Grammar`, which restricts what is
written to lists of given options. `train` fits all weights, or a LoRA of them, to examples (SFT)
or to pairs of a preferred and another completion (DPO), and goes on where it was stopped.
"""

from jaxkg.learn.lm.checkpoint import LanguageModel
from jaxkg.learn.lm.config import Llama3Rope, LMConfig
from jaxkg.learn.lm.generate import Generated, generate
from jaxkg.learn.lm.grammar import Grammar, build_grammar
from jaxkg.learn.lm.lora import init_lora, merge, unmerge
from jaxkg.learn.lm.model import Llama
from jaxkg.learn.lm.packing import Example, Packed, pack
from jaxkg.learn.lm.tokenizer import LMTokenizer
from jaxkg.learn.lm.training import TrainConfig, train

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
    "TrainConfig",
    "build_grammar",
    "generate",
    "init_lora",
    "merge",
    "pack",
    "train",
    "unmerge",
]
