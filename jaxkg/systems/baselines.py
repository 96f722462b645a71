"""What a language model does without a search: alone, step by step, by vote, over what is near.

Baselines for experiments. What a model says from memory is cited by nothing; a name that the graph
has becomes its entity, any other stands as it was said, to be counted as wrong where it is.

References: Wei et al., "Chain-of-thought prompting elicits reasoning in large language models",
NeurIPS 2022; Wang et al., "Self-consistency improves chain of thought reasoning in language
models", ICLR 2023.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import AliasChoices, BaseModel, Field

from jaxkg.adjudicate.ask import Outcome, Prompted, ask
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.prompts import DATA_RULE, block
from jaxkg.adjudicate.reading.match import folded
from jaxkg.adjudicate.requests import Message
from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, Linker, find_topics
from jaxkg.records import Question, RankedEntity, Usage
from jaxkg.settings import Checked, Count
from jaxkg.systems.answering import Progress, QuestionAnswering
from jaxkg.systems.cited import by_mass, cite_walks, cited_answer
from jaxkg.systems.parts import Built, Parts
from jaxkg.systems.reknos.relation_agent import RelationAgent
from jaxkg.tensors import TensorGraph
from jaxkg.text import TextEncoder

_ALONE = (
    "Answer the question with names alone, as short as they are; give no answer where you know "
    'none.\nExample: who wrote the play Hamlet: {"answers": ["William Shakespeare"]}'
)
_THOUGHT = (
    "Answer the question. Think first, step by step, in a few short sentences; then give names "
    "alone, as short as they are, or none where you know none.\n"
    'Example: who was king when Hamlet was first printed: {"reason": "Hamlet was first printed in '
    '1603. James I became king of England that year.", "answers": ["James I"]}'
)
_READ = " Go by the passages, not by memory.\n" + DATA_RULE


class Recalled(BaseModel):
    """The reply's schema; what is thought comes first."""

    reason: str = Field(
        default="", validation_alias=AliasChoices("reason", "rationale", "reasoning", "thought")
    )
    answers: list[str] = Field(validation_alias=AliasChoices("answers", "answer", "final_answer"))


class RecalledAlone(BaseModel):
    """The same without a thought."""

    answers: list[str] = Field(validation_alias=AliasChoices("answers", "answer", "final_answer"))


@dataclasses.dataclass(frozen=True)
class RecallSettings(Checked):
    """Knobs of the baselines.

    Attributes:
        samples: replies of `sc`, drawn at `temperature`; an answer is what half of them name.
        temperature: of these.
        count: passages, or triples, that a question is asked over.
    """

    samples: Count = 5
    temperature: float = 0.7
    count: Count = 5


@dataclasses.dataclass(frozen=True, eq=False)
class Recall(QuestionAnswering):
    """A model that answers from memory, or from the passages that are most like the question.

    Attributes:
        kg: the graph whose entities are meant; None where questions bring passages.
        backend: who answers.
        kind: "alone"; "cot", with a thought before it; "sc", by vote among thoughts; "passages".
        encoder: chooses passages.
    """

    kg: KnowledgeGraph | None
    backend: Backend
    kind: Literal["alone", "cot", "sc", "passages"] = "alone"
    settings: RecallSettings = RecallSettings()
    encoder: TextEncoder | None = None
    repair: bool = False

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """One call a question, `samples` by vote; nothing is cited."""
        samples = self.settings.samples if self.kind == "sc" else 1
        shown = [self._shown(question) for question in questions]
        prompted = [
            self._prompted(question, texts, seed if samples > 1 else None)
            for question, texts in zip(questions, shown)
            for seed in range(samples)
        ]
        outcomes = ask(self.backend, prompted, repair=self.repair)
        return [
            self._told(question, outcomes[samples * row : samples * (row + 1)])
            for row, question in enumerate(questions)
        ]

    def _shown(self, question: Question) -> list[str]:
        if self.kind != "passages":
            return []
        if question.passages is None or self.encoder is None:
            raise JaxkgError(f"question {question.id!r} brings no passages for --system passages")
        texts = [f"{title}: {text}" for title, text in question.passages.texts]
        near = np.asarray(self.encoder(texts)) @ np.asarray(self.encoder([question.text]))[0]
        best = np.argsort(-near, kind="stable")[: self.settings.count].tolist()
        return [texts[place] for place in best]

    def _prompted(
        self, question: Question, texts: Sequence[str], seed: int | None
    ) -> Prompted[BaseModel]:
        user = f"Question:\n{block([question.text], 'question')}"
        if texts:
            user = f"Passages:\n{block(texts)}\n\n{user}"
        system = _ALONE if self.kind == "alone" else _THOUGHT
        return Prompted(
            messages=(
                Message("system", system + _READ if texts else system),
                Message("user", user),
            ),
            schema=RecalledAlone if self.kind == "alone" else Recalled,
            question=question.id or question.text,
            stage="answer",
            temperature=0.0 if seed is None else self.settings.temperature,
            max_tokens=96 if self.kind == "alone" else 256,
            seed=seed,
        )

    def _told(self, question: Question, outcomes: Sequence[Outcome[BaseModel]]) -> Answer:
        votes: Counter[str] = Counter()
        names: dict[str, str] = {}
        replies = [outcome.value for outcome in outcomes if outcome.value is not None]
        for reply in replies:
            assert isinstance(reply, Recalled | RecalledAlone)
            said = {folded(name): name.strip() for name in reply.answers if folded(name)}
            votes.update(said.keys())
            names = {**said, **names}
        enough = [name for name, count in votes.most_common() if 2 * count >= len(replies)]
        entities = tuple(
            RankedEntity(entity, shown, votes[name] / len(replies), ())
            for name in enough or [name for name, _ in votes.most_common(1)]
            for entity, shown in self._known(names[name])
        )
        failed = next((f"{o.error}: {o.detail}" for o in outcomes if o.value is None), None)
        told = None if replies else f"the call failed ({failed})"
        return Answer(
            question.text,
            question_id=question.id,
            entities=entities,
            usage=sum((outcome.usage for outcome in outcomes), Usage()),
            abstained=None if entities else told or "the model knows no answer",
            error=None if replies or outcomes[0].error == "budget" else failed,
            notes=("said from memory, cited by nothing",) if entities and self.kg else (),
            system=self.kind,
        )

    def _known(self, name: str) -> list[tuple[str, str]]:
        """Ids and names of what the graph calls so; the name as it was said where nothing is."""
        if self.kg is None:
            return [(name, name)]
        rows = self._rows.get(folded(name), ())
        return [(self.kg.entity_ids[row], self.kg.name(row)) for row in rows] or [(name, name)]

    @functools.cached_property
    def _rows(self) -> dict[str, list[int]]:
        assert self.kg is not None
        rows: dict[str, list[int]] = {}
        for row in range(self.kg.num_entities):
            rows.setdefault(folded(self.kg.name(row)), []).append(row)
        for name, row in zip(self.kg.aliases.names, self.kg.aliases.owners):
            rows.setdefault(folded(name), []).append(int(row))
        return rows


