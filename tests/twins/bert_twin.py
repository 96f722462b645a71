"""A BERT in NumPy float64, written from the paper and the checkpoint layout alone."""

import math

import numpy as np

from jaxkg.text.bert_weights import BertConfig

CONFIG = BertConfig(
    vocab_size=40,
    hidden_size=24,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=40,
    max_position_embeddings=16,
    layer_norm_eps=1e-5,
)


def checkpoint(config, seed=0):
    rng = np.random.default_rng(seed)
    width, inner = config.hidden_size, config.intermediate_size
    shapes = {
        "embeddings.word_embeddings.weight": (config.vocab_size, width),
        "embeddings.position_embeddings.weight": (config.max_position_embeddings, width),
        "embeddings.token_type_embeddings.weight": (2, width),
        "embeddings.LayerNorm.weight": (width,),
        "embeddings.LayerNorm.bias": (width,),
        "pooler.dense.weight": (width, width),
    }
    for layer in range(config.num_hidden_layers):
        at = f"encoder.layer.{layer}"
        sizes = {f"attention.self.{part}": (width, width) for part in ("query", "key", "value")}
        sizes["attention.output.dense"] = (width, width)
        sizes["intermediate.dense"] = (inner, width)
        sizes["output.dense"] = (width, inner)
        for name, shape in sizes.items():
            shapes[f"{at}.{name}.weight"] = shape
            shapes[f"{at}.{name}.bias"] = shape[:1]
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"{at}.{name}.weight"] = shapes[f"{at}.{name}.bias"] = (width,)
    return {name: rng.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}


def twin(config, tensors, ids):
    """Mean-pooled unit vector of one unpadded text, in float64."""
    w = {name: array.astype(np.float64) for name, array in tensors.items()}

    def norm(x, name):
        centred = x - x.mean(1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(1, keepdims=True) + config.layer_norm_eps)
        return scaled * w[f"{name}.weight"] + w[f"{name}.bias"]

    def dense(x, name):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    x = w["embeddings.word_embeddings.weight"][ids]
    x = x + w["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    size = config.hidden_size // config.num_attention_heads
    for layer in range(config.num_hidden_layers):
        at = f"encoder.layer.{layer}"
        q, k, v = (dense(x, f"{at}.attention.self.{part}") for part in ("query", "key", "value"))
        heads = []
        for head in range(config.num_attention_heads):
            span = slice(head * size, (head + 1) * size)
            logits = q[:, span] @ k[:, span].T / math.sqrt(size)
            weights = np.exp(logits - logits.max(1, keepdims=True))
            heads.append(weights / weights.sum(1, keepdims=True) @ v[:, span])
        mixed = dense(np.concatenate(heads, axis=1), f"{at}.attention.output.dense")
        x = norm(x + mixed, f"{at}.attention.output.LayerNorm")
        inner = dense(x, f"{at}.intermediate.dense")
        inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        x = norm(x + dense(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)
