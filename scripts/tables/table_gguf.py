"""A GGUF file as weights in JAX beside llama.cpp's server: the same replies? As fast?

The server writes 64 tokens behind each of 50 short prompts, at temperature 0. A greedy reply is the
same where, at each of its places, the same token is likeliest here; all places of a reply are read
at once. Then some replies are written here, one by one, for the speed. The server's part is kept in
--state, so a run goes on where it stopped. Ten minutes for 0.5 billion weights on one core; the
server is needed for what the state has not.

    llama-server -m model.gguf --port 8081 -np 1 -t 1
    python scripts/tables/table_gguf.py --file model.gguf --state state.jsonl --record
"""

from __future__ import annotations

import json
import string
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from jaxkg.kg import demo_questions
from jaxkg.lm import LanguageModel, Llama, generate
from jaxkg.lm.model import causal_mask
from jaxkg.lm.tokenizer import LMTokenizer

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.measure import share
from lib.record import Record, arguments

SYSTEM = "You are a helpful assistant. Answer in one sentence."
LENGTH = 192
"""Tokens of a prompt and its reply, at most."""


def questions() -> Iterator[str]:
    """Fifty."""
    yield from (question.text for question in demo_questions())
    yield from (f"Name three things that begin with {letter}." for letter in string.ascii_uppercase)


def from_server(url: str, tokenizer: LMTokenizer, question: str, tokens: int) -> dict[str, Any]:
    """What the server says behind a prompt, in tokens, with scores of the first."""
    prompt = tokenizer.chat([("system", SYSTEM), ("user", question)])
    text = tokenizer.inner.decode(prompt, skip_special_tokens=False)
    own = _posted(f"{url}/tokenize", {"content": text, "parse_special": True})["tokens"]
    body = {"prompt": prompt, "n_predict": tokens, "temperature": 0, "cache_prompt": False}
    reply = _posted(f"{url}/completion", {**body, "n_probs": 10, "return_tokens": True})
    first = reply["completion_probabilities"][0]["top_logprobs"]
    return {
        "question": question,
        "prompt": prompt,
        "same_prompt": own == prompt,
        "tokens": reply["tokens"],
        "ended": reply["stop_type"] == "eos",
        "scores": [(each["id"], each["logprob"]) for each in first],
        "seconds": reply["timings"]["predicted_ms"] / 1000,
        "server": _posted(f"{url}/props", None).get("build_info", ""),
    }


def _posted(url: str, body: dict[str, Any] | None) -> Any:
    reply = httpx.get(url) if body is None else httpx.post(url, json=body, timeout=600)
    return reply.raise_for_status().json()


@nnx.jit
def scores(model: Llama, tokens: jax.Array) -> jax.Array:
    """[T, V] float32 log-probabilities behind each of [T] tokens, -1 where there is none."""
    places = jnp.arange(tokens.shape[0], dtype=jnp.int32)[None]
    mask = causal_mask(jnp.where(tokens >= 0, 0, -1)[None])
    states, _ = model(jnp.maximum(tokens, 0)[None], places, mask)
    return jax.nn.log_softmax(model.logits(states[0]), axis=-1)


def compared(model: Llama, end: Sequence[int], reply: dict[str, Any]) -> dict[str, Any]:
    """Whether the likeliest tokens are the server's, and how far the first token's scores are."""
    prompt, wanted = reply["prompt"], list(reply["tokens"])
    padded = np.full(LENGTH, -1, np.int32)
    padded[: len(prompt) + len(wanted)] = prompt + wanted
    found = np.asarray(scores(model, jnp.asarray(padded)))[len(prompt) - 1 :]
    likeliest = found.argmax(axis=1)
    same = [int(a) == b for a, b in zip(likeliest, wanted)]
    if reply["ended"] and (not wanted or wanted[-1] not in end):
        same.append(int(likeliest[len(wanted)]) in end)
    ids, theirs = zip(*reply["scores"])
    return {"same": same, "distance": float(np.abs(found[0, list(ids)] - theirs).mean())}


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, data=False)
    parser.add_argument("--file", type=Path, required=True, help="GGUF file")
    parser.add_argument("--state", type=Path, required=True, help="file of the server's replies")
    parser.add_argument("--url", default="http://127.0.0.1:8081", help="of llama.cpp's server")
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--prompts", type=int, default=50)
    parser.add_argument("--tokens", type=int, default=64, help="of a reply, at most")
    parser.add_argument("--written", type=int, default=4, help="replies that are written here")
    options = parser.parse_args(argv)
    begin = time.perf_counter()
    language = LanguageModel.open(options.file, dtype=options.dtype)
    opened, end = time.perf_counter() - begin, language.tokenizer.end
    known = {}
    if options.state.exists():
        lines = options.state.read_text("utf-8").splitlines()
        known = {(row := json.loads(line))["question"]: row for line in lines}
    asked = list(questions())[: options.prompts]
    with options.state.open("a", encoding="utf-8") as state:
        for question in asked:
            if question not in known:
                row = from_server(options.url, language.tokenizer, question, options.tokens)
                known[question] = row
                state.write(json.dumps(row) + "\n")
                state.flush()
    replies = [known[question] for question in asked]
    found = [compared(language.model, end, reply) for reply in replies]
    seconds, count, equal = 0.0, 0, []
    for i, reply in enumerate([*replies[:1], *replies[: options.written]]):
        begin = time.perf_counter()
        (own,) = generate(language.model, [reply["prompt"]], end=end, max_tokens=options.tokens)
        if i:  # the first one compiles
            seconds += time.perf_counter() - begin
            count += len(own.tokens)
            equal.append(list(own.tokens) == [t for t in reply["tokens"] if t not in end])
    record = Record(__file__, options, part=f"{options.file.stem}-{options.dtype}")
    table = record.table("what", "value")
    table.add("prompts cut into the same tokens", share([r["same_prompt"] for r in replies]))
    table.add("replies the same to the last token", share([all(f["same"]) for f in found]))
    table.add(
        "next tokens the same, behind the server's", share([x for f in found for x in f["same"]])
    )
    distance = float(np.mean([f["distance"] for f in found]))
    table.add("mean difference of the first token's ten best log-probabilities", distance)
    table.add(f"of {len(equal)} replies written here, the server's", sum(equal))
    table.add("tokens a second here, the prompt's time included", count / seconds)
    theirs = sum(len(r["tokens"]) for r in replies) / sum(r["seconds"] for r in replies)
    table.add("tokens a second of the server, behind the prompt", theirs)
    table.add("seconds to open the file", opened)
    record.note(f"server: {replies[0]['server']}; {options.tokens} tokens at most; {options.dtype}")
    record.save()


if __name__ == "__main__":
    main()
