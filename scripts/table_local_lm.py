"""MetaQA 3-hop, PathMind with a language model of its own: SFT, then SFT and DPO.

Important paths of dev questions, with their answers, teach a small model from scratch to name the
paths that bear the answer (SFT, Eq. 7); then the important paths are preferred to random ones of
the subgraph (DPO, Eq. 8). Both models judge the important paths of test questions under a grammar.
Training goes on where it was stopped.

    python scripts/table_local_lm.py -o runs/local-lm --priority runs/pathmind-metaqa

On a GPU: --width 768 --layers 12 --batch 64 --train 14000 --epochs 3 --dtype bfloat16.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

import jax
import numpy as np

from jaxkg.adjudicate import adjudicate
from jaxkg.cite import grounded
from jaxkg.evaluate import Report, compare, evaluate, prediction_line
from jaxkg.kg import KnowledgeGraph, entity_rows, read_graph, read_questions
from jaxkg.learn.lm import Example, LanguageModel, LMConfig, LMTokenizer, TrainConfig, train
from jaxkg.learn.lm.training import align
from jaxkg.learn.priority import PriorityModel
from jaxkg.learn.priority_fit import fit_priority
from jaxkg.learn.priority_training import PriorityConfig
from jaxkg.records import Answer, Question
from jaxkg.systems.local_lm import LocalLM, bearing, teach
from jaxkg.systems.local_prompts import Offer, offer_of_answer
from jaxkg.systems.pathmind import PathMind, PathMindSettings
from jaxkg.tensors import tensor_graph

METRICS = ("hits_at_1", "f1", "hit_any", "grounded")


def sample(questions: Sequence[Question], count: int, seed: int) -> list[Question]:
    order = np.random.default_rng(seed).permutation(len(questions))[:count]
    return [questions[i] for i in sorted(order.tolist())]


def report(
    kg: KnowledgeGraph, questions: Sequence[Question], answers: Sequence[Answer], seed: int
) -> Report:
    def name_of(id: str) -> str | None:
        return kg.name(row[0]) if (row := kg.entity_ids.rows(id)) else None

    lines = [
        prediction_line(question, answer, check=lambda a: grounded(kg, a), name_of=name_of)
        for question, answer in zip(questions, answers)
    ]
    return evaluate(lines, seed=seed)


def priority(kg, tensors, folder: Path, data: Path, seed: int) -> PriorityModel:
    """The model kept in a folder, or one trained on dev answers of all hop counts."""
    if (folder / "priority.json").exists():
        return PriorityModel.open(folder)
    dev = [q for hop in (1, 2, 3) for q in read_questions(data / f"{hop}-hop" / "qa_dev.txt")]
    model, _ = fit_priority(kg, tensors, dev, config=PriorityConfig(epochs=1), hops=3, seed=seed)
    model.save(folder)
    return model


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, required=True, help="models and checkpoints")
    parser.add_argument("--priority", type=Path, help="trained path priority; else one is made")
    parser.add_argument("--train", type=int, default=3000, help="dev questions to teach")
    parser.add_argument("--pairs", type=int, default=300, help="of them for DPO")
    parser.add_argument("--test", type=int, default=500, help="test questions to measure on")
    parser.add_argument("--keep", type=int, default=3, help="K, entities an iteration")
    parser.add_argument("--iterations", type=int, default=4, help="T")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--vocab", type=int, default=2048)
    parser.add_argument("--length", type=int, default=1024, help="tokens of a packed row")
    parser.add_argument("--batch", type=int, default=8, help="rows a step")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the numbers here")
    parser.add_argument("--data", type=Path, default=os.environ.get("JAXKG_DATA", "../shared/data"))
    options = parser.parse_args(argv)
    data, seed = Path(options.data) / "metaqa", options.seed
    kg = read_graph(data / "kb.txt")
    tensors = tensor_graph(kg)
    cores = len(os.sched_getaffinity(0))
    print(f"device {jax.devices()[0]}, jax {jax.__version__}, {cores} of {os.cpu_count()} cores")
    clock = time.perf_counter()

    def lap(what: str) -> None:
        nonlocal clock
        print(f"{what}: {time.perf_counter() - clock:.0f} s", flush=True)
        clock = time.perf_counter()

    model = priority(kg, tensors, options.priority or options.output / "priority", data, seed)
    settings = PathMindSettings(keep=options.keep, iterations=options.iterations)
    qa = PathMind.build(kg, model, tensors=tensors, settings=settings)
    lap("path priority")
    taught = sample(read_questions(data / "3-hop" / "qa_dev.txt"), options.train, seed)
    asked = sample(read_questions(data / "3-hop" / "qa_test.txt"), options.test, seed)
    shown, tested = qa.retrieve(taught), qa.retrieve(asked)
    other = qa.retrieve(taught[: options.pairs], strategy="random", seed=seed)
    lap("paths")

    offers = [(q, offer) for q, a in zip(taught, shown) if (offer := offer_of_answer(a))]
    texts = [text for _, offer in offers for _, text in offer.turns((), compact=True)]
    tokenizer = LMTokenizer.train(texts, vocab_size=options.vocab)
    examples = [teach(tokenizer, offer, bearing(offer, gold(kg, q))) for q, offer in offers]
    fitting = [each for each in examples if each.length <= options.length]
    print(f"{len(fitting):,} examples of {len(taught):,} questions, "
          f"{np.mean([each.length for each in fitting]):.0f} tokens each")  # fmt: skip
    sizes = LMConfig.small(tokenizer.size, width=options.width, layers=options.layers)
    start = LanguageModel.create(tokenizer, sizes, seed=seed, about={"prompts": "compact"})
    config = TrainConfig(
        epochs=options.epochs,
        length=options.length,
        batch_size=options.batch,
        dtype=options.dtype,
        every=20,
    )

    def tell(done: int, steps: int, loss: float) -> None:
        print(f"  step {done} of {steps}, loss {loss:.3f}", flush=True)

    sft = train(
        start, fitting, config=config, checkpoints=options.output / "sft", seed=seed,
        on_progress=tell,
    )  # fmt: skip
    sft.language.save(options.output / "model-sft")
    lap("SFT")

    pairs = []
    for question, first, second in zip(taught, shown, other):
        one, two = offer_of_answer(first), offer_of_answer(second)
        if one and two and one.lines != two.lines:
            pair = preference(tokenizer, question, one), preference(tokenizer, question, two)
            if max(each.length for each in pair) <= options.length:
                pairs.append(pair)
    config = dataclasses.replace(config, epochs=1, learning_rate=1e-4)
    dpo = align(
        sft.language, pairs, config=config, checkpoints=options.output / "dpo", seed=seed,
        on_progress=tell,
    )  # fmt: skip
    dpo.language.save(options.output / "model-dpo")
    lap(f"DPO on {len(pairs):,} pairs")

    reports = {"retrieval alone": report(kg, asked, tested, seed)}
    for name, language in {"SFT": sft.language, "SFT + DPO": dpo.language}.items():
        with LocalLM(language) as backend:
            reports[name] = report(kg, asked, adjudicate(backend, tested), seed)
        lap(f"{name}, {len(asked):,} test questions")
    print("\n" + compare(reports, metrics=METRICS, seed=seed))
    if options.json:
        told = {
            name: {m: dataclasses.asdict(found.metrics[m]) for m in METRICS}
            for name, found in reports.items()
        }
        losses = {"sft": sft.losses, "dpo": dpo.losses}
        options.json.write_text(json.dumps({"rows": told, **losses}, indent=1), encoding="utf-8")


def gold(kg: KnowledgeGraph, question: Question) -> set[str]:
    """Names of a question's answers, as the graph writes them."""
    return {kg.name(row) for answer in question.answers or () for row in entity_rows(kg, answer)}


def preference(tokenizer: LMTokenizer, question: Question, offer: Offer) -> Example:
    """The paths of an offer as what follows a question."""
    return Example.of_chat(tokenizer, [("user", question.text)], offer.lines)


if __name__ == "__main__":
    main()
