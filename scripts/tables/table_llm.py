"""Every method with a real language model, beside itself without one and the model alone.

Experiments: `user` and `plans` (GeoQuery, odd ids), `files` (public files), `ck25`, `trusted` (all
of these, for a model that passes the exam, which it sits first), `planning` (MetaQA),
`pathhd` (WebQSP, CWQ), `reknos` (WebQSP), `pathmind` (PQ-3H; trained here), `proh` (MuSiQue,
HotpotQA).
Arms of a set share their questions, drawn with the seed; differences are paired. Every reply is
kept as it comes, so that a run goes on where it was stopped, and can be had again without a model.

A minute to an hour an experiment on two CPU cores, with 0.5 to 1.5 billion weights behind
llama.cpp; a minute with --replay.

    OPENAI_BASE_URL=http://127.0.0.1:8080/v1 python scripts/tables/table_llm.py user \
        --llm MODEL --server "llama.cpp, Q4_K_M" --replies runs/replies.sqlite
    python scripts/tables/table_llm.py user --llm MODEL --replay
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from jaxkg.adjudicate import Backend
from jaxkg.adjudicate.around.store import ReplyStore
from jaxkg.adjudicate.backend import Wrapper
from jaxkg.adjudicate.calls.one_shot import adjudicate
from jaxkg.adjudicate.requests import Admit, OnReply, Reply, Request
from jaxkg.answer import Answer
from jaxkg.evaluate import Report, evaluate, paired_differences
from jaxkg.experiments.loading import load_graph
from jaxkg.experiments.measure import drawn, lines_of
from jaxkg.experiments.registry import build, faults
from jaxkg.kg import KnowledgeGraph, read_questions
from jaxkg.kg.questions.passages import distinct_passages
from jaxkg.learn.priority.fit import fit_priority
from jaxkg.learn.priority.train import PriorityConfig
from jaxkg.learn.supervision import Training
from jaxkg.records import Question
from jaxkg.systems.exam import examined
from jaxkg.systems.parts import Parts
from jaxkg.systems.pathmind.system import PathMind, PathMindSettings, Strategy

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.measure import share
from lib.record import Record, arguments
from lib.replies import model_of, reply_options
from lib.rows import row
from lib.sets import sets, text_questions

METRICS = ("exact_set", "hits_at_1", "f1")
SPENT = ("calls", "prompt_tokens", "completion_tokens")


class Arm(NamedTuple):
    """A row: a system of the registry, and how it is asked."""

    name: str
    system: str
    wishes: Mapping[str, str] = MappingProxyType({})
    ask: Any = "unsure"  # None: without a model


class World(NamedTuple):
    """A graph, or passages, and its questions."""

    kg: KnowledgeGraph
    questions: list[Question]
    passages: tuple[tuple[str, str], ...] = ()


class Experiment(NamedTuple):
    """Arms over the same questions, set by set."""

    sets: tuple[str, ...]
    questions: int
    arms: tuple[Arm, ...]
    linked: bool = False  # topics are found, not given


_ZERO = {"query": "text"}
_READER = (
    Arm("reader", "reader", ask=None),
    Arm("reader, model where unsure", "reader"),
)
_CHOOSES = Arm("reader, model chooses alone", "reader", {"judge.write": "false"})
_SELECT = Arm("llm-planned, SELECT", "llm-planned", {"ask": "sql"})
_ALONE = (Arm("model alone", "alone"), Arm("chain of thought", "cot"))
EXPERIMENTS = {
    "user": Experiment(
        ("geoquery",),
        135,
        (*_READER, _CHOOSES, _SELECT),
        linked=True,
    ),
    "plans": Experiment(
        ("geoquery",),
        40,
        (
            *_READER,
            Arm("reader, model always", "reader", ask="always"),
            Arm("llm-planned, paths", "llm-planned"),
            Arm("llm-planned, steps", "llm-planned", {"ask": "steps"}),
            _SELECT,
        ),
        linked=True,
    ),
    "files": Experiment(
        ("public_files",),
        60,
        (*_READER, _CHOOSES, _SELECT),
        linked=True,
    ),
    "ck25": Experiment(
        ("ck25",),
        50,
        (*_READER, _SELECT),
        linked=True,
    ),
    "trusted": Experiment(
        ("geoquery", "public_files", "ck25"),
        135,
        (*_READER, Arm("reader, model always", "reader", ask="always"), _SELECT),
        linked=True,
    ),
    "planning": Experiment(
        ("metaqa-1", "metaqa-2", "metaqa-3"),
        15,
        (
            Arm("ours", "llm-planned"),
            Arm("Appendix A", "llm-planned", {"prompt": "paper"}),
            Arm("Appendix A with hop count", "llm-planned", {"prompt": "paper-hops"}),
            Arm("steps", "llm-planned", {"ask": "steps"}),
            _ALONE[0],
        ),
    ),
    "pathhd": Experiment(
        ("webqsp", "cwq"),
        20,
        (
            Arm("one call, K = 3", "pathhd", {**_ZERO, "offered": "paths", "judge": "paths"}),
            Arm("one call, K = 10", "pathhd", {
                **_ZERO, "offered": "paths", "judge": "paths", "top_k": "10"
            }),
            Arm("vectors alone", "pathhd", _ZERO, None),
            Arm("readings chosen", "pathhd", _ZERO, "always"),
            Arm("prompt of Table 8", "pathhd", {**_ZERO, "prompt": "a"}),
            Arm("prompt B of Table 15", "pathhd", {**_ZERO, "prompt": "b"}),
            Arm("FHRR, one call", "pathhd", {
                **_ZERO, "offered": "paths", "judge": "paths", "operator": "fhrr"
            }),
            Arm("triples", "triples"),
            *_ALONE,
        ),
    ),
    "reknos": Experiment(
        ("webqsp",),
        12,
        (
            Arm("super-relations, select N", "reknos", {"form": "select", "hops": "2"}),
            Arm("super-relations, scores", "reknos", {"hops": "2"}),
            Arm("super-relations, criteria", "reknos", {"hops": "2", "criteria": "true"}),
            Arm("plain relations, select N", "reknos", {
                "form": "select", "groups": "none", "hops": "2"
            }),
            Arm("labels, no model", "reknos", {"scorer": "labels", "hops": "2"}, None),
            Arm("agent", "agent"),
        ),
    ),
    "pathmind": Experiment(
        ("pq-3h",),
        40,
        (
            *(Arm(f"{kind} paths", f"pathmind:{kind}") for kind in
              ("important", "shortest", "random")),
            Arm("no model", "pathmind:", ask=None),
        ),
    ),
    "proh": Experiment(
        ("musique", "hotpotqa"),
        8,
        (
            Arm("PRoH-L", "proh"),
            Arm("retrieval alone", "proh", ask=None),
            Arm("passages", "passages"),
            *_ALONE,
        ),
    ),
}  # fmt: skip


class Tally(Wrapper):
    """Counts, by prompt kind, what could be read at once, after a repair, and not at all."""

    def __init__(self, inner: Backend) -> None:
        super().__init__(inner)
        self.stages: dict[str, Counter[str]] = defaultdict(Counter)

    def complete(
        self, requests: Sequence[Request], *, admit: Admit = None, on_reply: OnReply = None
    ) -> list[Reply]:
        """One reply per request, in order."""
        replies = self.inner.complete(requests, admit=admit, on_reply=on_reply)
        for request, reply in zip(requests, replies):
            count = self.stages[request.stage]
            again = any(message.role == "assistant" for message in request.messages)
            count["repairs" if again else "prompts"] += 1
            if reply.error is not None:
                count["failed calls"] += 1
            elif request.reads is not None and not request.reads(reply):
                count["unread again" if again else "unread"] += 1
            for name in ("prompt_tokens", "completion_tokens", "seconds"):
                count[name] += getattr(reply, name)
        return replies


def worlds(name: str, count: int, data: Path, seed: int) -> Iterator[World]:
    """The graphs of a set; each has its share of the questions."""
    if name == "geoquery":
        folder = data / name
        asked = read_questions(folder / "questions.jsonl")
        odd = [question for question in asked if int(question.id.rpartition("-")[2]) % 2]
        kg = load_graph(folder / "kg.tsv", names=folder / "names.tsv")
        yield World(kg, drawn(odd, count, seed))
    elif name in ("public_files", "ck25"):
        folders = sorted(path for path in (data / "public_files").iterdir() if path.is_dir())
        folders = [path for path in folders if name in (path.name, "public_files")]
        for folder in folders:
            [file] = [p for p in folder.iterdir() if p.name not in ("README.md", "questions.jsonl")]
            asked = [q for q in read_questions(folder / "questions.jsonl") if q.answers]
            own = [dataclasses.replace(q, topics=()) for q in asked]
            yield World(load_graph(file), drawn(own, count // len(folders), seed))
    elif name in ("musique", "hotpotqa"):
        asked = drawn(text_questions(name, data), count, seed)
        yield World(load_graph(None), asked, distinct_passages(asked))
    else:
        pooled = name in ("webqsp", "cwq")
        world = sets("webqsp" if pooled else name.partition("-")[0] if name[:4] == "meta" else name,
                     data, names=pooled)  # fmt: skip
        yield World(world.kg, drawn(world.questions(name), count, seed))


class Strategies:
    """PathMind's paths, chosen in one way, before a model; one training for all of them."""

    def __init__(self, name: str, data: Path, seed: int) -> None:
        world, hops = sets(name, data), int(name[3])
        learnt = world.questions(name, "train") + world.questions(name, "validation")
        config, how = PriorityConfig(epochs=12), Training(seed, linker=world.linker)
        model, _ = fit_priority(
            world.kg, world.tensors, learnt, config=config, hops=hops, training=how
        )
        settings = PathMindSettings(threshold=0.0, iterations=hops)
        self.qa = PathMind.build(world.kg, model, settings=settings, **world.shared)
        self.seed = seed

    def answer(
        self, kind: Strategy | None, questions: Sequence[Question], backend: Backend | None
    ) -> list[Answer]:
        """With a model, what it says of the paths; without, what priority alone answers."""
        if backend is None or kind is None:
            return self.qa.answer(questions)
        shown = self.qa.retrieve(questions, strategy=kind, seed=self.seed)
        return adjudicate(backend, shown, repair=True)


