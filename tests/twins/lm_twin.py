"""A Llama in NumPy float64, written from the papers and the checkpoint layout alone; a tiny
checkpoint in that layout; and a tokenizer learnt from a few words."""

import dataclasses
import json
import math

import numpy as np

from jaxkg.lm import Llama3Rope, LMConfig

LLAMA = LMConfig(
    vocab_size=300,
    hidden_size=16,
    intermediate_size=24,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=6,
    max_position_embeddings=128,
    rms_norm_eps=1e-5,
    rope_theta=100.0,
    rope_scaling=Llama3Rope(4.0, 1.0, 3.0, 16),
)
QWEN = LMConfig(
    vocab_size=300,
    hidden_size=16,
    intermediate_size=24,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=1,
    head_dim=4,
    max_position_embeddings=128,
    tie_word_embeddings=True,
    attention_bias=True,
)
QWEN3 = dataclasses.replace(
    QWEN, num_key_value_heads=2, head_dim=6, attention_bias=False, head_norm=True
)
WORDS = ["who directed Alien", "Ridley Scott", "Heat", "Michael Mann", "starred actors"]


def tokenizer():
    from jaxkg.lm import LMTokenizer

    return LMTokenizer.train(WORDS, vocab_size=290)


def checkpoint(config, seed=0):
    rng = np.random.default_rng(seed)
    width, inner = config.hidden_size, config.intermediate_size
    queries = config.num_attention_heads * config.head_dim
    keys = config.num_key_value_heads * config.head_dim
    shapes = {
        "model.embed_tokens.weight": (config.vocab_size, width),
        "model.norm.weight": (width,),
    }
    if not config.tie_word_embeddings:
        shapes["lm_head.weight"] = (config.vocab_size, width)
    for layer in range(config.num_hidden_layers):
        at = f"model.layers.{layer}"
        for name, size in (("q", queries), ("k", keys), ("v", keys)):
            shapes[f"{at}.self_attn.{name}_proj.weight"] = (size, width)
            if config.attention_bias:
                shapes[f"{at}.self_attn.{name}_proj.bias"] = (size,)
            if config.head_norm and name != "v":
                shapes[f"{at}.self_attn.{name}_norm.weight"] = (config.head_dim,)
        shapes[f"{at}.self_attn.o_proj.weight"] = (width, queries)
        shapes[f"{at}.mlp.gate_proj.weight"] = shapes[f"{at}.mlp.up_proj.weight"] = (inner, width)
        shapes[f"{at}.mlp.down_proj.weight"] = (width, inner)
        shapes[f"{at}.input_layernorm.weight"] = (width,)
        shapes[f"{at}.post_attention_layernorm.weight"] = (width,)
    return {name: rng.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}


def write_folder(folder, config, tensors, files=1):
    """The layout of Hugging Face, in one file of weights or in several with an index."""
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    raw = {
        "model_type": "qwen2"
        if config.attention_bias
        else "qwen3"
        if config.head_norm
        else "llama",
        "hidden_act": "silu",
        "vocab_size": config.vocab_size,
        "hidden_size": config.hidden_size,
        "intermediate_size": config.intermediate_size,
        "num_hidden_layers": config.num_hidden_layers,
        "num_attention_heads": config.num_attention_heads,
        "num_key_value_heads": config.num_key_value_heads,
        "head_dim": config.head_dim,
        "max_position_embeddings": config.max_position_embeddings,
        "rms_norm_eps": config.rms_norm_eps,
        "rope_theta": config.rope_theta,
        "tie_word_embeddings": config.tie_word_embeddings,
        "torch_dtype": "float32",
    }
    if rope := config.rope_scaling:
        raw["rope_scaling"] = {
            "rope_type": "llama3",
            "factor": rope.factor,
            "low_freq_factor": rope.low_freq_factor,
            "high_freq_factor": rope.high_freq_factor,
            "original_max_position_embeddings": rope.original_max_position_embeddings,
        }
    (folder / "config.json").write_text(json.dumps(raw))
    tokenizer().save(folder)
    if files == 1:
        save_file(tensors, folder / "model.safetensors")
        return
    where = {}
    for part in range(files):
        name = f"model-{part + 1:05}-of-{files:05}.safetensors"
        some = dict(list(tensors.items())[part::files])
        save_file(some, folder / name)
        where |= dict.fromkeys(some, name)
    index = {"metadata": {}, "weight_map": where}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def _norm(x, scale, eps):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * scale


