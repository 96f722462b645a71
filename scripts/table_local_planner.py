"""MetaQA, planned by a small language model of one's own: LoRA on a scripted teacher's plans.

The base model, made here, has read dev questions and walks of the graph as text, no question beside
its plan. A scripted teacher then plans dev questions with their gold relation paths, and a LoRA
learns to write these plans from the question, its topic masked. Under a grammar of the graph's
relations and a stop it plans the test questions; no hop count is given; the plans are executed
exactly. What is trained goes on where it was stopped.

    python scripts/table_local_planner.py -o runs/local-planner

On a GPU: --width 768 --layers 12 --batch 256 --traces 9000 --dtype bfloat16 --together 1024.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

import jax
import numpy as np
from table_llm_planned import gold_teacher, report

from jaxkg.adjudicate.calls.planning import Wanted
from jaxkg.kg import KnowledgeGraph, Linker, read_graph, read_questions
from jaxkg.learn.lm import TrainConfig, train
from jaxkg.learn.planner.traces import PlanTrace
from jaxkg.lm import Example, LanguageModel, LMConfig, LMTokenizer
from jaxkg.lm.backend import LocalLM, teach
from jaxkg.lm.offers import Offer, offer_of_plan
from jaxkg.records import Question
from jaxkg.systems.llm_planned.system import LLMPlannedQA
from jaxkg.systems.pathmind.walks import random_walks
from jaxkg.tensors import TensorGraph, tensor_graph
from jaxkg.types import NULL

METRICS = ("micro_f1", "f1", "hits_at_1", "exact_set", "grounded", "calls")
HOPS = (1, 2, 3)
CHUNK = 2048


def teacher_traces(
    kg: KnowledgeGraph, tensors: TensorGraph, linker: Linker, questions: Sequence[Question]
) -> list[PlanTrace]:
    """What the teacher said of each question, its plans held against the graph and executed."""
    traces: list[PlanTrace] = []
    qa = LLMPlannedQA.build(
        kg, gold_teacher(questions), tensors=tensors, linker=linker, on_trace=traces.append
    )
    for first in range(0, len(questions), CHUNK):
        qa.answer(questions[first : first + CHUNK])
    return [trace for trace in traces if trace.used]


def offer_of_trace(kg: KnowledgeGraph, trace: PlanTrace) -> Offer:
    """What the planner is offered of a trace's question."""
    topics = tuple(kg.name(kg.entity(node)) for node in trace.linked)
    wanted = Wanted(trace.question.text, trace.question.id, topics, kg.relations)
    offer = offer_of_plan(wanted, hops=max(HOPS))
    assert offer is not None
    return offer


