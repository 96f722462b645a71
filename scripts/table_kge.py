"""Link prediction with knowledge-graph embeddings: filtered ranks on the test facts, three ways.

    python scripts/table_kge.py --sets UMLS --models complex rotate

The epoch is chosen on the validation facts; the test facts are ranked once.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import time
from pathlib import Path

import jax
import numpy as np

from jaxkg.evaluate.metrics.ranking import link_prediction
from jaxkg.kg import read_graph
from jaxkg.learn.embeddings.fit import fit_embeddings, rows_of
from jaxkg.learn.embeddings.ranking import rank_links
from jaxkg.learn.embeddings.train import EmbeddingConfig
from jaxkg.score.embeddings import MODELS

SETS = ("UMLS", "FB15k-237", "WN18RR")
CONFIGS = {
    "complex": EmbeddingConfig(model="complex", loss="one-vs-all", n3=0.01),
    "distmult": EmbeddingConfig(model="distmult", loss="one-vs-all", n3=0.01),
    "rotate": EmbeddingConfig(model="rotate", loss="self-adversarial", learning_rate=0.1),
    "transe": EmbeddingConfig(model="transe", loss="self-adversarial", learning_rate=0.1),
}
METRICS = ("mrr_realistic", "hits_at_1_realistic", "hits_at_10_realistic", "mean_rank_realistic")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", nargs="+", default=["UMLS"], choices=SETS)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    for name in ("dimension", "epochs", "batch_size", "negatives", "every", "patience"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int)
    for name in ("learning_rate", "n3", "margin"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=float)
    parser.add_argument("--output", type=Path, default=Path("runs/kge"), help="resumed from here")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    parser.add_argument("--data", type=Path, default=os.environ.get("JAXKG_DATA", "../shared/data"))
    options = parser.parse_args(argv)
    given = {
        field.name: getattr(options, field.name)
        for field in dataclasses.fields(EmbeddingConfig)
        if getattr(options, field.name, None) is not None
    }
    print(f"device {jax.devices()[0]}, jax {jax.__version__}, seed {options.seed}\n")
    print(f"| set | model | D | epoch | seconds | {' | '.join(METRICS)} | pessimistic mrr |")
    print("|---" * (len(METRICS) + 6) + "|", flush=True)
    found = []
    for name in options.sets:
        folder = Path(options.data) / "kge" / name
        train = next(p for p in (folder / "train.txt", folder / "train.txt.gz") if p.exists())
        graph = read_graph(train, format="tsv")
        parts = [rows_of(graph, read_graph(folder / f"{p}.txt", format="tsv"))
                 for p in ("valid", "test")]  # fmt: skip
        (validation, _), (test, missing) = parts
        if missing:
            print(f"<!-- {name}: {missing} test facts name an entity without a training fact -->")
        known = np.concatenate([graph.triples, validation, test])
        for model in options.models:
            config = dataclasses.replace(CONFIGS[model], **given)
            begin = time.perf_counter()
            made = fit_embeddings(
                options.output / f"{name}-{model}-{options.seed}",
                graph.triples,
                validation,
                entities=graph.entity_ids.tolist(),
                relations=graph.relations,
                config=config,
                seed=options.seed,
            )
            seconds = time.perf_counter() - begin
            counts = rank_links(model, made.embeddings, test, known, norm=config.norm)
            metrics = link_prediction(*counts, seed=options.seed)
            cells = [
                f"{m.value:.4f} ({m.low:.4f}–{m.high:.4f})" for m in map(metrics.get, METRICS) if m
            ]
            print(
                f"| {name} | {model} | {config.dimension} | {made.about['best']} | {seconds:.0f} | "
                f"{' | '.join(cells)} | {metrics['mrr_pessimistic'].value:.4f} |",
                flush=True,
            )
            found.append(
                {"set": name, "config": dataclasses.asdict(config), "seconds": seconds}
                | {key: value.value for key, value in metrics.items()}
            )
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