@dataclasses.dataclass(frozen=True, eq=False)
class DenseTriples(QuestionAnswering):
    """The triples most like the question, each a path of one edge; a model judges them.

    They are cited, and need not begin at a topic.

    Attributes:
        kg, tensors, linker: the graph.
        encoder: of questions and triples.
        count: edges; a triple has two, one each way.
    """

    kg: KnowledgeGraph
    tensors: TensorGraph
    linker: Linker
    encoder: TextEncoder
    count: int = 20

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """No call; `AdjudicatedQA` around it makes one a question."""
        edges, vectors = self._edges
        near = np.asarray(self.encoder([question.text for question in questions])) @ vectors.T
        out = []
        topics = find_topics(self.linker, questions, use_given=use_given)
        for question, some, row in zip(questions, topics, near):
            best = np.argsort(-row, kind="stable")[: self.count]
            walks = edges[best].astype(np.int32)[:, None]
            paths = cite_walks(self.kg, self.tensors, walks, np.zeros(len(best), int), row[best])
            ends = self.tensors.tail[walks[:, 0]].tolist()
            out.append(
                cited_answer(
                    question,
                    some,
                    by_mass(self.kg, ends, paths, named=True),
                    paths,
                    system="triples",
                    why_not="no triple is like the question",
                    complete=True,
                )
            )
        return out

    @functools.cached_property
    def _edges(self) -> tuple[np.ndarray, np.ndarray]:
        """[E] edges, both ways of each triple, and [E, D] vectors of their words."""
        kg, tensors = self.kg, self.tensors
        edges = np.flatnonzero(tensors.tail >= 0)
        rows = tensors.triple_of_edge[edges]
        told = [
            f"{kg.name(h)} {kg.relation_labels[r]} {kg.name(t)}"
            for h, r, t in np.asarray(kg.triples).tolist()
        ]
        return edges, np.asarray(self.encoder(told))[rows]


def _recall(kind: Literal["alone", "cot", "sc", "passages"], parts: Parts) -> Built:
    assert parts.backend is not None
    encoder = parts.encoder if kind == "passages" else None
    settings = parts.settings(RecallSettings, *(["encoder"] if encoder else []))
    kg = None if parts.passages else parts.kg
    built = Recall(kg, parts.backend, kind, settings, encoder, parts.repair)
    return Built(built, parts.marks(settings))


alone, cot, sc, passages = (
    functools.partial(_recall, kind) for kind in ("alone", "cot", "sc", "passages")
)


def triples(parts: Parts) -> Built:
    """Dense retrieval as the command builds it."""
    encoder = parts.encoder
    settings = parts.settings(RecallSettings, "encoder", count=20)
    built = DenseTriples(parts.kg, parts.tensors, parts.linker, encoder, settings.count)
    return Built(built, parts.marks(settings))


@dataclasses.dataclass(frozen=True)
class AgentSettings:
    """The relation agent has none."""


def agent(parts: Parts) -> Built:
    """The relation agent as the command builds it."""
    assert parts.backend is not None
    settings = parts.settings(AgentSettings)
    built = RelationAgent(parts.kg, parts.tensors, parts.linker, parts.backend)
    return Built(built, parts.marks(settings))
