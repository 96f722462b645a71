"""MiniLM in Flax on short texts: texts a second, beside sentence-transformers where it is at hand.

    python scripts/bench/bench_encoder.py --reference other-venv/bin/python

`--reference` names a Python that has sentence-transformers; it runs the same texts with the same
weights in a process of its own, before and after, and its vectors are compared. A minute,
three with a reference.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from jaxkg.text.minilm import MiniLM
from jaxkg.text.weights import find_weights

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments, numbers
from lib.seconds import fastest
from lib.sets import sets

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
    parser = arguments(__doc__)
    numbers(parser, texts=2000, rounds=3)
    parser.add_argument("--weights", help="folder or hub name")
    parser.add_argument("--reference", type=Path, help="a Python with sentence-transformers")
    parser.add_argument("--batch", type=int, default=32, help="of the reference")
    options = parser.parse_args(argv)
    record = Record(__file__, options)
    questions = sets("webqsp", options.data).questions("cwq")
    chosen = np.random.default_rng(options.seed).permutation(len(questions))[: options.texts]
    texts = [questions[i].text for i in chosen.tolist()]
    record.note(f"{len(texts):,} texts")
    table = record.table("encoder", "seconds", "texts/s", "lowest cosine to the reference")

    def add(name: str, seconds: float, cosine: float | None = None) -> None:
        told = None if cosine is None else f"{cosine:.6f}"
        table.add(name, seconds, len(texts) / seconds, told)

    vectors = None
    weights = find_weights(options.weights)
    if options.reference:
        found, vectors = reference(options.reference, texts, weights, options.batch)
        add(f"{found['version']}, {found['threads']} threads", found["seconds"])
    for dtype in ("float32", "bfloat16"):
        encode = MiniLM.open(options.weights, dtype=dtype)
        best = fastest(lambda encode=encode: encode(texts), repeats=options.rounds)
        cosine = None if vectors is None else float((best.result * vectors).sum(axis=1).min())
        add(f"jaxkg MiniLM {dtype}", best.seconds, cosine)
    if options.reference:
        found, _ = reference(options.reference, texts, weights, options.batch)
        add(f"{found['version']}, again", found["seconds"])
    record.save()


if __name__ == "__main__":
    main()
