"""Tokens a second of the local language model, beside the limit that memory sets.

One token of a batch reads every weight once, so B · bandwidth / bytes of weights is the most that B
rows can write in a second; weights that fit into a processor's cache are read faster than that. The
bandwidth is measured by summing an array much larger than any cache. Two minutes.

    python scripts/bench/bench_generate.py --sizes 128x4 768x12
    python scripts/bench/bench_generate.py --model models/student
"""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from jaxkg.lm import LanguageModel, Llama, LMConfig, generate

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments
from lib.seconds import best_seconds


def bandwidth(megabytes: int) -> float:
    """Bytes a second that a sum reads, the best of five."""
    array = jnp.ones((megabytes << 20) // 4, jnp.float32)
    total = jax.jit(jnp.sum)
    return array.nbytes / best_seconds(lambda: total(array), repeats=5)


def read_bytes(model: Llama) -> int:
    """Bytes of the weights that every token reads: all but an embedding table beside a head."""
    total = sum(leaf.nbytes for leaf in jax.tree.leaves(nnx.split(model)[1]))
    tied = model.config.tie_word_embeddings
    return total - (0 if tied else model.embedding[...].nbytes)


def rate(model: Llama, rows: int, prompt: int, new: int, rounds: int, seed: int) -> float:
    """Tokens a second behind the prompt, the best of some rounds; the prompt's time is not in."""
    draw = np.random.default_rng(seed)
    prompts = draw.integers(0, model.config.vocab_size, (rows, prompt)).tolist()
    never = [model.config.vocab_size]  # nothing ends a row

    def seconds(tokens: int) -> float:
        return best_seconds(
            lambda: generate(model, prompts, end=never, max_tokens=tokens), repeats=rounds
        )

    # Both runs have the same capacity, so they differ by the tokens alone.
    short = new // 2 + 1
    return rows * (new - short) / (seconds(new) - seconds(short))


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, data=False)
    parser.add_argument("--model", type=Path, help="folder of a model, in place of random weights")
    parser.add_argument("--sizes", nargs="+", default=["128x4", "512x8"], help="width x layers")
    parser.add_argument("--vocab", type=int, default=2048, help="of random weights")
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--prompt", type=int, default=256, help="tokens of a prompt")
    parser.add_argument("--new", type=int, default=64, help="tokens to write, a power of two")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=int, default=512, help="read to measure the bandwidth")
    options = parser.parse_args(argv)
    record, speed = Record(__file__, options), bandwidth(options.megabytes)
    record.note(f"memory {speed / 1e9:.1f} GB/s")
    models: dict[str, Llama] = {}
    if options.model:
        models[options.model.name] = LanguageModel.open(options.model, dtype=options.dtype).model
    else:
        for size in options.sizes:
            width, layers = map(int, size.split("x"))
            config = LMConfig.small(options.vocab, width=width, layers=layers)
            models[size] = Llama(config, dtype=options.dtype, rngs=nnx.Rngs(options.seed))
    heads = ("model", "MB read a token", "batch", "tokens/s", "memory limit", "share")
    table = record.table(*heads)
    for name, model in models.items():
        size = read_bytes(model)
        for batch in options.batches:
            found = rate(model, batch, options.prompt, options.new, options.rounds, options.seed)
            limit = batch * speed / size
            table.add(name, size / 1e6, batch, found, limit, found / limit)
    record.save()


if __name__ == "__main__":
    main()
