"""PRoH-L's retrieval, no language model: MuSiQue with extracted triples, and HotpotQA by rules.

python scripts/table_proh.py --vectors musique.vectors
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
import scipy
from scipy import sparse

from jaxkg.evaluate.metrics.intervals import ratio_estimates
from jaxkg.evaluate.metrics.retrieval import support_recall_at_k
from jaxkg.kg.hypergraph.graph import KnowledgeHypergraph
from jaxkg.kg.hypergraph.read import read_openie
from jaxkg.kg.hypergraph.synonyms import merged_entities
from jaxkg.kg.hypergraph.text import hypergraph_of_text
from jaxkg.systems.proh.index import HyperIndex, hyper_index
from jaxkg.systems.proh.retrieval import RetrievalSettings, Retriever, merged_chunks
from jaxkg.systems.proh.synonyms import with_synonyms
from jaxkg.text.minilm import MiniLM
from jaxkg.text.vectors import CachedEncoder

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
    raw = json.loads((folder / "musique_openie" / "musique_train.json").read_text("utf-8"))
    place = {pair: row for row, pair in enumerate(zip(graph.chunk_titles, graph.chunk_texts))}
    gold, steps = [], []
    for one in raw:
        gold.append(
            {
                place[p["title"], p["paragraph_text"]]
                for p in one["paragraphs"]
                if p["is_supporting"]
            }
        )
        told = [step["answer"] for step in one["question_decomposition"]]
        steps.append(
            [
                re.sub(r"#(\d+)", lambda m, told=told: told[int(m[1]) - 1], step["question"])
                for step in one["question_decomposition"]
            ]
        )
    return Task([one["question"] for one in raw], gold, steps, graph, (5, 10))


def hotpotqa(folder: Path) -> Task:
    raw = json.loads((folder / "hotpotqa_200.json").read_text("utf-8"))
    passages = {
        (title, "".join(told).strip()): None for one in raw for title, told in one["context"]
    }
    graph = hypergraph_of_text(passages, longest=10_000)
    row_of: dict[str, int] = {}
    for row, (title, _) in enumerate(passages):
        row_of.setdefault(title, row)
    gold = [{row_of[title] for title, _ in one["supporting_facts"]} for one in raw]
    return Task([one["question"] for one in raw], gold, [], graph, (4,))


def dense(index: HyperIndex, texts: Sequence[str]) -> Ranking:
    """Plain passage retrieval with the same encoder."""
    scores = index.encode(list(texts)) @ index.chunk_vectors.T
    return np.argsort(-scores, axis=1, kind="stable")[:, :100].tolist()


def page_rank(
    index: HyperIndex, texts: Sequence[str], *, facts: int, passage: float, restart: float
) -> Ranking:
    """Personalised PageRank over entities and passages, seeded as HippoRAG 2 does.

    Edges: the two ends of a fact, an entity and its passages; synonyms are merged. Seeds: entities
    of the most similar facts over their number of passages, and passages by their similarity.
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
    homely = (homely - homely.min(1, keepdims=True)) / np.ptp(homely, axis=1, keepdims=True)
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
    return np.argsort(-state[count:].T, axis=1, kind="stable")[:, :100].tolist()


def _binary(row: np.ndarray, column: np.ndarray, shape: tuple[int, int]) -> Any:
    matrix = sparse.csr_matrix((np.ones(len(row), np.float32), (row, column)), shape)
    matrix.data[:] = 1
    return matrix


def retrieved(index: HyperIndex, texts: Sequence[str], settings: RetrievalSettings) -> Ranking:
    found = Retriever(index, settings).retrieve(texts)
    if not all(some.complete for some in found):
        raise SystemExit("a search outgrew the largest bucket")
    return [[chunk for chunk, _ in some.chunks] for some in found]


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


def row(
    task: Task, name: str, ranking: Ranking, half: np.ndarray, seconds: float, base: Ranking | None
) -> dict[str, Any]:
    values = recalls(task, ranking)
    ones = np.ones_like(values)
    told: dict[str, Any] = {"arm": name, "seconds": round(seconds, 3)}
    cells = []
    minus = None if base is None else (recalls(task, base), ones)
    gains = ratio_estimates(values, ones, minus=minus) if minus else []
    for column, estimate in enumerate(ratio_estimates(values, ones)):
        k = task.cutoffs[column]
        chosen, held = values[half, column].mean(), values[~half, column].mean()
        told[f"support_recall_at_{k}"] = dataclasses.asdict(estimate)
        told[f"halves_at_{k}"] = [chosen, held]
        cell = f"{estimate.value:.3f} ({estimate.low:.3f}–{estimate.high:.3f}) | "
        cells.append(cell + f"{chosen:.3f} / {held:.3f}")
        if gains:
            gain = gains[column]
            told[f"gain_at_{k}"] = dataclasses.asdict(gain)
            cells[-1] += f" | {gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"
        else:
            cells[-1] += " | "
    print(f"| {name} | {' | '.join(cells)} | {seconds:.2f} |", flush=True)
    return told


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


