"""All methods with a model in the loop: hits, calls and tokens against how often it is right.

`pq-2h`, `pq-3h`: a model with a dial (`scripts/lib/oracle.py`, over the OpenAI protocol) plays
every part: PathHD's one call, ReKnoS's scores and checks, PathMind's reasoner, PRoH's plans,
weights and answers, and the plan of planned search (guided search's own scorer asks no model);
beside them it answers alone, from the triples that are most like the question (which need not hang
together: they are cited, but no path from a topic), and as an agent that scores relations entity by
entity in Think-on-Graph's manner, in 2LN + 1 calls at most. It is right in a share p of its replies
and decides by chance in the others; in two blocks p is 1 and a fifth of the replies cannot be read,
or name what was never offered. PathHD's query is a planner's, PathMind's priority is trained, both
on the training questions' answers.
`musique`: PRoH from plan to answer with p = 1, whose plan and answers are the gold decomposition's:
F1, similarity of what was retrieved to the gold passages, states and cost; and F1 of the plans
alone, without the question asked in one piece where none was completed. Each question is asked
over its own twenty passages, read by rules; words are hashed. The first 50 were looked at while
PRoH was mended; `--drawn` asks others as well. `--parts` asks those others alone, with one part of
PRoH-L taken away at a time, and with another retrieval's facts or passages for each gold
sub-question; a row is paired with the first.
`hotpotqa`: the same over ten passages. No decomposition comes with it: a plan has two steps where
the answer stands under a gold title that the question does not name (find the title, then the
answer), and one, the question itself, elsewhere. A quarter of an hour each.

    python scripts/tables/table_oracle.py pq-2h --plot oracle.png
    python scripts/tables/table_oracle.py musique
    python scripts/tables/table_oracle.py musique --parts --questions 50 --drawn 50
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxkg.adjudicate import Backend, connect
from jaxkg.answer import Answer
from jaxkg.cite import grounded
from jaxkg.cite.hyperpaths import says
from jaxkg.errors import JaxkgError
from jaxkg.evaluate import Estimate, evaluate
from jaxkg.evaluate.metrics.intervals import ratio_estimates
from jaxkg.evaluate.metrics.published import mrqa_f1
from jaxkg.evaluate.metrics.retrieval import support_recall_at_k
from jaxkg.experiments.measure import drawn, lines_of
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.hypergraph.text import hypergraph_of_text
from jaxkg.learn.planner.fit import fit_planner
from jaxkg.learn.planner.model import Planner
from jaxkg.learn.planner.train import PlannerConfig
from jaxkg.learn.priority.fit import fit_priority
from jaxkg.learn.priority.train import PriorityConfig
from jaxkg.learn.supervision import Training
from jaxkg.records import Question
from jaxkg.systems.adjudicated import AdjudicatedQA
from jaxkg.systems.answering import QuestionAnswering
from jaxkg.systems.baselines import DenseTriples, Recall
from jaxkg.systems.llm_planned.system import LLMPlannedQA
from jaxkg.systems.pathhd import PathHD, PathHDSettings
from jaxkg.systems.pathmind.build import Retrieving
from jaxkg.systems.pathmind.system import PathMind, PathMindSettings
from jaxkg.systems.proh.index import hyper_index
from jaxkg.systems.proh.settings import PROH, PROH_L, ProhSettings
from jaxkg.systems.proh.system import ProhQA
from jaxkg.systems.reknos import LLMScorer, ReKnoS, ReKnoSSettings
from jaxkg.systems.reknos.relation_agent import RelationAgent
from jaxkg.text import HashingEncoder, label_words
from jaxkg.text.best import encoder_kept

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.curves import save_curve_plot
from lib.hyper_pieces import OTHERS, by_gold_plan
from lib.measure import share
from lib.oracle import Known, Oracle, OracleServer, known_of_text
from lib.record import Record, arguments
from lib.retrieval import retrieval_similarity
from lib.sets import Sets, sets, text_questions

OVER_TEXT = ("musique", "hotpotqa")
_but = dataclasses.replace


def reached(kg: KnowledgeGraph, start: Sequence[str], relation: str) -> list[str]:
    """Names one relation leads to."""
    inverse, name = relation.startswith("^"), relation.removeprefix("^")
    code = kg.relations.index(name)
    rows = {row for id in start for row in kg.entity_ids.rows(id)}
    mine = kg.triples[kg.triples[:, 1] == code]
    ends, starts = (mine[:, 0], mine[:, 2]) if inverse else (mine[:, 2], mine[:, 0])
    found = ends[np.isin(starts, list(rows))]
    return [kg.entity_ids[row] for row in dict.fromkeys(found.tolist())]


def known_of(kg: KnowledgeGraph, question: Question) -> Known:
    """A question of a graph as the oracle knows it: its path is its plan."""
    [path, *_], told, now = question.paths, {}, list(question.topics)
    steps, passed = [], []
    for number, relation in enumerate(path):
        words = label_words(relation.removeprefix("^"))
        steps.append(f"{words} of {question.topics[0] if not number else f'{{{number}}}'}?")
        for id in now:
            told[f"{words} of {id}?"] = tuple(reached(kg, [id], relation))
        now = reached(kg, now, relation)
        passed += now
    known = question.text, question.answers or (), question.topics, tuple(path), tuple(steps)
    return Known(*known, told, tuple(passed))


def systems(
    world: Sets, backend: Backend, planner: Planner, pathmind: PathMind
) -> Iterator[tuple[str, QuestionAnswering]]:
    """Every method with the model where it has a use for it, after the baselines."""
    kg, shared, words = world.kg, world.shared, HashingEncoder()
    yield "model alone", Recall(kg, backend, repair=True)
    dense = DenseTriples(kg, world.tensors, world.linker, words)
    yield "dense triples", AdjudicatedQA(dense, backend)
    three = PathHDSettings(top_k=3, threshold=0.0)
    yield "PathHD", AdjudicatedQA(PathHD.build(kg, planner, settings=three, **shared), backend)
    yield "ReKnoS", ReKnoS.build(kg, LLMScorer(backend), settings=ReKnoSSettings(), **shared)
    agent = RelationAgent(kg, world.tensors, world.linker, backend)
    yield "relation agent", agent
    yield "PathMind", AdjudicatedQA(Retrieving(pathmind), backend)
    yield "planned search", LLMPlannedQA.build(kg, backend, **shared)
    yield "PRoH-L", ProhQA.build(kg, words, backend=backend, settings=PROH_L)


def checking(kg: KnowledgeGraph, system: QuestionAnswering) -> Callable[[Answer], bool]:
    """Whether an answer's citations hold: PRoH's in its hypergraph, all others' in the graph."""
    if isinstance(system, ProhQA):
        return lambda answer: not system.check(answer)
    return lambda answer: grounded(kg, answer)