def walks_of_graph(kg: KnowledgeGraph, tensors: TensorGraph, count: int, seed: int):
    """Relation names along random walks from random entities."""
    starts = np.random.default_rng(seed).integers(0, kg.num_entities, count)
    topics = [(int(node),) for node in starts]
    _, edges, _ = random_walks(tensors, topics, hops=max(HOPS), count=1, seed=seed)
    for walk in edges.tolist():
        yield [kg.relation_name(int(tensors.relation[edge])) for edge in walk if edge != NULL]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="models and checkpoints")
    parser.add_argument("--traces", type=int, default=3000, help="dev questions a hop to teach")
    parser.add_argument("--aside", type=int, default=500, help="others a hop, to choose by")
    parser.add_argument("--split", default="test", choices=("dev", "test"), help="to measure on")
    parser.add_argument("--limit", type=int, help="so many questions a hop, drawn by the seed")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--vocab", type=int, default=768)
    parser.add_argument("--length", type=int, default=128, help="tokens of a packed row")
    parser.add_argument("--batch", type=int, default=32, help="rows a step")
    parser.add_argument("--base-epochs", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=4, help="of the LoRA")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--alpha", type=float, default=32.0)
    parser.add_argument("--rate", type=float, default=3e-3, help="peak learning rate")
    parser.add_argument("--together", type=int, default=256, help="questions planned together")
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the numbers here")
    parser.add_argument("--data", type=Path, default=os.environ.get("JAXKG_DATA", "../shared/data"))
    options = parser.parse_args(argv)
    data, seed = Path(options.data) / "metaqa", options.seed
    kg = read_graph(data / "kb.txt")
    tensors, linker = tensor_graph(kg), Linker(kg)
    cores = len(os.sched_getaffinity(0))
    print(f"device {jax.devices()[0]}, jax {jax.__version__}, {cores} of {os.cpu_count()} cores")
    clock = time.perf_counter()

    def lap(what: str) -> None:
        nonlocal clock
        print(f"{what}: {time.perf_counter() - clock:.0f} s", flush=True)
        clock = time.perf_counter()

    def tell(done: int, steps: int, loss: float) -> None:
        print(f"  step {done} of {steps}, loss {loss:.4f}", flush=True)

    taught: list[Question] = []
    asked: dict[int, list[Question]] = {}
    for hop in HOPS:
        dev = read_questions(data / f"{hop}-hop" / "qa_dev.txt")
        order = np.random.default_rng((seed, hop)).permutation(len(dev)).tolist()
        taught += [dev[i] for i in order[: options.traces]]
        aside = [dev[i] for i in order[options.traces :][: options.aside]]
        some = read_questions(data / f"{hop}-hop" / "qa_test.txt")
        order = np.random.default_rng((seed, hop)).permutation(len(some)).tolist()
        asked[hop] = aside if options.split == "dev" else [some[i] for i in order[: options.limit]]

    told: dict[str, object] = {}
    kept = options.output / "model"
    if (kept / "config.json").exists():
        language = LanguageModel.open(kept)
        print(f"the model of {kept}")
    else:
        traces = teacher_traces(kg, tensors, linker, taught)
        offers = [offer_of_trace(kg, trace) for trace in traces]
        lap(f"{len(traces):,} traces")
        turns = [offer.turns((), compact=True) for offer in offers]
        texts = [text for some in turns for _, text in some]
        walks = list(walks_of_graph(kg, tensors, len(texts) // 2, seed))
        tokenizer = LMTokenizer.train(
            [*texts, *("\n".join(walk) for walk in walks)], vocab_size=options.vocab
        )
        read = [tokenizer.chat(some) for some in turns]
        plain = [Example(tuple(ids[:1]), tuple(ids[1:])) for ids in read]
        plain += [Example.of_chat(tokenizer, (), walk) for walk in walks]
        sizes = LMConfig.small(tokenizer.size, width=options.width, layers=options.layers)
        start = LanguageModel.create(tokenizer, sizes, seed=seed, about={"prompts": "compact"})
        config = TrainConfig(
            epochs=options.base_epochs,
            length=options.length,
            batch_size=options.batch,
            learning_rate=options.rate,
            dtype=options.dtype,
            every=50,
        )
        base = train(
            start, plain, config=config, checkpoints=options.output / "base", seed=seed,
            on_progress=tell,
        )  # fmt: skip
        lap(f"base model of {sum(each.length for each in plain):,} tokens")
        examples = [
            teach(tokenizer, offer, [hop[0] for hop in trace.plans[trace.used[0]]])
            for trace, offer in zip(traces, offers)
        ]
        config = TrainConfig(
            epochs=options.epochs,
            length=options.length,
            batch_size=options.batch,
            learning_rate=options.rate,
            lora_rank=options.rank,
            lora_alpha=options.alpha,
            dtype=options.dtype,
            every=50,
        )
        tuned = train(
            base.language, examples, config=config, checkpoints=options.output / "lora", seed=seed,
            on_progress=tell,
        )  # fmt: skip
        language = tuned.language
        language.save(kept)
        lap(f"LoRA on {len(examples):,} traces, {sum(each.length for each in examples):,} tokens")
        told["losses"] = {"base": base.losses, "lora": tuned.losses}

    rows: dict[str, dict] = {}
    print(f"\n| hops | questions | {' | '.join(METRICS)} | questions/s |")
    print("|---" * (len(METRICS) + 3) + "|")
    with LocalLM(language, batch_size=options.together) as backend:
        qa = LLMPlannedQA.build(kg, backend, tensors=tensors, linker=linker)
        for hop, some in asked.items():
            begin = time.perf_counter()
            found = report(qa, kg, some, seed)
            rate = len(some) / (time.perf_counter() - begin)
            estimates = {metric: found.metrics[metric] for metric in METRICS}
            cells = [f"{e.value:.4f} ({e.low:.4f}–{e.high:.4f})" for e in estimates.values()]
            print(f"| {hop} | {len(some):,} | {' | '.join(cells)} | {rate:,.0f} |", flush=True)
            rows[f"{hop}-hop"] = {name: each.to_dict() for name, each in estimates.items()}
    if options.json:
        told = {"split": options.split, "rows": rows, **told}
        options.json.write_text(json.dumps(told, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
