"""Questions that the reader's weights are made of and judged by: public sets, own graphs.

Read by `train_reader.py`, with its arguments.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from training.absence import QUOTED, places
from training.fit_phrases import Spoke
from training.maker import Asked
from training.phrasebook import Domain, Phrase
from training.sources import grailqa, lcquad, simple_questions
from training.spoken import spoken_world
from training.spoken_sets import set_questions
from training.worlds import grouped, make_world

from jaxkg.experiments.loading import load_graph
from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.language.vocabulary import Vocabulary
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.words import relation_words

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.own import questions_of

SOURCES = {
    "spoken": (80, 60),
    "sets": (70, 50),
    "grailqa": (32, 24),
    "made-up": (32, 24),
    "lcquad": (32, 24),
    "simple": (32, 24),
}
"""What the shipped rankers learn from: worlds of each source, for MiniLM and for hashing."""
ENCODERS = ("minilm", "hashing")
BARE = "-bare"
"""Ends the name of an own graph whose classes are taken away."""


def groups_of(source: str, data: Path) -> list[list[Mapping[str, Any]]]:
    files = {
        "made-up": lambda: grailqa(data / "question_graphs/grailqa_dev_5763.jsonl"),
        "grailqa": lambda: grailqa(data / "question_graphs/grailqa_dev_5763.jsonl"),
        "lcquad": lambda: lcquad(data / "question_graphs/lcquad1_train.jsonl"),
        "simple": lambda: simple_questions(
            data / "question_graphs/simplequestions_train.jsonl", count=1_500, seed=0
        ),
    }
    groups = [list(some) for some in grouped(files[source](), size=20, seed=0)]
    random.Random(3).shuffle(groups)
    return groups


def worlds_of(args: argparse.Namespace) -> int:
    """As many as are asked for, or as the shipped weights learnt from."""
    return args.groups or SOURCES.get(args.source, (32, 32))[ENCODERS.index(args.encoder)]


def own_choose(
    args: argparse.Namespace,
) -> Iterator[tuple[str, KnowledgeGraph, list[Asked]]]:
    """The own graphs with the questions that may be looked at, each also without its classes."""
    for own, kg, questions in own_graphs(args):
        for name, graph in ((own, kg), (own + BARE, without_classes(kg))):
            if graph is not None:
                yield name, graph, [own_question(graph, one) for one in questions]


def own_graphs(
    args: argparse.Namespace,
) -> Iterator[tuple[str, KnowledgeGraph, list[dict[str, Any]]]]:
    for folder in sorted(args.own.iterdir()) if args.own else ():
        if (folder / "choose.jsonl").exists() and folder.name not in args.unfitted:
            yield folder.name, load_graph(next(folder.glob("facts.*"))), questions_of(folder)


def without_classes(kg: KnowledgeGraph) -> KnowledgeGraph | None:
    """A graph that does not say what its things are, as most tables do not; None of such a one."""
    codes = Vocabulary(kg).type_codes
    said = kg.triples[np.isin(kg.triples[:, 1], codes)].tolist()
    ids = kg.entity_ids
    return kg.remove((ids[h], kg.relations[r], ids[t]) for h, r, t in said) if said else None


def own_domains(args: argparse.Namespace) -> Iterator[Domain]:
    """The own graphs' questions with the relations that their `gold` names, as a phrasebook."""
    return (own_domain(*own) for own in own_graphs(args))


def own_domain(title: str, kg: KnowledgeGraph, questions: Sequence[Mapping[str, Any]]) -> Domain:
    """Questions about one own graph; those left out that name no relation or have no answer."""
    readings = Readings(kg, None, ReaderSettings())
    told = readings.vocabulary.relations
    ordinary = [code for code, relation in enumerate(told) if not relation.role]
    at = {code: row for row, code in enumerate(ordinary)}
    place = {label: at[code] for label, code in places(readings.vocabulary).items()}
    phrases = []
    for one in questions:
        ahead, back = set(), set()
        for found in QUOTED.finditer(one.get("gold") or ""):
            text = found[1] or found[2] or ""
            row = place.get(relation_words(text.lstrip("-~")).lower())
            if row is not None:
                (back if text.startswith("-") else ahead).add(row)
                back |= {row} if text.startswith("~") else set()
        if one["answers"] and ahead | back:
            text = readings.asked(one["question"]).alignment.masked_text()
            phrases.append(Phrase(text, frozenset(ahead), frozenset(back)))
    labels = tuple(told[code].wordings for code in ordinary)
    return Domain(title, labels, (("", ""),) * len(labels), tuple(phrases))


def own_question(kg: KnowledgeGraph, one: Mapping[str, Any]) -> Asked:
    """A question about an own graph; a value among its answers by the id that it has there."""
    if one["kind"] in ("count", "yesno"):
        return Asked(one["question"], frozenset(one["answers"]))
    rows = [kg.entity_ids.rows(a) or kg.entity_names.rows(a) for a in one["answers"]]
    ids = (kg.entity_ids[r[0]] if r else a for r, a in zip(rows, one["answers"]))
    return Asked(one["question"], frozenset(ids))


def spoke_of(args: argparse.Namespace) -> Iterator[Spoke]:
    """Phrases and labels of questions that the ranker is not trained on."""
    file = args.data / "question_graphs/simplequestions_train.jsonl"
    simple = simple_questions(file, count=6_000, seed=1)
    groups = [list(some) for some in grouped(simple, size=24, seed=1)]
    worlds = [make_world(group, 30_000 + n, made_up=0) for n, group in enumerate(groups)]
    graphs = [(world.kg, world.asked) for world in worlds]
    graphs += [spoken_world(5_000 + number, 15) for number in range(100)]
    for kg, asked in graphs:
        readings = Readings(kg, None, ReaderSettings())
        label = dict(zip(kg.relations, (r.wordings[0] for r in readings.vocabulary.relations)))
        for one in asked:
            right = {label[name] for name in one.relations}
            wrong = sorted(set(label.values()) - right)
            phrases = readings.asked(one.text).alignment.texts()[:-1]
            if phrases:
                yield Spoke(tuple(phrases), tuple(sorted(right)), tuple(wrong))


def foreign(args: argparse.Namespace) -> Iterator[tuple[str, KnowledgeGraph, Sequence[Asked]]]:
    """Graphs and questions that the ranker was not trained on, some of them without an answer."""
    for source in ("grailqa", "lcquad", "simple"):
        groups = groups_of(source, args.data)[-args.held :]
        for number, group in enumerate(groups):
            world = make_world(group, 10_000 + number, made_up=6, gone=0.2, longer=0.3)
            yield f"{source} {number}", world.kg, world.asked
        # One world of all their domains: a large schema, as Freebase has.
        whole = make_world([one for some in groups for one in some], 20_000, made_up=0, gone=0.2)
        yield f"{source} large", whole.kg, whole.asked[:: max(1, len(whole.asked) // 60)]
    for number in range(2 * args.held):
        kg, asked = spoken_world(10_000 + number, 15, gone=0.2)
        yield f"spoken {number}", kg, asked
        kg, asked = spoken_world(12_000 + number, 15, gone=0.2, ask=set_questions)
        yield f"sets {number}", kg, asked