def curves(record: Record, options: argparse.Namespace) -> None:
    """Each system at each setting of the dial."""
    world = sets(options.set, options.data)
    kg, questions = world.kg, world.questions(options.set)
    questions = drawn(questions, options.questions, options.seed)
    training = world.questions(options.set, "train")
    model, _ = fit_priority(
        kg, world.tensors, training, config=PriorityConfig(epochs=6), hops=int(options.set[3]),
        training=Training(options.seed, linker=world.linker),
    )  # fmt: skip
    planner, _ = fit_planner(
        kg, world.tensors, training, config=PlannerConfig(epochs=6), training=Training(options.seed)
    )
    settings = PathMindSettings(threshold=0.0)
    pathmind = PathMind.build(kg, model, settings=settings, **world.shared)
    book = [known_of(kg, question) for question in questions]
    heads = ("hits_at_1", "f1", "grounded", "calls", "tokens", "failed")
    table = record.table("p", "malformed", "invented", "system", *heads)
    record.note(f"{len(questions)} test questions; calls and tokens are means a question")
    panels: dict[str, dict[str, list[tuple[float, Estimate]]]] = {}
    dials = [(p, 0.0, 0.0) for p in options.p] + [(1.0, 0.2, 0.0), (1.0, 0.0, 0.2)]
    with (
        OracleServer(Oracle(book)) as server,
        connect("oracle", base_url=server.url, api_key="none", concurrency=4) as backend,
    ):
        every = list(systems(world, backend, planner, pathmind))
        for p, malformed, invented in dials:
            server.oracle = Oracle(
                book, p=p, malformed=malformed, invented=invented, seed=options.seed
            )
            for name, system in every:
                answers = system.answer(questions)
                lines = lines_of(questions, answers, kg, checking(kg, system))
                found = evaluate(lines, directed=True, seed=options.seed)
                usage = [answer.usage for answer in answers]
                calls = share([each.calls for each in usage])
                tokens = share([each.prompt_tokens + each.completion_tokens for each in usage])
                hits = found.metrics["hits_at_1"]
                failed = sum(answer.error is not None for answer in answers)
                cells = hits, found.metrics["f1"], found.metrics.get("grounded"), calls, tokens
                table.add(p, malformed, invented, name, *cells, failed)
                if not (malformed or invented):
                    for what, value in (("hits_at_1", hits), ("calls", calls), ("tokens", tokens)):
                        panels.setdefault(what, {}).setdefault(name, []).append((p, value))
            record.save()
    if options.plot:
        save_curve_plot(panels, options.plot, x="share of right replies", y="mean a question")


