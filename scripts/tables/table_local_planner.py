"""MetaQA, planned by a small language model of one's own: LoRA on a scripted teacher's plans.

The base model, made here, has read dev questions and walks of the graph as text, no question beside
its plan. A scripted teacher then plans dev questions with their gold relation paths, and a LoRA
learns to write these plans from the question, its topic masked. Under a grammar of the graph's
relations and a stop it plans the test questions; no hop count is given; the plans are executed
exactly. What is trained goes on where it was stopped. Seven minutes on two CPU
cores.

    python scripts/tables/table_local_planner.py -o runs/local-planner

On a GPU: --width 768 --layers 12 --batch 256 --traces 9000 --dtype bfloat16 --together 1024.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from table_llm_planned import teacher_traces

from jaxkg.adjudicate.calls.planning import Wanted
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.typed_schema import TypedSchema
from jaxkg.learn.lm import TrainConfig, train
from jaxkg.learn.planner.traces import PlanTrace
from jaxkg.lm import Example, LanguageModel, LMConfig, LMTokenizer
from jaxkg.lm.backend import LocalLM
from jaxkg.lm.offers import Offer
from jaxkg.records import Question
from jaxkg.systems.llm_planned.system import LLMPlannedQA
from jaxkg.systems.pathmind.walks import random_walks
from jaxkg.types import NULL

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.lessons import offer_of_plan, teach
from lib.measure import measure
from lib.record import Record, arguments, numbers
from lib.rows import row
from lib.seconds import Laps
from lib.sets import Sets, sets

METRICS = ("micro_f1", "f1", "hits_at_1", "exact_set", "grounded", "calls")
HOPS = (1, 2, 3)


def offer_of_trace(kg: KnowledgeGraph, schema: TypedSchema, trace: PlanTrace) -> Offer:
    """What the planner is offered of a trace's question."""
    topics = tuple(kg.name(kg.entity(node)) for node in trace.linked)
    lines = tuple(map(schema.line, range(kg.num_relations)))
    wanted = Wanted(trace.question.text, trace.question.id, topics, lines)
    offer = offer_of_plan(wanted, hops=max(HOPS))
    assert offer is not None
    return offer


def walks_of_graph(world: Sets, count: int, seed: int):
    """Relation names along random walks from random entities."""
    kg, tensors, told = world.kg, world.tensors, TypedSchema(world.kg).told
    starts = np.random.default_rng(seed).integers(0, kg.num_entities, count)
    topics = [(int(node),) for node in starts]
    _, edges, _ = random_walks(tensors, topics, hops=max(HOPS), count=1, seed=seed)
    for walk in edges.tolist():
        yield [told(int(tensors.relation[edge])) for edge in walk if edge != NULL]


def fitted(world: Sets, taught: list[Question], options: argparse.Namespace) -> LanguageModel:
    """The base model, and the LoRA that it is taught to plan with."""
    laps, seed = Laps(), options.seed

    def tell(done: int, steps: int, loss: float) -> None:
        print(f"  step {done} of {steps}, loss {loss:.4f}", flush=True)

    def config(epochs: int, **lora: float) -> TrainConfig:
        return TrainConfig(
            epochs=epochs,
            length=options.length,
            batch_size=options.batch,
            learning_rate=options.rate,
            dtype=options.dtype,
            every=50,
            **lora,  # pyright: ignore[reportArgumentType]
        )

    traces = [trace for trace in teacher_traces(world, taught) if trace.used]
    schema = TypedSchema(world.kg)
    offers = [offer_of_trace(world.kg, schema, trace) for trace in traces]
    laps.lap(f"{len(traces):,} traces")
    turns = [offer.turns((), compact=True) for offer in offers]
    texts = [text for some in turns for _, text in some]
    walks = list(walks_of_graph(world, len(texts) // 2, seed))
    tokenizer = LMTokenizer.train(
        [*texts, *("\n".join(walk) for walk in walks)], vocab_size=options.vocab
    )
    read = [tokenizer.chat(some) for some in turns]
    plain = [Example(tuple(ids[:1]), tuple(ids[1:])) for ids in read]
    plain += [Example.of_chat(tokenizer, (), walk) for walk in walks]
    sizes = LMConfig.small(tokenizer.size, width=options.width, layers=options.layers)
    start = LanguageModel.create(tokenizer, sizes, seed=seed, about={"prompts": "compact"})
    base = train(
        start,
        plain,
        config=config(options.base_epochs),
        checkpoints=options.output / "base",
        seed=seed,
        on_progress=tell,
    )
    laps.lap(f"base model of {sum(each.length for each in plain):,} tokens")
    examples = [
        teach(
            tokenizer,
            offer,
            [schema.told(world.kg.relation_code(hop[0])) for hop in trace.plans[trace.used[0]]],
        )
        for trace, offer in zip(traces, offers)
    ]
    tuned = train(
        base.language,
        examples,
        config=config(options.epochs, lora_rank=options.rank, lora_alpha=options.alpha),
        checkpoints=options.output / "lora",
        seed=seed,
        on_progress=tell,
    )
    laps.lap(f"LoRA on {len(examples):,} traces, {sum(each.length for each in examples):,} tokens")
    return tuned.language


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True, help="models and checkpoints")
    parser.add_argument("--traces", type=int, default=3000, help="dev questions a hop to teach")
    parser.add_argument("--aside", type=int, default=500, help="others a hop, to choose by")
    parser.add_argument("--split", default="test", choices=("dev", "test"), help="to measure on")
    parser.add_argument("--limit", type=int, help="so many questions a hop, drawn by the seed")
    numbers(parser, width=128, layers=2, vocab=768, base_epochs=2, rank=16, alpha=32.0)
    parser.add_argument("--length", type=int, default=128, help="tokens of a packed row")
    parser.add_argument("--batch", type=int, default=32, help="rows a step")
    parser.add_argument("--epochs", type=int, default=4, help="of the LoRA")
    parser.add_argument("--rate", type=float, default=3e-3, help="peak learning rate")
    parser.add_argument("--together", type=int, default=256, help="questions planned together")
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"))
    options = parser.parse_args(argv)
    record, world, seed = Record(__file__, options), sets("metaqa", options.data), options.seed
    taught: list[Question] = []
    asked: dict[int, list[Question]] = {}
    for hop in HOPS:
        dev, some = (world.questions(f"metaqa-{hop}", part) for part in ("dev", "test"))
        order = np.random.default_rng((seed, hop)).permutation(len(dev)).tolist()
        taught += [dev[i] for i in order[: options.traces]]
        aside = [dev[i] for i in order[options.traces :][: options.aside]]
        order = np.random.default_rng((seed, hop)).permutation(len(some)).tolist()
        asked[hop] = aside if options.split == "dev" else [some[i] for i in order[: options.limit]]
    kept = options.output / "model"
    if (kept / "config.json").exists():
        language = LanguageModel.open(kept)
        print(f"the model of {kept}")
    else:
        language = fitted(world, taught, options)
        language.save(kept)
    table = record.table("hops", "questions", *METRICS, "questions/s")
    with LocalLM(language, batch_size=options.together) as backend:
        qa = LLMPlannedQA.build(world.kg, backend, **world.shared)
        for hop, some in asked.items():
            laps = Laps()
            found = measure(qa, some, world.kg, seed)
            table.add(hop, len(some), *row(found, METRICS), len(some) / laps.lap())
    record.save()


if __name__ == "__main__":
    main()
