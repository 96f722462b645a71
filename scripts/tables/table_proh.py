"""PRoH's retrieval, no language model: MuSiQue with extracted triples, and HotpotQA by rules.

This is not PRoH-L, and not the paper's walk: every entity weighs 1 x rarity, relevance flows as in
PageRank, one step deep, and dense chunks are mixed in; the paper weighs by similarity and overlap
over three steps. `--ablations` has its rows. Half an hour on two CPU cores.

    python scripts/tables/table_proh.py
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from jaxkg.cite.hyperpaths import says
from jaxkg.evaluate.metrics.intervals import ratio_estimates
from jaxkg.evaluate.metrics.retrieval import support_recall_at_k
from jaxkg.kg.hypergraph.edit import merged_entities
from jaxkg.kg.hypergraph.graph import KnowledgeHypergraph
from jaxkg.kg.hypergraph.read import read_openie
from jaxkg.kg.hypergraph.text import hypergraph_of_text
from jaxkg.kg.questions.passages import distinct_passages
from jaxkg.kg.questions.read import read_questions
from jaxkg.records import Question
from jaxkg.systems.proh.decompose import retrieve_in_steps
from jaxkg.systems.proh.index import HyperIndex, hyper_index
from jaxkg.systems.proh.retrieval import RetrievalSettings, Retriever, merged
from jaxkg.systems.proh.synonyms import with_synonyms
from jaxkg.systems.proh.walk import chain
from jaxkg.text.best import encoder_kept
from jaxkg.text.minilm import MiniLM

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments
from lib.seconds import Laps

Ranking = list[list[int]]
"""Chunk rows of every question, best first."""


@dataclasses.dataclass(frozen=True)
class Task:
    """Questions over a corpus of chunks."""

    questions: list[str]
    gold: list[set[int]]
    steps: list[list[str]]
    """Gold sub-questions with their answers filled in; empty where there are none."""
    graph: KnowledgeHypergraph
    cutoffs: tuple[int, ...]


def musique(folder: Path) -> Task:
    graph = read_openie(folder / "musique_openie" / "musique_train_openie_gpt35.json")
    questions = read_questions(folder / "musique_openie" / "musique_train.json")
    place = {pair: row for row, pair in enumerate(zip(graph.chunk_titles, graph.chunk_texts))}
    steps = []
    for one in questions:
        assert one.passages is not None
        told = [answer for _, answer in one.passages.steps]
        steps.append(
            [
                re.sub(r"\{(\d+)\}", lambda m, told=told: told[int(m[1]) - 1], text)
                for text, _ in one.passages.steps
            ]
        )
    return Task([one.text for one in questions], gold(questions, place), steps, graph, (5, 10))


def hotpotqa(folder: Path) -> Task:
    questions = read_questions(folder / "hotpotqa_200.json")
    passages = distinct_passages(questions)
    graph = hypergraph_of_text(passages, longest=10_000)
    place = {pair: row for row, pair in enumerate(passages)}
    return Task([one.text for one in questions], gold(questions, place), [], graph, (4,))


def gold(questions: Sequence[Question], place: dict[tuple[str, str], int]) -> list[set[int]]:
    """Chunks that the answers need."""
    brought = [one.passages for one in questions if one.passages is not None]
    return [{place[some.texts[at]] for at in some.support} for some in brought]


def dense(index: HyperIndex, texts: Sequence[str]) -> Ranking:
    """Plain passage retrieval with the same encoder."""
    scores = index.encode(list(texts)) @ index.chunk_vectors.T
    return np.argsort(-scores, axis=1, kind="stable")[:, :100].tolist()


def page_rank(
    index: HyperIndex, texts: Sequence[str], *, facts: int, passage: float, restart: float
) -> Ranking:
    """Passages by `page_rank_masses`."""
    _, masses = page_rank_masses(index, texts, facts=facts, passage=passage, restart=restart)
    return np.argsort(-masses, axis=1, kind="stable")[:, :100].tolist()


def page_rank_masses(
    index: HyperIndex, texts: Sequence[str], *, facts: int, passage: float, restart: float
) -> tuple[np.ndarray, np.ndarray]:
    """Personalised PageRank over entities and passages, seeded as HippoRAG 2 does.

    Edges: the two ends of a fact, an entity and its passages; synonyms are merged. Seeds: entities
    of the most similar facts over their number of passages, and passages by their similarity.

    Returns:
        [questions, entities] and [questions, chunks] masses.
    """
    graph, merged = index.graph, merged_entities(index.graph)
    rows = graph.rows_of_kind("fact")
    names = index.encode([graph.edge_names[row] for row in rows.tolist()])
    count, chunks = graph.num_entities, graph.num_chunks
    edge = np.repeat(np.arange(graph.num_edges), np.diff(graph.offsets))
    node = merged[graph.members]
    is_fact = np.isin(edge, rows)
    place = np.searchsorted(rows, edge[is_fact])
    fact = _binary(place, node[is_fact], (len(rows), count))
    chunk = graph.edge_chunk[edge]
    home = _binary(chunk[chunk >= 0], node[chunk >= 0], (chunks, count))
    ends = (fact.T @ fact).tolil()
    ends.setdiag(0)
    walk = sparse.bmat([[ends, home.T], [home, None]]).tocsc()
    walk = walk @ sparse.diags(1 / np.maximum(np.asarray(walk.sum(0)).ravel(), 1e-9))
    vectors = index.encode(list(texts))
    near, homely = vectors @ names.T, vectors @ index.chunk_vectors.T
    width = np.maximum(np.ptp(homely, axis=1, keepdims=True), 1e-9)
    homely = (homely - homely.min(1, keepdims=True)) / width
    seeds = np.zeros_like(near)
    best = np.argsort(-near, axis=1, kind="stable")[:, :facts]
    np.put_along_axis(seeds, best, np.take_along_axis(near, best, 1), 1)
    members = np.maximum((fact.T @ (seeds > 0).T.astype(np.float32)).T, 1)
    spread = np.maximum(np.asarray(home.sum(0)).ravel(), 1)
    start = np.concatenate([(fact.T @ seeds.T).T / members / spread, passage * homely], axis=1)
    start /= start.sum(1, keepdims=True)
    state = start.T
    for _ in range(30):
        state = (1 - restart) * (walk @ state) + restart * start.T
    return state[:count].T, state[count:].T


def _binary(row: np.ndarray, column: np.ndarray, shape: tuple[int, int]) -> Any:
    matrix = sparse.csr_matrix((np.ones(len(row), np.float32), (row, column)), shape)
    matrix.data[:] = 1
    return matrix


def retrieved(index: HyperIndex, texts: Sequence[str], settings: RetrievalSettings) -> Ranking:
    found = Retriever(index, settings).retrieve(texts)
    if not all(some.complete for some in found):
        raise SystemExit("a search outgrew the largest bucket")
    return [[chunk for chunk, _ in some.chunks] for some in found]


def in_steps(retriever: Retriever, texts: Sequence[str], *, names: int) -> Ranking:
    found = retrieve_in_steps(retriever, texts, retriever.retrieve(texts), names=names)
    return [[chunk for chunk, _ in some.chunks] for some in found]


Piece = tuple[tuple[int, ...], int]
"""A path of facts (none: the passage itself) and its chunk."""
OTHERS: dict[str, Callable[[HyperIndex, list[str]], list[list[Piece]]]] = {
    "gold plan, 16 facts by FLOW": lambda index, texts: [
        [(path, int(index.graph.edge_chunk[path[-1]])) for path, _ in found.paths[:16]]
        for found in Retriever(index).retrieve(texts)
    ],
    "gold plan, 16 facts by cosine": lambda index, texts: nearest_facts(index, texts, 16),
    "gold plan, 2 passages by FLOW": lambda index, texts: [
        [((), chunk) for chunk, _ in found.chunks[:2]] for found in Retriever(index).retrieve(texts)
    ],
    "gold plan, 2 passages by cosine": lambda index, texts: [
        [((), chunk) for chunk in row[:2]] for row in dense(index, texts)
    ],
    "gold plan, 2 passages by PageRank": lambda index, texts: [
        [((), chunk) for chunk in row[:2]]
        for row in page_rank(index, texts, facts=5, passage=0.05, restart=0.5)
    ],
}
"""What a retrieval shows a model for each sub-question."""


def nearest_facts(index: HyperIndex, texts: list[str], count: int) -> list[list[Piece]]:
    """The facts most like each text."""
    rows = index.graph.rows_of_kind("fact")
    near = index.encode(texts) @ np.asarray(index.edge_vectors)[rows].T
    best = rows[np.argsort(-near, axis=1, kind="stable")[:, :count]]
    return [[((edge,), int(index.graph.edge_chunk[edge])) for edge in row] for row in best.tolist()]


class ByPlan(NamedTuple):
    """What a gold plan came to: the last answer or "", what held the answers, tokens shown."""

    answer: str
    facts: list[str]
    passages: list[str]
    tokens: int


def by_gold_plan(
    index: HyperIndex,
    steps: Mapping[str, Sequence[str]],
    retrieve: Callable[[HyperIndex, list[str]], list[list[Piece]]],
) -> ByPlan:
    """Ask each gold sub-question of what a retrieval shows for it.

    It is answered where a piece holds its answer, and the next ones hold the right answers of those
    before. Tokens are a quarter of the characters shown: nothing is chosen or asked twice.

    Args:
        index: of the hypergraph.
        steps: names that answer each sub-question, earlier answers filled in, in order.
        retrieve: of `OTHERS`.
    """
    told = ByPlan("", [], [], 0)
    for pieces, names in zip(retrieve(index, list(steps)), steps.values()):
        texts = [
            chain(index, path) if path else index.graph.chunk_texts[chunk] for path, chunk in pieces
        ]
        tokens = told.tokens + sum(map(len, texts)) // 4
        held = [(at, name) for at, text in enumerate(texts) for name in names if says(text, name)]
        if not held:
            return told._replace(answer="", tokens=tokens)
        at, name = held[0]
        passage = index.graph.chunk_texts[pieces[at][1]]
        told = ByPlan(name, [*told.facts, texts[at]], [*told.passages, passage], tokens)
    return told


def by_steps(task: Task, rank: Callable[[list[str]], list[Any]], merge: Any) -> Ranking:
    """One ranking from those of a question's sub-questions."""
    flat = [text for steps in task.steps for text in steps]
    found = iter(rank(flat))
    return [merge([next(found) for _ in steps]) for steps in task.steps]