def by_way(question: Question) -> Question:
    """A bridge question with two steps by way of a gold title, see the module; else as it is."""
    passages = question.passages
    assert passages is not None
    text, [answer, *_] = question.text, question.answers or ("",)
    for place in passages.support if passages.kind == "bridge" else ():
        title, told = passages.texts[place]
        if says(told, answer) and not (says(text, title) or title == answer):
            steps = (f"What is meant by this: {text}", title), (f"As to {{1}}: {text}", answer)
            return _but(question, passages=_but(passages, steps=steps))
    return question


ARMS: dict[str, ProhSettings] = {
    "PRoH-L": PROH_L,
    "PRoH": PROH,
    "PRoH-L, breadth first": dataclasses.replace(PROH_L, order="breadth"),
}
AWAY: dict[str, ProhSettings] = {
    "PRoH-L": PROH_L,
    "PRoH (the model weighs entities, two plans)": PROH,
    "without EWO, by similarity": _but(PROH_L, beam=_but(PROH_L.beam, guide="similarity")),
    "d_max = 1": _but(PROH_L, beam=_but(PROH_L.beam, depth=1)),
    "without targets": _but(PROH_L, retrieval=_but(PROH_L.retrieval, targets=0)),
    "a plan context of one layer (d_p = 1)": _but(PROH_L, plan_depth=1),
    "without a plan, asked in one piece": PROH_L,
}
"""PRoH-L, what it leaves out itself, and PRoH-L without one part each."""