def _frequencies(config):
    found = []
    for i in range(config.head_dim // 2):
        frequency = config.rope_theta ** (-2 * i / config.head_dim)
        if rope := config.rope_scaling:
            wavelength = 2 * math.pi / frequency
            slow = rope.original_max_position_embeddings / rope.low_freq_factor
            fast = rope.original_max_position_embeddings / rope.high_freq_factor
            if wavelength > slow:
                frequency /= rope.factor
            elif wavelength >= fast:
                smooth = rope.original_max_position_embeddings / wavelength - rope.low_freq_factor
                smooth /= rope.high_freq_factor - rope.low_freq_factor
                frequency = (1 - smooth) * frequency / rope.factor + smooth * frequency
        found.append(frequency)
    return found


def _turned(x, config):
    """One head's rows, [T, H], each pair (i, i + H/2) turned by its place times its frequency."""
    out, half = x.copy(), config.head_dim // 2
    for place in range(len(x)):
        for i, frequency in enumerate(_frequencies(config)):
            angle = place * frequency
            a, b = x[place, i], x[place, i + half]
            out[place, i] = a * math.cos(angle) - b * math.sin(angle)
            out[place, i + half] = b * math.cos(angle) + a * math.sin(angle)
    return out


def twin(config, tensors, ids):
    """[T, V] logits of one unpadded text, in float64."""
    w = {name: array.astype(np.float64) for name, array in tensors.items()}
    x = w["model.embed_tokens.weight"][ids]
    size = config.head_dim
    share = config.num_attention_heads // config.num_key_value_heads
    for layer in range(config.num_hidden_layers):
        at = f"model.layers.{layer}"
        y = _norm(x, w[f"{at}.input_layernorm.weight"], config.rms_norm_eps)
        q, k, v = (
            y @ w[f"{at}.self_attn.{name}_proj.weight"].T
            + w.get(f"{at}.self_attn.{name}_proj.bias", 0.0)
            for name in "qkv"
        )
        if config.head_norm:
            q, k = (
                np.concatenate(
                    [
                        _norm(part, w[f"{at}.self_attn.{name}_norm.weight"], config.rms_norm_eps)
                        for part in np.split(flat, flat.shape[1] // size, axis=1)
                    ],
                    axis=1,
                )
                for name, flat in (("q", q), ("k", k))
            )
        heads = []
        for head in range(config.num_attention_heads):
            own = slice(head * size, (head + 1) * size)
            shared = slice(head // share * size, (head // share + 1) * size)
            logits = _turned(q[:, own], config) @ _turned(k[:, shared], config).T / math.sqrt(size)
            logits[np.triu_indices(len(ids), 1)] = -np.inf
            weights = np.exp(logits - logits.max(1, keepdims=True))
            heads.append(weights / weights.sum(1, keepdims=True) @ v[:, shared])
        x = x + np.concatenate(heads, axis=1) @ w[f"{at}.self_attn.o_proj.weight"].T
        y = _norm(x, w[f"{at}.post_attention_layernorm.weight"], config.rms_norm_eps)
        gate = y @ w[f"{at}.mlp.gate_proj.weight"].T
        inner = gate / (1 + np.exp(-gate)) * (y @ w[f"{at}.mlp.up_proj.weight"].T)
        x = x + inner @ w[f"{at}.mlp.down_proj.weight"].T
    x = _norm(x, w["model.norm.weight"], config.rms_norm_eps)
    head = "model.embed_tokens.weight" if config.tie_word_embeddings else "lm_head.weight"
    return x @ w[head].T