def interleaved(rankings: Sequence[Sequence[int]]) -> list[int]:
    pairs = [(place, which, c) for which, r in enumerate(rankings) for place, c in enumerate(r)]
    return list(dict.fromkeys(chunk for _, _, chunk in sorted(pairs)))


def recalls(task: Task, ranking: Ranking) -> np.ndarray:
    """[questions, cutoffs]."""
    return np.asarray(
        [
            [support_recall_at_k(gold, ranked, k) for k in task.cutoffs]
            for gold, ranked in zip(task.gold, ranking)
        ]
    )


def tuned(
    task: Task, arms: dict[str, Callable[[], Ranking]], half: np.ndarray
) -> tuple[str, Ranking]:
    """The arm that is best on the chosen half, all cutoffs added up."""
    rankings = {name: arm() for name, arm in arms.items()}
    best = max(rankings, key=lambda name: recalls(task, rankings[name])[half].mean(0).sum())
    return best, rankings[best]


def ablations(settings: RetrievalSettings) -> dict[str, tuple[RetrievalSettings, dict[str, Any]]]:
    """Settings and index options without one part each, after the paper's Table 2."""
    beam, change = settings.beam, dataclasses.replace
    return {
        "without EWO guide": (
            change(settings, beam=change(beam, guide="similarity", temperature=0.0)),
            {},
        ),
        "without rarity in EW": (change(settings, beam=change(beam, specificity=0.0)), {}),
        "EW = SE (PRoH-L's own)": (
            change(settings, beam=change(beam, weigh="similarity", threshold=0.0)),
            {},
        ),
        "aggregate mean": (change(settings, beam=change(beam, aggregate="mean")), {}),
        "aggregate max": (change(settings, beam=change(beam, aggregate="max")), {}),
        "without synonym merge": (settings, {"merge_synonyms": False}),
        "without source chunks": (
            change(settings, chunk_temperature=0.0),
            {"chunk_share": 0.0},
        ),
        "without target hyperedges": (change(settings, targets=0), {}),
        "without topic entities": (change(settings, topic_bonus=0.0), {}),
        "with passage hyperedges": (settings, {"skip": ("synonym",)}),
        "no deepening (seeds alone)": (change(settings, beam=change(beam, depth=0)), {}),
        "one step deeper": (change(settings, beam=change(beam, depth=2)), {}),
    }