def over_text(record: Record, options: argparse.Namespace) -> None:
    """PRoH end to end, a row for each way to search."""
    every = text_questions(options.set, options.data)
    rest = np.arange(options.questions, len(every))
    others = np.random.default_rng(options.seed).permutation(rest)
    first = () if options.parts else range(options.questions)
    asked = [every[i] for i in (*first, *sorted(others[: options.drawn].tolist()))]
    if not asked:
        raise JaxkgError("no questions: --parts asks those that --drawn says")
    drawn = np.arange(len(asked)) >= len(first)
    encode, judge = HashingEncoder(), encoder_kept(options.encoder)
    arms = AWAY if options.parts else ARMS
    heads = ("F1", "F1 of plans", "answered", "R-S", "support recall", "states", "calls", "tokens")
    paired = ("F1 − first", "plans − first") if options.parts else ()
    table = record.table("settings", "questions", *heads, *paired)
    record.note("R-S: cosine of what was retrieved and the gold passages, by " + judge.name)
    kinds = np.array([each.passages.kind for each in asked if each.passages])
    known = [known_of_text(by_way(each)) for each in asked]
    brought = [each.passages.texts for each in asked if each.passages]
    indices = [hyper_index(hypergraph_of_text(texts), encode) for texts in brought]
    oracle = Oracle(known, p=options.p[-1], seed=options.seed)
    unplanned = [dataclasses.replace(each, steps=(), step_answers={}) for each in known]
    base: np.ndarray | None = None
    with (
        OracleServer(oracle) as server,
        connect("oracle", base_url=server.url, api_key="none") as backend,
    ):
        for name in options.arms or (*arms, *(OTHERS if options.parts else ())):
            server.oracle = oracle
            if name.startswith("without a plan"):
                server.oracle = Oracle(unplanned, p=options.p[-1], seed=options.seed)
            rows = []
            for each, one_known, index in zip(asked, known, indices):
                if name in arms:
                    options_of = {"backend": backend, "settings": arms[name], "index": index}
                    qa = ProhQA.build(index.graph, encode, **options_of)
                    rows.append(one(each, qa, judge))
                else:
                    steps = one_known.step_answers or {one_known.question: one_known.answers}
                    told = by_gold_plan(index, steps, OTHERS[name])
                    shown = told.facts, told.passages, (0, 0, told.tokens)
                    rows.append(row_of(each, told.answer, judge, *shown))
                print(name, len(rows), each.id, rows[-1][0], flush=True)
            columns = np.array(rows)
            base = columns if base is None else base
            groups = [(f"the first {options.questions}", ~drawn), ("drawn of the others", drawn)]
            if not options.parts:
                groups += [(f"drawn, {kind}", drawn & (kinds == kind)) for kind in np.unique(kinds)]
            for label, mine in groups:
                if mine.any():
                    told = f"{label} ({mine.sum()})"
                    ones = np.ones_like(columns[mine])
                    gains = ratio_estimates(columns[mine], ones, minus=(base[mine], ones))
                    cells = [share(column) for column in columns[mine].T]
                    table.add(name, told, *cells, *gains[: len(paired)])
            record.save()


def one(asked: Question, qa: ProhQA, judge: Any) -> list[float]:
    """F1, F1 of plans, answered, R-S, support recall, states, calls and tokens of one question."""
    answer, trace = qa.trace(dataclasses.replace(asked, passages=None))
    said = answer.entities[0].name if answer.entities else ""
    whole = any(state["id"].startswith("whole") for state in trace["states"])
    cost = answer.usage.prompt_tokens + answer.usage.completion_tokens
    shown = [path.sentence for path in answer.paths], [p.text for p in answer.passages]
    spent = len(trace["states"]), answer.usage.calls, cost
    return row_of(asked, said, judge, *shown, spent, whole=whole)


def row_of(
    asked: Question,
    said: str,
    judge: Any,
    facts: Sequence[str],
    passages: Sequence[str],
    spent: tuple[int, int, int],
    *,
    whole: bool = False,
) -> list[float]:
    """What one question came to; `spent` are states, calls and tokens."""
    assert asked.passages is not None
    gold = [asked.passages.texts[place][1] for place in asked.passages.support]
    there = [text.strip() for text in passages]
    recall = support_recall_at_k([text.strip() for text in gold], there, max(1, len(there)))
    f1 = mrqa_f1([*(asked.answers or ()), *asked.aliases], said) if said else 0.0
    similar = retrieval_similarity(judge, list(facts), gold)
    return [f1, 0.0 if whole else f1, float(bool(said)), similar, recall, *map(float, spent)]


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("set", choices=("pq-2h", "pq-3h", *OVER_TEXT))
    parser.add_argument("--questions", type=int, default=40, help="of the set")
    parser.add_argument("--drawn", type=int, default=0, help="of passages' sets, beyond the first")
    parser.add_argument("--p", type=float, nargs="+", default=[0.0, 0.5, 0.8, 1.0])
    parser.add_argument("--arms", nargs="+", help="of PRoH, by name")
    parser.add_argument("--parts", action="store_true", help="of passages' sets: see above")
    parser.add_argument("--encoder", default="minilm", help="that compares retrieved and gold")
    parser.add_argument("--plot", type=Path, help="draw the curves to this file")
    options = parser.parse_args(argv)
    part = f"{options.set}-parts" if options.parts else options.set
    record = Record(__file__, options, part=part)
    (over_text if options.set in OVER_TEXT else curves)(record, options)
    record.save()


if __name__ == "__main__":
    main()
