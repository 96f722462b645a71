"""GGUF files of tiny models, written by the library itself."""

import dataclasses
import json

import numpy as np
from lm_twin import LLAMA, QWEN, QWEN3, tokenizer

from jaxkg.lm import Llama3Rope

NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
WIDE = {"hidden_size": 32, "intermediate_size": 64, "num_key_value_heads": 2, "head_dim": 8}
MODELS = {
    "llama": dataclasses.replace(LLAMA, **WIDE, rope_theta=5e5, rope_scaling=Llama3Rope()),
    "qwen2": dataclasses.replace(QWEN, **WIDE),
    "qwen3": dataclasses.replace(QWEN3, **WIDE),
}
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}"


def paired(array, heads):
    """Rows of a head as llama.cpp wants them: the first of either half, then the second ..."""
    halves = np.split(array.reshape(heads, -1, *array.shape[1:]), 2, axis=1)
    return np.stack(halves, axis=2).reshape(array.shape)


def write_gguf(path, family, tensors, kind="F32", *, words="gpt-2", template=TEMPLATE, **changes):
    import gguf

    config, kind = changes.get("config", MODELS[family]), gguf.GGMLQuantizationType[kind]
    writer = gguf.GGUFWriter(path, changes.get("architecture", family))
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_theta)
    inner = tokenizer().inner
    written = [inner.id_to_token(i) for i in range(290)]
    merges = json.loads(inner.to_str())["model"]["merges"]
    writer.add_tokenizer_model(changes.get("tokenizer", "gpt2"))
    writer.add_tokenizer_pre(words)
    writer.add_token_list([*written, *(f"[PAD{i}]" for i in range(290, 300))])
    writer.add_token_types([3] * 3 + [1] * 287 + [5] * 10)
    writer.add_token_merges([" ".join(merge) for merge in merges])
    writer.add_chat_template(template)
    if (rope := config.rope_scaling) is not None:
        frequency = config.rope_theta ** (-np.arange(4) / 4)
        turns = rope.original_max_position_embeddings * frequency / (2 * np.pi)
        share = np.clip((turns - 1) / 3, 0, 1)
        divisors = 1 / (share + (1 - share) / rope.factor)
        writer.add_tensor("rope_freqs.weight", (divisors ** changes.get("odd", 1)).astype("f"))
    for name, array in tensors.items():
        part, _, end = name.removeprefix("model.layers.").rpartition(".")
        layer, _, inside = part.partition(".") if part[0].isdigit() else ("", "", part)
        stored = f"blk.{layer}.{NAMES[inside]}.{end}" if layer else f"{NAMES[inside]}.{end}"
        if family == "llama" and inside[-6:] in ("q_proj", "k_proj"):
            heads = config.num_attention_heads if "q_" in inside else config.num_key_value_heads
            array = paired(array, heads)
        if array.ndim == 1:
            writer.add_tensor(stored, array)
        else:
            packed = gguf.quants.quantize(array, kind)
            writer.add_tensor(stored, packed, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