def choices(settings: RetrievalSettings) -> dict[str, RetrievalSettings]:
    """What the defaults were chosen from."""
    change = dataclasses.replace
    return {
        f"seeds {seeds}, depth {depth}, topics {bonus}, chunks {heat}": change(
            settings,
            beam=change(settings.beam, seeds=seeds, depth=depth),
            topic_bonus=bonus,
            chunk_temperature=heat,
        )
        for seeds in (15, 30, 60)
        for depth in (1, 2)
        for bonus in (0.0, 0.05, 0.1)
        for heat in (0.1, 0.2, 0.3, 0.5)
    }


class Rows:
    """A table of one task: each cutoff's recall, its halves, and the gain over the first row."""

    def __init__(self, record: Record, task: Task, half: np.ndarray, title: str) -> None:
        heads = (
            head
            for k in task.cutoffs
            for head in (f"support_recall_at_{k}", "chosen on", "held out", "over dense")
        )
        self.task, self.half, self.base = task, half, None
        self.table = record.table("arm", *heads, "seconds", title=title)

    def add(self, name: str, arm: Callable[[], Ranking]) -> None:
        laps = Laps()
        values = recalls(self.task, arm())
        seconds, ones = laps.lap(), np.ones_like(values)
        gains: Sequence[Any] = [None] * len(self.task.cutoffs)
        if self.base is None:
            self.base = values
        else:
            gains = ratio_estimates(values, ones, minus=(self.base, ones))
        cells = []
        for column, estimate in enumerate(ratio_estimates(values, ones)):
            halves = (float(values[some, column].mean()) for some in (self.half, ~self.half))
            cells += [estimate, *halves, gains[column]]
        self.table.add(name, *cells, seconds)


