"""MetaQA, guided search with the hybrid edge scorer: trained on dev answers, measured on test.

No hop count, no path labels; a tenth of dev only chooses the epoch. With `--state` a training that
was stopped goes on where it was.

    python scripts/table_guided.py --vectors runs/minilm.vectors --state runs/guided-state
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import jax

from jaxkg.cite import grounded
from jaxkg.evaluate import evaluate, prediction_line
from jaxkg.kg import find_topics, read_graph, read_questions
from jaxkg.kg.linking import Linker
from jaxkg.learn.edge_scorer import TrainedScorer, graph_vectors
from jaxkg.learn.edge_training import EdgeConfig
from jaxkg.learn.embedding_fit import TrainedEmbeddings
from jaxkg.learn.fit import masked_texts
from jaxkg.score.edges import EdgeSizes
from jaxkg.systems.guided import GuidedSearch, GuidedSettings
from jaxkg.systems.guided_fit import fit_edge_scorer
from jaxkg.tensors import tensor_graph
from jaxkg.text import HashingEncoder
from jaxkg.text.minilm import MiniLM
from jaxkg.text.vectors import CachedEncoder

_TIMED = 4096

METRICS = ("micro_f1", "f1", "hit_any", "path_recall_at_1", "grounded")


def seconds_a_question(qa: GuidedSearch, questions) -> float:
    """Search and execution with witnesses, topics already linked, texts encoded on the way.

    Everything is compiled already: the questions have been answered before.
    """
    topics = find_topics(qa.linker, questions)
    masked = masked_texts(questions, topics)
    begin = time.perf_counter()
    plans = qa.search(masked, topics)
    qa.execute(plans, qa.used(plans), topics)
    return (time.perf_counter() - begin) / len(questions)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, help="save the scorer here")
    parser.add_argument("--scorer", type=Path, help="use this one and train none")
    parser.add_argument("--state", type=Path, help="folder of the training's state")
    parser.add_argument("--vectors", type=Path, help="keep text vectors in this file")
    parser.add_argument(
        "--embeddings", type=Path, help="TransE of the graph; none reads text alone"
    )
    parser.add_argument("--hashing", action="store_true", help="hash words instead of MiniLM")
    parser.add_argument("--epochs", type=int, default=EdgeConfig.epochs)
    parser.add_argument("--steps", type=int, default=EdgeConfig.steps, help="an epoch")
    parser.add_argument("--learning-rate", type=float, default=EdgeConfig.learning_rate)
    parser.add_argument("--dtype", default=EdgeConfig.dtype, choices=("float32", "bfloat16"))
    parser.add_argument(
        "--leave-out",
        nargs="+",
        default=(),
        choices=("text", "context", "learning"),
        help="train without names and labels, hop context, or learning of relation vectors",
    )
    parser.add_argument("--split", default="test", choices=("dev", "test"), help="to measure on")
    parser.add_argument("--questions", type=int, help="measure on the first so many of each hop")
    parser.add_argument("--widths", type=int, nargs="+", default=[1, 3], help="1 is greedy")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    parser.add_argument("--data", type=Path, default=os.environ.get("JAXKG_DATA", "../shared/data"))
    options = parser.parse_args(argv)
    folder = Path(options.data) / "metaqa"
    kg = read_graph(folder / "kb.txt")
    tensors, linker = tensor_graph(kg), Linker(kg)
    encoder = HashingEncoder(buckets=512) if options.hashing else MiniLM.open()
    if options.vectors:
        encoder = CachedEncoder(encoder, options.vectors)
    print(f"device {jax.devices()[0]}, jax {jax.__version__}, encoder {encoder.name}", flush=True)
    if options.scorer:
        scorer = TrainedScorer.open(options.scorer)
    else:
        dev = [q for hop in (1, 2, 3) for q in read_questions(folder / f"{hop}-hop" / "qa_dev.txt")]
        if "text" in options.leave_out and not options.embeddings:
            parser.error("without text there must be --embeddings")
        vectors = None
        if options.embeddings:
            vectors = graph_vectors(kg, TrainedEmbeddings.open(options.embeddings))
        begin = time.perf_counter()

        def on_epoch(epoch: int, loss: float, score: float) -> bool:
            spent = time.perf_counter() - begin
            print(f"epoch {epoch}: loss {loss:.4f}, F1 {score:.4f}, {spent:.0f} s", flush=True)
            return True

        scorer = fit_edge_scorer(
            kg,
            tensors,
            dev,
            encoder,
            graph=vectors,
            sizes=EdgeSizes(
                text=0 if "text" in options.leave_out else encoder.dimension,
                graph=0 if vectors is None else vectors[0].shape[1],
                question=encoder.dimension,
                context="context" not in options.leave_out,
            ),
            config=EdgeConfig(
                epochs=options.epochs,
                steps=options.steps,
                learning_rate=options.learning_rate,
                dtype=options.dtype,
                learn_relations="learning" not in options.leave_out,
            ),
            linker=linker,
            folder=options.state,
            seed=options.seed,
            on_epoch=on_epoch,
        )
        print(f"mining and training: {time.perf_counter() - begin:.0f} s")
        if options.output:
            scorer.save(options.output)

    def name_of(id: str) -> str | None:
        return kg.name(row[0]) if (row := kg.entity_ids.rows(id)) else None

    print(f"\n| hops | width | {' | '.join(METRICS)} | ms/question |")
    print("|---" * (len(METRICS) + 3) + "|")
    rows = []
    for width in options.widths:
        settings = GuidedSettings(width=width)
        qa = GuidedSearch.build(
            kg, scorer, encoder, tensors=tensors, linker=linker, settings=settings
        )
        for hop in (1, 2, 3):
            path = folder / f"{hop}-hop" / f"qa_{options.split}.txt"
            questions = read_questions(path)[: options.questions]
            lines = []
            for first in range(0, len(questions), 2048):
                chunk = questions[first : first + 2048]
                lines += [
                    prediction_line(q, a, check=lambda some: grounded(kg, some), name_of=name_of)
                    for q, a in zip(chunk, qa.answer(chunk))
                ]
            found = evaluate(lines, seed=options.seed)
            estimates = [found.metrics[metric] for metric in METRICS]
            spent = seconds_a_question(qa, questions[:_TIMED])
            cells = [f"{e.value:.4f} ({e.low:.4f}–{e.high:.4f})" for e in estimates]
            print(f"| {hop} | {width} | {' | '.join(cells)} | {1e3 * spent:.2f} |", flush=True)
            rows.append(
                {"hops": hop, "width": width, "seconds": spent}
                | {name: e.to_dict() for name, e in zip(METRICS, estimates)}
            )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