def answers(
    arm: Arm, experiment: Experiment, world: World, parts: Parts, kept: dict[str, Any]
) -> Callable[[Sequence[Question]], list[Answer]]:
    """What answers an arm's questions."""
    if arm.system.startswith("pathmind:"):
        if "strategies" not in kept:
            kept["strategies"] = kept["train"]()
        kind: Any = arm.system.partition(":")[2] or None
        return lambda some: kept["strategies"].answer(kind, some, parts.backend)
    built = build(arm.system, parts)
    system, kept["graph"] = built.system, built.graph
    kept["check"] = lambda answer: not faults(system, parts, answer)
    return lambda some: system.answer(some, use_given=not experiment.linked)


def measured(
    arm: Arm, experiment: Experiment, some: Sequence[World], options: argparse.Namespace,
    model: Backend | None, kept: dict[str, Any],
) -> tuple[Report, list[dict[str, Any]]]:  # fmt: skip
    """The report of an arm, and a line a question."""
    lines: list[dict[str, Any]] = []
    for place, world in enumerate(some):
        base = kept.setdefault(f"parts {place}", Parts(
            world.kg, lambda *_: None, repair=True, passages=world.passages, seed=options.seed
        ))  # fmt: skip
        backend = None if arm.ask is None else model
        parts = base.beside(backend, arm.wishes, ask_model=arm.ask or "never")
        kept |= {"check": lambda answer: True, "graph": parts.kg}
        ask = answers(arm, experiment, world, parts, kept)
        for first in range(0, len(world.questions), 8):
            chunk = world.questions[first : first + 8]
            lines += lines_of(chunk, ask(chunk), kept["graph"], kept["check"])
            print(f"  {arm.name}: {len(lines)}", file=sys.stderr, flush=True)
    directed = "webqsp" not in experiment.sets
    return evaluate(lines, directed=directed, seed=options.seed), lines


