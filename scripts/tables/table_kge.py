"""Link prediction with knowledge-graph embeddings: filtered ranks on the test facts, three ways.

The epoch is chosen on the validation facts; the test facts are ranked once. UMLS takes two minutes
a model on two CPU cores, FB15k-237 and WN18RR hours.

    python scripts/tables/table_kge.py --sets UMLS --models complex rotate
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import numpy as np

from jaxkg.evaluate import link_prediction
from jaxkg.kg import read_graph
from jaxkg.learn.embeddings.fit import fit_embeddings, rows_of
from jaxkg.learn.embeddings.ranking import rank_links
from jaxkg.learn.embeddings.train import EmbeddingConfig
from jaxkg.score.embeddings import MODELS

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments
from lib.seconds import Laps
from lib.sets import LINKS, training_facts

CONFIGS = {
    "complex": EmbeddingConfig(model="complex", loss="one-vs-all", n3=0.01),
    "distmult": EmbeddingConfig(model="distmult", loss="one-vs-all", n3=0.01),
    "rotate": EmbeddingConfig(model="rotate", loss="self-adversarial", learning_rate=0.1),
    "transe": EmbeddingConfig(model="transe", loss="self-adversarial", learning_rate=0.1),
}
METRICS = ("mrr_realistic", "hits_at_1_realistic", "hits_at_10_realistic", "mean_rank_realistic")


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sets", nargs="+", default=["UMLS"], choices=LINKS)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    for name in ("dimension", "epochs", "batch_size", "negatives", "every", "patience"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int)
    for name in ("learning_rate", "n3", "margin"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=float)
    parser.add_argument("--output", type=Path, default=Path("runs/kge"), help="resumed from here")
    options = parser.parse_args(argv)
    given = {
        field.name: getattr(options, field.name)
        for field in dataclasses.fields(EmbeddingConfig)
        if getattr(options, field.name, None) is not None
    }
    record = Record(__file__, options)
    heads = ("set", "model", "D", "epoch", "seconds")
    table = record.table(*heads, *METRICS, "mrr_pessimistic")
    for name in options.sets:
        source = training_facts(name, options.data)
        graph = read_graph(source, format="tsv")
        (validation, _), (test, missing) = (
            rows_of(graph, read_graph(source.with_name(f"{part}.txt"), format="tsv"))
            for part in ("valid", "test")
        )
        if missing:
            record.note(f"{name}: {missing} test facts name an entity without a training fact")
        known = np.concatenate([graph.triples, validation, test])
        for model in options.models:
            config, laps = dataclasses.replace(CONFIGS[model], **given), Laps()
            made = fit_embeddings(
                options.output / f"{name}-{model}-{options.seed}",
                graph.triples,
                validation,
                entities=graph.entity_ids.tolist(),
                relations=graph.relations,
                config=config,
                seed=options.seed,
            )
            cells = [name, model, config.dimension, made.about["best"], laps.lap()]
            counts = rank_links(model, made.embeddings, test, known, norm=config.norm)
            metrics = link_prediction(*counts, seed=options.seed)
            table.add(*cells, *map(metrics.get, (*METRICS, "mrr_pessimistic")))
    record.save()


if __name__ == "__main__":
    main()
