"""PathMind with a language model of its own: SFT, then SFT and DPO; which paths to show.

Important paths of MetaQA's dev (WebQSP's training) questions, with their answers, teach a small
model from scratch to name the paths that bear the answer (SFT, Eq. 7); then the important paths are
preferred to random ones of the subgraph (DPO, Eq. 8). Both models judge the important paths of test
questions under a grammar. Training goes on where it was stopped. An hour on two CPU cores.

With --strategies, random, shortest and important paths stand in front of one reasoner (PathMind,
Table 3): it was taught on all three alike, each shown for a third of the questions.

    python scripts/tables/table_local_lm.py -o runs/local-lm --priority runs/pathmind-metaqa
    python scripts/tables/table_local_lm.py -o runs/paths --strategies \
        --priority runs/pathmind-metaqa
    python scripts/tables/table_local_lm.py webqsp -o runs/webqsp --strategies \
        --priority runs/pathmind-webqsp --layers 2 --epochs 4

On a GPU: --width 768 --layers 12 --batch 64 --train 14000 --epochs 3 --dtype bfloat16.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from jaxkg.adjudicate import adjudicate
from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.evaluate import Report
from jaxkg.experiments.measure import drawn
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.lm import TrainConfig, Trained, align, train
from jaxkg.learn.priority.fit import fit_priority
from jaxkg.learn.priority.model import PriorityModel
from jaxkg.learn.priority.train import PriorityConfig
from jaxkg.learn.supervision import Training, answer_rows
from jaxkg.lm import Example, LanguageModel, LMConfig, LMTokenizer
from jaxkg.lm.backend import LocalLM
from jaxkg.records import Question
from jaxkg.systems.pathmind.system import PathMind, PathMindSettings
from jaxkg.text.best import encoder_kept

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.lessons import bearing, offer_of_answer, teach
from lib.measure import measure_answers
from lib.record import Record, arguments, numbers
from lib.seconds import Laps
from lib.sets import Sets, sets

METRICS = ("hits_at_1", "f1", "hit_any", "grounded")
STRATEGIES = ("important", "shortest", "random")


def priority(world: Sets, folder: Path, seed: int) -> PriorityModel:
    """The model kept in a folder, or one trained on MetaQA's dev answers of all hop counts.

    Raises:
        JaxkgError: there is none for WebQSP.
    """
    if (folder / "priority.json").exists():
        return PriorityModel.open(folder)
    if "metaqa-1" not in world.files:
        raise JaxkgError(f"{folder} has no path priority: `jaxkg train pathmind --dataset webqsp`")
    config, dev = PriorityConfig(epochs=1), world.every("dev")
    model, _ = fit_priority(world.kg, world.tensors, dev, config=config, training=Training(seed))
    model.save(folder)
    return model


def tell(done: int, steps: int, loss: float) -> None:
    print(f"  step {done} of {steps}, loss {loss:.3f}", flush=True)


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("set", nargs="?", default="metaqa", choices=("metaqa", "webqsp"))
    parser.add_argument("-o", "--output", type=Path, required=True, help="models and checkpoints")
    parser.add_argument("--priority", type=Path, help="trained path priority; else one is made")
    parser.add_argument("--strategies", action="store_true", help="compare choices of paths")
    parser.add_argument("--hops", type=int, default=3, choices=(1, 2, 3), help="of MetaQA")
    parser.add_argument("--train", type=int, default=3000, help="questions to teach")
    parser.add_argument("--pairs", type=int, default=300, help="of them for DPO")
    parser.add_argument("--test", type=int, default=2000, help="test questions to measure on")
    parser.add_argument("--keep", type=int, default=3, help="K, entities an iteration")
    parser.add_argument("--iterations", type=int, default=4, help="T")
    numbers(parser, width=128, layers=4, vocab=2048, epochs=2)
    parser.add_argument("--length", type=int, default=1024, help="tokens of a packed row")
    parser.add_argument("--batch", type=int, default=8, help="rows a step")
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"))
    options = parser.parse_args(argv)
    metaqa = options.set == "metaqa"
    told = ("strategies" if options.strategies else "", "" if metaqa else options.set)
    record = Record(__file__, options, part="-".join(filter(None, told)))
    world, laps, seed = sets(options.set, options.data), Laps(), options.seed
    kg, name = world.kg, f"metaqa-{options.hops}" if metaqa else options.set
    model = priority(world, options.priority or options.output / "priority", seed)
    settings = PathMindSettings(keep=options.keep, iterations=options.iterations)
    encoder = None if metaqa else encoder_kept("minilm")
    qa = PathMind.build(kg, model, encoder=encoder, settings=settings, **world.shared)
    laps.lap("path priority")
    taught = drawn(world.questions(name, "dev" if metaqa else "train"), options.train, seed)
    asked = drawn(world.questions(name), options.test, seed)
    config = TrainConfig(
        epochs=options.epochs,
        length=options.length,
        batch_size=options.batch,
        dtype=options.dtype,
        every=20,
    )

    def shown_for(questions: Sequence[Question]) -> dict[str, list[Answer]]:
        ranking = qa.rank(questions)
        chosen = STRATEGIES if options.strategies else STRATEGIES[:1]
        return {
            strategy: qa.retrieve(questions, strategy=strategy, seed=seed, ranking=ranking)
            for strategy in chosen
        }

    shown, tested = shown_for(taught), shown_for(asked)
    laps.lap("paths")
    # Each strategy's paths are shown for as many questions, so that none is the one it knows.
    mixed = [(q, shown[STRATEGIES[i % len(shown)]][i]) for i, q in enumerate(taught)]
    sft = reasoner(kg, mixed, config, options, tell)
    laps.lap("SFT")

    def measured(answers: Sequence[Answer], language: LanguageModel | None = None) -> Report:
        if language is not None:
            with LocalLM(language, batch_size=64) as backend:
                answers = adjudicate(backend, answers)
        return measure_answers(answers, asked, kg, seed)

    table = record.table("", *METRICS, title=f"{len(asked):,} questions of {name}")
    if options.strategies:
        reports = {}
        for strategy, answers in tested.items():
            reports[strategy] = measured(answers, sft.language)
            same = [
                [path.citations for path in one.paths] == [path.citations for path in other.paths]
                for one, other in zip(answers, tested["important"])
            ]
            record.note(f"{strategy}: the important paths in {np.mean(same):.1%} of the questions")
            laps.lap(strategy)
        table.add_paired(reports, METRICS, seed=seed)
    else:
        other = qa.retrieve(taught[: options.pairs], strategy="random", seed=seed)
        pairs = preferences(sft.language.tokenizer, taught, shown["important"], other)
        pairs = [some for some in pairs if max(each.length for each in some) <= options.length]
        dpo = align(
            sft.language, pairs, config=dataclasses.replace(config, epochs=1, learning_rate=1e-4),
            checkpoints=options.output / "dpo", seed=seed, on_progress=tell,
        )  # fmt: skip
        dpo.language.save(options.output / "model-dpo")
        laps.lap(f"DPO on {len(pairs):,} pairs")
        alone = measured(tested["important"])
        after = {
            "SFT + DPO": measured(tested["important"], dpo.language),
            "SFT": measured(tested["important"], sft.language),
        }
        laps.lap("both models")
        table.add_paired({"retrieval alone": alone, **after}, METRICS, seed=seed)
        changed = record.table("", *METRICS, title="What DPO changes, question by question")
        changed.add_paired(after, METRICS, seed=seed)
    record.save()


def reasoner(
    kg: KnowledgeGraph,
    shown: Sequence[tuple[Question, Answer]],
    config: TrainConfig,
    options: argparse.Namespace,
    tell: Callable[[int, int, float], None],
    *,
    top_k: int | None = None,
) -> Trained:
    """A model taught to name the shown paths that bear the answer; kept in the output folder."""
    every = ((q, offer_of_answer(answer, top_k=top_k)) for q, answer in shown)
    offers = [(q, offer) for q, offer in every if offer]
    texts = [text for _, offer in offers for _, text in offer.turns((), compact=True)]
    tokenizer = LMTokenizer.train(texts, vocab_size=options.vocab)
    examples = [teach(tokenizer, offer, bearing(offer, gold(kg, q))) for q, offer in offers]
    fitting = [each for each in examples if each.length <= options.length]
    print(f"{len(fitting):,} examples of {len(shown):,} questions, "
          f"{np.mean([each.length for each in fitting]):.0f} tokens each")  # fmt: skip
    sizes = LMConfig.small(tokenizer.size, width=options.width, layers=options.layers)
    start = LanguageModel.create(tokenizer, sizes, seed=options.seed, about={"prompts": "compact"})
    sft = train(
        start, fitting, config=config, checkpoints=options.output / "sft", seed=options.seed,
        on_progress=tell,
    )  # fmt: skip
    sft.language.save(options.output / "model-sft")
    return sft


def preferences(
    tokenizer: LMTokenizer,
    questions: Sequence[Question],
    first: Sequence[Answer],
    second: Sequence[Answer],
) -> list[tuple[Example, Example]]:
    """Pairs of what is preferred behind a question and what is not: lines of paths."""
    pairs = []
    for question, preferred, other in zip(questions, first, second):
        one, two = offer_of_answer(preferred), offer_of_answer(other)
        if one and two and one.lines != two.lines:
            turns = [("user", question.text)]
            pairs.append(
                (
                    Example.of_chat(tokenizer, turns, one.lines),
                    Example.of_chat(tokenizer, turns, two.lines),
                )
            )
    return pairs


def gold(kg: KnowledgeGraph, question: Question) -> set[str]:
    """Names of a question's answers, as the graph writes them."""
    return set(map(kg.name, answer_rows(kg, question)))


if __name__ == "__main__":
    main()
