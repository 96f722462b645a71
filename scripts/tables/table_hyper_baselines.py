"""PRoH's retrieval beside baselines over a hypergraph, no model: who has the answer first.

MuSiQue and HotpotQA, each question over its own passages, read by rules, words hashed. An answer is
the first entity that a retrieval ranks and the question does not name; F1 is of its words, no judge
is asked. "Whole facts" keeps a fact together: hyperedges by cosine, their entities in that order;
"facts in pairs" cuts each into pairs of its entities; PageRank flows from the nearest facts over
entities and passages. Some minutes on two CPU cores.

    python scripts/tables/table_hyper_baselines.py
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from jaxkg.cite.hyperpaths import says
from jaxkg.evaluate.metrics.intervals import ratio_estimates
from jaxkg.evaluate.metrics.published import mrqa_f1
from jaxkg.evaluate.metrics.retrieval import support_recall_at_k
from jaxkg.kg.hypergraph.text import hypergraph_of_text
from jaxkg.records import Question
from jaxkg.systems.proh.index import HyperIndex, hyper_index
from jaxkg.systems.proh.system import ProhQA
from jaxkg.text import HashingEncoder

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.hyper_pieces import nearest_facts, page_rank_masses
from lib.record import Record, arguments
from lib.sets import text_questions

METRICS = ("F1", "best F1 of five", "support recall at 5")


class Found(NamedTuple):
    """What a retrieval ranks: names of entities and texts of passages, best first."""

    names: Sequence[str]
    passages: Sequence[str]


def proh(index: HyperIndex, question: Question) -> Found:
    """PRoH's retrieval without a model, as `--system proh` answers."""
    qa = ProhQA.build(index.graph, index.encode, index=index)
    [answer] = qa.answer([dataclasses.replace(question, passages=None)])
    return Found([e.name for e in answer.entities], [p.text for p in answer.passages])


def whole_facts(index: HyperIndex, question: Question) -> Found:
    """Entities and passages of the facts that are most like the question, facts kept whole."""
    [pieces] = nearest_facts(index, [question.text], 16)
    return _found(index, ((index.graph.entities_of(path[0]), chunk) for path, chunk in pieces))


def pairs(index: HyperIndex, question: Question) -> Found:
    """The same of pairs: each two entities of a fact, said by their names alone."""
    graph = index.graph
    cut = [
        (ends, int(graph.edge_chunk[edge]))
        for edge in graph.rows_of_kind("fact").tolist()
        for ends in itertools.combinations(dict.fromkeys(graph.entities_of(edge).tolist()), 2)
    ]
    if not cut:
        return Found((), ())
    texts = [" ".join(map(graph.name, ends)) for ends, _ in cut]
    near = index.encode([question.text]) @ index.encode(texts).T
    best = np.argsort(-near[0], kind="stable")[:16].tolist()
    return _found(index, (cut[place] for place in best))


def by_page_rank(index: HyperIndex, question: Question) -> Found:
    """Personalised PageRank, with the settings that were best on questions of MuSiQue."""
    entities, chunks = page_rank_masses(index, [question.text], facts=5, passage=0.05, restart=0.5)
    graph = index.graph
    return Found(
        [graph.name(row) for row in np.argsort(-entities[0], kind="stable").tolist()],
        [graph.chunk_texts[row] for row in np.argsort(-chunks[0], kind="stable").tolist()],
    )


def _found(index: HyperIndex, facts: Iterable[tuple[Iterable[int], int]]) -> Found:
    names, passages = dict[str, None](), dict[str, None]()
    for entities, chunk in facts:
        names |= dict.fromkeys(index.graph.name(int(row)) for row in entities)
        passages[index.graph.chunk_texts[chunk]] = None
    return Found(list(names), list(passages))


ARMS = {
    "PRoH retrieval, no model": proh,
    "whole facts by cosine": whole_facts,
    "facts in pairs by cosine": pairs,
    "hypergraph PageRank": by_page_rank,
}


def measured(question: Question, found: Found) -> list[float]:
    """`METRICS` of one question."""
    assert question.passages is not None
    golds = [*(question.answers or ()), *question.aliases]
    new = [name for name in found.names if not says(question.text, name)][:5]
    scores = [mrqa_f1(golds, name) for name in new]
    gold = [question.passages.texts[place][1].strip() for place in question.passages.support]
    shown = [text.strip() for text in found.passages]
    return [*(scores[:1] or [0.0]), max(scores, default=0.0), support_recall_at_k(gold, shown, 5)]


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, seed=False)
    parser.add_argument("--sets", nargs="+", default=["musique", "hotpotqa"])
    parser.add_argument("--limit", type=int, help="first so many questions of each set")
    options = parser.parse_args(argv)
    record, encode = Record(__file__, options), HashingEncoder()
    differences = (f"{metric} − PRoH" for metric in METRICS)
    table = record.table("set", "questions", "retrieval", *METRICS, *differences)
    for name in options.sets:
        questions = text_questions(name, options.data)[: options.limit]
        rows: dict[str, list[list[float]]] = {arm: [] for arm in ARMS}
        for question in questions:
            assert question.passages is not None
            index = hyper_index(hypergraph_of_text(question.passages.texts), encode)
            for arm, retrieve in ARMS.items():
                rows[arm].append(measured(question, retrieve(index, question)))
        first = np.array(next(iter(rows.values())))
        for arm, told in rows.items():
            values, ones = np.array(told), np.ones_like(first)
            means, gains = ratio_estimates(values, ones), [None] * len(METRICS)
            if arm != next(iter(rows)):
                gains = ratio_estimates(values, ones, minus=(first, ones))
            table.add(name, len(questions), arm, *means, *gains)
        record.save()


if __name__ == "__main__":
    main()