def table(task: Task, encode: Any, options: argparse.Namespace) -> list[dict[str, Any]]:
    half = np.arange(len(task.questions)) % 2 == 0
    graph = with_synonyms(task.graph, encode, threshold=options.synonyms)
    print(f"\n{graph}: {graph.stats()['kinds']}, {len(task.questions)} questions")
    index = hyper_index(graph, encode)
    encode(task.questions)
    heads = "".join(
        f" support_recall_at_{k} | chosen on / held out | over dense |" for k in task.cutoffs
    )
    print(f"| arm |{heads} seconds |\n|---|{'---|' * (3 * len(task.cutoffs) + 1)}")
    rows = []

    def run(name: str, arm: Callable[[], Ranking], base: Ranking | None = None) -> Ranking:
        began = time.perf_counter()
        ranking = arm()
        rows.append(row(task, name, ranking, half, time.perf_counter() - began, base))
        return ranking

    settings = RetrievalSettings()
    plain = run("dense passages", lambda: dense(index, task.questions))
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
        name, ranking = tuned(task, arms, half)
        run(name, lambda: ranking, plain)
    run("PRoH-L retrieval", lambda: retrieved(index, task.questions, settings), plain)
    if task.steps:
        run(
            "dense, gold sub-questions",
            lambda: by_steps(task, lambda flat: dense(index, flat), interleaved),
            plain,
        )
        retriever = Retriever(index, settings)
        run(
            "PRoH-L retrieval, gold sub-questions as the plan",
            lambda: by_steps(
                task,
                retriever.retrieve,
                lambda found: [chunk for chunk, _ in merged_chunks(found)],
            ),
            plain,
        )
    if options.choose:
        arms = {
            name: lambda c=changed: retrieved(index, task.questions, c)
            for name, changed in choices(settings).items()
        }
        name, ranking = tuned(task, arms, half)
        run(f"chosen of {len(arms)}: {name}", lambda: ranking, plain)
    if options.ablations:
        for name, (changed, other) in ablations(settings).items():
            used = index if not other else hyper_index(graph, encode, **other)
            run(
                name,
                lambda u=used, c=changed: retrieved(u, task.questions, c),
                plain,
            )
    return rows


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", nargs="+", default=["musique", "hotpotqa"])
    parser.add_argument("--synonyms", type=float, default=0.85, help="least cosine of synonyms")
    parser.add_argument("--ablations", action="store_true")
    parser.add_argument("--choose", action="store_true", help="search the settings again")
    parser.add_argument("--vectors", type=Path, help="file that keeps the encoder's vectors")
    parser.add_argument("--encoder", help="folder or hub name; all-MiniLM-L6-v2 by default")
    parser.add_argument("--seed", type=int, default=0, help="nothing here is random")
    parser.add_argument("--json", type=Path, help="write the numbers there, too")
    parser.add_argument("--data", type=Path, default=os.environ.get("JAXKG_DATA", "../shared/data"))
    options = parser.parse_args(argv)
    folder = Path(options.data) / "multihop_text"
    encode: Any = MiniLM.open(options.encoder)
    told = f"{encode.name} {encode.revision}"
    if options.vectors:
        encode = CachedEncoder(encode, options.vectors)
    print(
        f"device {jax.devices()[0]}, jax {jax.__version__}, scipy {scipy.__version__}, "
        f"encoder {told}; intervals: 95 % bootstrap over questions; seconds exclude encoding"
    )
    rows = {}
    for name in options.sets:
        task = {"musique": musique, "hotpotqa": hotpotqa}[name](folder)
        rows[name] = table(task, encode, options)
    if options.json:
        fresh = options.json.with_name(f".{options.json.name}.new")
        fresh.write_text(json.dumps(rows, indent=1), encoding="utf-8")
        os.replace(fresh, options.json)


if __name__ == "__main__":
    main()