def table(name: str, task: Task, encode: Any, options: argparse.Namespace, record: Record) -> None:
    half = np.arange(len(task.questions)) % 2 == 0
    graph = with_synonyms(task.graph, encode, threshold=options.synonyms)
    index, settings = hyper_index(graph, encode), RetrievalSettings()
    encode(task.questions)
    title = f"{name}, {len(task.questions)} questions: {graph}, {graph.stats()['kinds']}"
    rows = Rows(record, task, half, title)
    rows.add("dense passages", lambda: dense(index, task.questions))
    if task.steps:
        arms = {
            f"PageRank {facts} facts, passages x {passage}, restart {restart}": (
                lambda f=facts, p=passage, r=restart: page_rank(
                    index, task.questions, facts=f, passage=p, restart=r
                )
            )
            for facts in (5, 30)
            for passage in (0.02, 0.05)
            for restart in (0.5, 0.2)
        }
        best, ranking = tuned(task, arms, half)
        rows.add(best, lambda: ranking)
    rows.add("PRoH retrieval", lambda: retrieved(index, task.questions, settings))
    if task.steps:
        rows.add(
            "dense, gold sub-questions",
            lambda: by_steps(task, lambda flat: dense(index, flat), interleaved),
        )
        retriever = Retriever(index, settings)

        def ranking_of(found: Any) -> list[int]:
            return [chunk for chunk, _ in merged([some.chunks for some in found])]

        rows.add(
            "PRoH retrieval, gold sub-questions as the plan",
            lambda: by_steps(task, retriever.retrieve, ranking_of),
        )
        rows.add(
            "PRoH retrieval, its own inner questions as the plan, 3 names",
            lambda: in_steps(retriever, task.questions, names=3),
        )
    if options.choose:
        arms = {
            name: lambda c=changed: retrieved(index, task.questions, c)
            for name, changed in choices(settings).items()
        }
        best, chosen = tuned(task, arms, half)
        rows.add(f"chosen of {len(arms)}: {best}", lambda: chosen)
    if options.ablations:
        for name, (changed, other) in ablations(settings).items():
            used = index if not other else hyper_index(graph, encode, **other)
            rows.add(name, lambda u=used, c=changed: retrieved(u, task.questions, c))


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, seed=False)
    parser.add_argument("--sets", nargs="+", default=["musique", "hotpotqa"])
    parser.add_argument("--synonyms", type=float, default=0.85, help="least cosine of synonyms")
    parser.add_argument("--ablations", action="store_true")
    parser.add_argument("--choose", action="store_true", help="search the settings again")
    parser.add_argument("--encoder", help="folder or hub name; all-MiniLM-L6-v2 by default")
    options = parser.parse_args(argv)
    record = Record(__file__, options)
    encode = MiniLM.open(options.encoder) if options.encoder else encoder_kept("minilm")
    record.note(f"encoder {encode.name} {encode.revision}; seconds exclude encoding")
    for name in options.sets:
        task = {"musique": musique, "hotpotqa": hotpotqa}[name](options.data / "multihop_text")
        table(name, task, encode, options, record)
        record.save()


if __name__ == "__main__":
    main()
