"""A tiny BERT in the layout of the hub, that knows a few words."""

import json
from collections.abc import Iterable
from pathlib import Path

from bert_twin import CONFIG, checkpoint


def write_tiny_bert(folder: Path, words: Iterable[str]) -> Path:
    """Write one; other words are unknown to it."""
    import safetensors.numpy
    import tokenizers

    known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(words)]
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(known)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    sizes = {field: getattr(CONFIG, field) for field in CONFIG.__dataclass_fields__}
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", **sizes}))
    safetensors.numpy.save_file(checkpoint(CONFIG), folder / "model.safetensors")
    return folder
