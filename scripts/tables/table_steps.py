"""CWQ and WebQSP over the pooled Freebase graph: relation paths read step by step, no LLM.

Trained on CWQ's training questions and WebQSP's ("cwq"), it is asked CWQ's test questions alone:
CWQ was made from WebQSP's questions, test ones too. Trained on WebQSP's training questions
("webqsp"), it is asked both; 2,131 of CWQ's 3,531 test questions were made from these very training
questions, so it has not seen CWQ, but the questions that CWQ was made from. Training knows the gold
subgraphs of the training questions beside the pooled graph; test questions are asked of the pooled
graph alone. Asking CWQ's questions takes six minutes on two CPU cores, after training.

    python scripts/tables/table_steps.py --trained cwq -o runs/steps
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from jaxkg.experiments.loading import pooled
from jaxkg.kg import read_graph
from jaxkg.learn.ranker.step_training import StepConfig, fit_steps
from jaxkg.learn.ranker.steps import StepRanker
from jaxkg.learn.supervision import Training
from jaxkg.records import Question
from jaxkg.systems.stepped import SteppedPaths, SteppedSettings
from jaxkg.tensors import tensor_graph
from jaxkg.text.best import encoder_kept
from jaxkg.text.states import TokenReader

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.measure import measure_answers
from lib.record import Record, arguments
from lib.rows import row
from lib.seconds import Laps
from lib.sets import Sets, sets

METRICS = ("hits_at_1", "f1", "path_recall_at_1", "grounded")
NAMES = {
    ("cwq", "webqsp"): "cwq, of which it saw the WebQSP questions that it was made from",
}


def train(world: Sets, reader: TokenReader, options: argparse.Namespace) -> StepRanker:
    """A step ranker, on the graph with the evidence of its training questions."""
    evidence = read_graph(options.data / "question_graphs/kg_train_subgraphs.tsv")
    kg = pooled(world.kg, evidence)
    questions = world.questions("webqsp", "graphs")
    if options.trained == "cwq":
        questions = [*world.questions("cwq", "train"), *questions]
    else:
        known = {question.text.rstrip("?") for question in questions}
        more = world.questions("webqsp", "train")
        # Of several paths most are by chance; gold subgraphs hold the one that is meant.
        questions += [q for q in more if q.text.rstrip("?") not in known and len(q.paths) == 1]
    return fit_steps(
        kg,
        tensor_graph(kg),
        questions,
        reader,
        encoder_kept("minilm"),
        config=StepConfig(epochs=options.epochs),
        training=Training(
            options.seed,
            folder=options.state,
            on_epoch=lambda epoch, loss, _: print("epoch", epoch, round(loss, 4), flush=True),
        ),
    )


def types(data: Path, questions: Sequence[Question]) -> list[str]:
    """What kind of composition each question of CWQ is."""
    lines = (data / "freebase_webqsp_cwq/cwq_test.jsonl").read_text(encoding="utf-8").splitlines()
    kinds = {told["id"]: told["compositionality_type"] for told in map(json.loads, lines)}
    return [kinds[question.id] for question in questions]


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("--trained", choices=("cwq", "webqsp"), default="cwq")
    parser.add_argument("-o", "--output", type=Path, help="save the ranker here")
    parser.add_argument("--state", type=Path, help="keep the training's state here, and go on")
    parser.add_argument("--ranker", type=Path, help="use this one and train none")
    parser.add_argument("--epochs", type=int, default=StepConfig().epochs)
    parser.add_argument("--join", choices=("auto", "union", "intersect"), default="auto")
    parser.add_argument("--dev", action="store_true", help="ask CWQ's dev questions, graph pooled")
    parser.add_argument("--limit", type=int, help="first questions of each set only")
    options = parser.parse_args(argv)
    record, world = Record(__file__, options), sets("webqsp", options.data)
    reader = TokenReader.open()
    if options.ranker:
        ranker = StepRanker.open(options.ranker)
    else:
        laps = Laps()
        ranker = train(world, reader, options)
        record.note(f"training on {ranker.about['with_paths']:,} questions: {laps.lap():.0f} s")
        if options.output:
            ranker.save(options.output)
    kg, shared = world.kg, world.shared
    part, asked = "test", ["cwq"] if options.trained == "cwq" else ["cwq", "webqsp"]
    if options.dev:
        evidence = read_graph(options.data / "question_graphs/kg_train_subgraphs.tsv")
        kg, part, asked, shared = pooled(kg, evidence), "dev", ["cwq"], {}
    settings = SteppedSettings(join=options.join)
    qa = SteppedPaths.build(kg, ranker, reader, encoder_kept("minilm"), settings=settings, **shared)
    table = record.table("set", "questions", *METRICS, "s/question")
    for name in asked:
        questions, laps = world.questions(name, part, limit=options.limit), Laps()
        answers = qa.answer(questions)
        seconds = laps.lap() / len(questions)
        told = NAMES.get((name, options.trained), name)
        found = measure_answers(iter(answers), questions, kg, directed=False)
        table.add(told, len(questions), *row(found, METRICS), seconds)
        if name != "cwq" or part == "dev":
            continue
        kinds = types(options.data, questions)
        for kind in sorted(set(kinds)):
            some = [i for i, each in enumerate(kinds) if each == kind]
            found = measure_answers(
                iter([answers[i] for i in some]), [questions[i] for i in some], kg, directed=False
            )
            table.add(f"{name}: {kind}", len(some), *row(found, METRICS), None)
    record.save()


if __name__ == "__main__":
    main()