def run(name: str, options: argparse.Namespace, model: Backend) -> None:
    """All arms of an experiment, and its tables."""
    experiment, seed = EXPERIMENTS[name], options.seed
    record = Record(__file__, options, part=f"{name}-{options.short}" if options.short else name)
    columns = ("set", "questions", "arm", *METRICS, "wrong", "withheld", *SPENT, "model seconds")
    table = record.table(*columns)
    tally = Tally(model)
    if name == "trusted" and (exam := examined(tally)) is not None:
        record.note(exam.line)
    for each in options.sets or experiment.sets:
        count = options.questions or experiment.questions
        some, kept = list(worlds(each, count, options.data, seed)), {}
        kept["train"] = lambda each=each: Strategies(each, options.data, seed)
        reports: dict[str, Report] = {}
        asked = sum(len(world.questions) for world in some)
        for arm in experiment.arms:
            if options.arms and arm.name not in options.arms:
                continue
            before = sum(count["seconds"] for count in tally.stages.values())
            report, lines = measured(arm, experiment, some, options, tally, kept)
            spent = sum(count["seconds"] for count in tally.stages.values()) - before
            said = np.array([bool(line["answers"]) or bool(line.get("values")) for line in lines])
            hit = np.array(report.columns["hit_any"]) > 0
            reports[arm.name] = report
            means = [float(np.mean(report.columns[name])) for name in SPENT]
            table.add(each, asked, arm.name, *row(report, METRICS), share(said & ~hit, seed),
                      share(~said, seed), *means, spent / asked)  # fmt: skip
        first, *others = reports
        gains = record.table("set", "difference", *METRICS)
        for other in others:
            gain = paired_differences(reports[other], reports[first], seed=seed)
            gains.add(each, f"{other} − {first}", *(gain.get(metric) for metric in METRICS))
    kinds = record.table("prompt", "prompts", "unread", "after a repair", "failed", "tokens read",
                         "written", "seconds", title="Prompts by kind, means a call")  # fmt: skip
    for stage, count in tally.stages.items():
        calls = count["prompts"] + count["repairs"]
        lost = count["unread"] - (count["repairs"] - count["unread again"])
        kinds.add(stage, count["prompts"], count["unread"] / count["prompts"],
                  max(lost, 0) / count["prompts"], count["failed calls"],
                  *(count[each] / calls for each in
                    ("prompt_tokens", "completion_tokens", "seconds")))  # fmt: skip
    record.note(f"{model.model}; {options.server}; temperature 0, one repair; "
                "seconds are the model's, beside other work on the same cores")  # fmt: skip
    record.save()


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("experiments", nargs="*", choices=[*EXPERIMENTS, []], metavar="EXPERIMENT")
    parser.add_argument("--llm", required=True, help="the model's name at the endpoint")
    parser.add_argument("--short", default="", help="its name in the names of results")
    reply_options(parser)
    parser.add_argument("--questions", type=int, help="of each set, instead of its own number")
    parser.add_argument("--sets", nargs="+", help="these alone")
    parser.add_argument("--arms", nargs="+", help="these alone")
    parser.add_argument("--pack", type=Path, help="pack the replies into this archive")
    options = parser.parse_args(argv)
    with model_of(options) as backend:
        for name in options.experiments:
            run(name, options, backend)
    if options.pack:
        ReplyStore(options.replies).pack(options.pack)


if __name__ == "__main__":
    main()
