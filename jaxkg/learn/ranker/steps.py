"""A trained step ranker: it reads a question token by token and says a relation path step by step.

Relations are known by their words beside what was learnt of each, so it ranks the paths of graphs
that it was not trained for, too.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.learn.folder import FolderModel, ModelFolder
from jaxkg.learn.ranker.branches import Branch
from jaxkg.score.path_steps import StepParams, marked, next_state, relation_vectors, step_logits
from jaxkg.search.path_steps import SteppedPaths, step_paths
from jaxkg.tensors import TensorGraph, bucket, pad
from jaxkg.text.bert_weights import BertConfig
from jaxkg.text.states import TokenReader, TokenStates, reread

WIDTHS = (16, 20, 24, 32, 48)
"""Tokens of padded questions, a compiled program each; what is longer is cut."""


@dataclasses.dataclass(frozen=True)
class StepRanker(FolderModel):
    """Says which relation paths a question asks for.

    Attributes:
        params: weights; those of relations in the order of `relations`.
        relations: names of the relations that it was trained with.
        text: name and revision of the text model below, and its sizes.
        hops: longest path it was trained with.
        about: what it was trained on, for people.
    """

    kind = ModelFolder("step ranker", "steps", "jaxkg-step-ranker", 1, "`jaxkg train ranked`")

    params: StepParams
    relations: tuple[str, ...]
    text: tuple[str, str, BertConfig]
    hops: int
    about: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def check(self, reader: TokenReader) -> None:
        """Refuse another text model than the one it was trained above.

        Raises:
            JaxkgError: it is another.
        """
        self.kind.check_encoder(self.text[:2], (reader.name, reader.revision), what="states")

    def of_relations(self, relations: Sequence[str]) -> StepParams:
        """Weights for a graph; of a relation never seen, its words alone speak."""
        place = {name: row for row, name in enumerate(self.relations)}
        rows = np.array([place.get(name, -1) for name in relations], np.int64)
        known = rows >= 0
        vectors = np.where(known[:, None], self.params.relation[rows], 0.0).astype(np.float32)
        bias = np.where(known, self.params.bias[rows], 0.0)
        bias = np.r_[bias, self.params.bias[-1]].astype(np.float32)
        return self.params._replace(relation=vectors, bias=bias)

    def paths(
        self,
        tensors: TensorGraph,
        params: StepParams,
        vectors: jax.Array,
        tokens: TokenStates,
        branches: Sequence[Branch],
        *,
        width: int,
        most_nodes: int,
    ) -> SteppedPaths:
        """The best relation paths of a batch of branches.

        Args:
            tensors: the graph.
            params: of the graph's relations, see `of_relations`.
            vectors: [R + 1, D] of the graph's relations.
            tokens: of the questions that the branches tell of.
            branches: B of them.
            width, most_nodes: see `step_paths`.
        """
        scorer = _Scorer(params, vectors, self.text[2], tokens, branches)
        starts = [branch.starts for branch in branches]
        return step_paths(
            tensors, starts, scorer, hops=self.hops, width=width, most_nodes=most_nodes
        )

    def parts(self) -> tuple[Any, dict[str, Any]]:
        """See `FolderModel`."""
        name, revision, config = self.text
        return self.params._asdict(), {
            "text": [name, revision, dataclasses.asdict(config)],
            "hops": self.hops,
            "upper": len(self.params.upper),
            "about": dict(self.about),
        }

    @classmethod
    def of_parts(cls, meta: dict[str, Any], arrays: dict[str, Any]) -> StepRanker:
        """See `FolderModel`."""
        name, revision, config = meta["text"]
        upper = tuple(arrays[f"upper/{place}"] for place in range(meta["upper"]))
        rest = {field: arrays[field] for field in StepParams._fields if field != "upper"}
        relations = tuple(meta["relations"])
        if len(rest["relation"]) != len(relations):
            raise ValueError("weights and names disagree")
        text = (name, revision, BertConfig(**config))
        return cls(StepParams(upper, **rest), relations, text, meta["hops"], meta["about"])

    @classmethod
    def there(cls, folder: str | os.PathLike[str]) -> bool:
        """Whether a folder holds a model of this kind."""
        return (Path(folder) / f"{cls.kind.name}.json").exists()


def token_table(
    tokens: TokenStates, branches: Sequence[Branch], *, rows: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[B, T, D] float16 states, [B] int32 lengths and [B, T] int32 marks of branches.

    Args:
        tokens: of the questions.
        branches: some.
        rows: B, rows past the branches repeat the first ones; None makes none.
    """
    rows_of = [branches[i % len(branches)] for i in range(rows or len(branches))]
    longest = max(int(np.diff(tokens.offsets[b.question : b.question + 2])[0]) for b in rows_of)
    width = next((width for width in WIDTHS if width >= longest), WIDTHS[-1])
    states, lengths = tokens.table([branch.question for branch in rows_of], width)
    marks = np.zeros(states.shape[:2], np.int32)
    for row, branch in enumerate(rows_of):
        for token, mark in branch.marks:
            if token < width:
                marks[row, token] = mark
    return states, lengths, marks


class _Scorer:
    """The model as `step_paths` asks it."""

    def __init__(
        self,
        params: StepParams,
        vectors: jax.Array,
        config: BertConfig,
        tokens: TokenStates,
        branches: Sequence[Branch],
    ) -> None:
        self.params, self.vectors = params, vectors
        states, self.lengths, marks = token_table(tokens, branches, rows=bucket(len(branches)))
        self.states = read_branches(config, params, states, self.lengths, marks)

    def begin(self) -> tuple[np.ndarray, np.ndarray]:
        path = jnp.broadcast_to(
            self.params.start[None], (len(self.lengths), len(self.params.start))
        )
        every = np.arange(len(self.lengths), dtype=np.int32)
        logits = _logits(self.params, self.vectors, self.states, self.lengths, every, path)
        return np.asarray(path), np.asarray(logits)

    def go_on(
        self, branch: np.ndarray, state: np.ndarray, relation: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        count = len(branch)
        size = bucket(count, floor=256)
        path, logits = _further(
            self.params,
            self.vectors,
            self.states,
            self.lengths,
            np.resize(branch.astype(np.int32), size),
            pad(state, size),
            np.resize(relation.astype(np.int32), size),
        )
        return np.asarray(path)[:count], np.asarray(logits)[:count]


@functools.partial(jax.jit, static_argnums=0)
def read_branches(
    config: BertConfig, params: StepParams, states: jax.Array, lengths: jax.Array, marks: jax.Array
) -> jax.Array:
    """[B, T, D] float32 token states, topics marked and the upper layers passed."""
    return reread(config, params.upper, marked(params, states.astype(jnp.float32), marks), lengths)


vectors_of = jax.jit(relation_vectors)
"""See `relation_vectors`."""


@jax.jit
def _logits(params, vectors, states, lengths, branch, path):
    return step_logits(params, vectors, states[branch], lengths[branch], path)


@jax.jit
def _further(params, vectors, states, lengths, branch, path, relation):
    path = next_state(params, path, vectors[relation])
    return path, step_logits(params, vectors, states[branch], lengths[branch], path)
