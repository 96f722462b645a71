"""MiniLM in Flax on short texts: texts a second, beside sentence-transformers where it is at hand.

    python scripts/bench_encoder.py --reference other-venv/bin/python

`--reference` names a Python that has sentence-transformers; it runs the same texts with the same
weights in a process of its own, before and after, and its vectors are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import jax
import numpy as np

from jaxkg.kg import read_questions
from jaxkg.text.minilm import MiniLM
from jaxkg.text.weights import find_weights

TORCH = """
import json, sys, time
import numpy as np, sentence_transformers, torch
texts = json.load(open(sys.argv[1]))
model = sentence_transformers.SentenceTransformer(sys.argv[2], device="cpu")
model.encode(texts[:64])
best = min(
    (lambda begin: (model.encode(texts, batch_size=int(sys.argv[4])), time.perf_counter() - begin))(
        time.perf_counter())[1] for _ in range(3)
)
np.save(sys.argv[3], model.encode(texts, normalize_embeddings=True))
print(json.dumps({"seconds": best, "threads": torch.get_num_threads(),
    "version": f"sentence-transformers {sentence_transformers.__version__}, "
    f"torch {torch.__version__}"}))
"""


def reference(python: Path, texts: list[str], weights: Path, batch: int) -> tuple[dict, np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        given, vectors = Path(folder) / "texts.json", Path(folder) / "vectors.npy"
        given.write_text(json.dumps(texts), encoding="utf-8")
        command = [python, "-c", TORCH, given, weights, vectors, str(batch)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.loads(done.stdout.splitlines()[-1]), np.load(vectors)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--weights", help="folder or hub name")
    parser.add_argument("--reference", type=Path, help="a Python with sentence-transformers")
    parser.add_argument("--batch", type=int, default=32, help="of the reference")
    parser.add_argument("--seed", type=int, default=0, help="of the choice of texts")
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    parser.add_argument("--data", type=Path, default=os.environ.get("JAXKG_DATA", "../shared/data"))
    options = parser.parse_args(argv)
    questions = read_questions(options.data / "freebase_webqsp_cwq" / "cwq_test.jsonl")
    chosen = np.random.default_rng(options.seed).permutation(len(questions))[: options.texts]
    texts = [questions[i].text for i in chosen.tolist()]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"device {jax.devices()[0]}, jax {jax.__version__}, {cores} cores, {len(texts)} texts")
    print("\n| encoder | seconds | texts/s | lowest cosine to the reference |\n|---|---|---|---|")
    rows: list[dict] = []

    def tell(name: str, seconds: float, cosine: float | None = None) -> None:
        rows.append({"encoder": name, "seconds": seconds, "cosine": cosine})
        told = "" if cosine is None else f"{cosine:.6f}"
        print(f"| {name} | {seconds:.2f} | {len(texts) / seconds:.0f} | {told} |", flush=True)

    vectors = None
    weights = find_weights(options.weights)
    if options.reference:
        found, vectors = reference(options.reference, texts, weights, options.batch)
        tell(f"{found['version']}, {found['threads']} threads", found["seconds"])
    for dtype in ("float32", "bfloat16"):
        encode = MiniLM.open(options.weights, dtype=dtype)
        mine = encode(texts)  # compiles
        seconds = []
        for _ in range(options.rounds):
            begin = time.perf_counter()
            encode(texts)
            seconds.append(time.perf_counter() - begin)
        cosine = None if vectors is None else float((mine * vectors).sum(axis=1).min())
        tell(f"jaxkg MiniLM {dtype}", min(seconds), cosine)
    if options.reference:
        found, _ = reference(options.reference, texts, weights, options.batch)
        tell(f"{found['version']}, again", found["seconds"])
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
