"""Answers graded by a language model: G-E, the third metric of PRoH's Table 1.

The model sees question, gold answers and the answer with what it cites, and gives seven scores;
their mean is the question's G-E. Scores of different judges are not comparable.

Published scripts differ: HyperGraphRAG's asks seven times, takes 5 for a reply that it cannot read
and averages every score with the F1 of the answer. Here one call gives all seven, what cannot be
read is left out and told, and no F1 is in it: the mean of `generation` and `mrqa_f1` is nearest to
what is published.

Reference: "PRoH: Dynamic Planning and Reasoning over Knowledge Hypergraphs for Retrieval-Augmented
Generation", Section 5 and Table 1, after HyperGraphRAG. The wording of the prompt is ours.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import AliasChoices, BaseModel, Field

from jaxkg.adjudicate.ask import Prompted, ask
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.calls import prompts_proh as words
from jaxkg.adjudicate.endpoint.completion import estimated_tokens
from jaxkg.adjudicate.prompts import block, cut
from jaxkg.adjudicate.requests import Message

STAGE = "judge"
REPLY_TOKENS = 160
BEST = 10.0
"""The highest score of a dimension; the lowest is 0."""
MOST_TOKENS = 2000
"""Tokens, as estimated, of gold answers, of answers and of facts, each."""
_LONGEST = 2000
"""Characters of one item; what is cut off is marked."""


class Judgement(BaseModel):
    """Seven scores of one answer, each from 0 to 10; also the reply's schema."""

    comprehensiveness: float
    knowledgeability: float
    correctness: float
    relevance: float
    diversity: float
    logical_coherence: float = Field(
        validation_alias=AliasChoices("logical_coherence", "coherence", "logic")
    )
    factuality: float

    @property
    def score(self) -> float:
        """G-E: the mean of the seven as a share of the best, in [0, 1]."""
        scores = self.model_dump().values()
        return sum(scores) / (BEST * len(scores))


class Answered(NamedTuple):
    """A question and what was answered, all in words.

    `answers` is empty where there is no answer; `more` counts cited paths beyond `cited`.
    """

    question_id: str
    question: str
    gold: tuple[str, ...]
    answers: tuple[str, ...]
    cited: tuple[str, ...] = ()
    more: int = 0
    rationale: str = ""


@dataclasses.dataclass(frozen=True)
class Judged:
    """What became of questions, by id.

    Attributes:
        judgements: of answers that were judged.
        unanswered: without an answer; G-E is 0.
        unjudged: why there is no judgement, "kind: detail"; G-E is unknown.
        notes: what of which prompt was cut, by question.
    """

    judgements: Mapping[str, Judgement]
    unanswered: frozenset[str] = frozenset()
    unjudged: Mapping[str, str] = dataclasses.field(default_factory=dict)
    notes: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def scores(self) -> dict[str, float]:
        """G-E of each question, in [0, 1]; NaN where it was not judged."""
        given = {id: judgement.score for id, judgement in self.judgements.items()}
        return given | dict.fromkeys(self.unanswered, 0.0) | dict.fromkeys(self.unjudged, math.nan)

    def __or__(self, other: Judged) -> Judged:
        """Both, of different questions."""
        return Judged(
            {**self.judgements, **other.judgements},
            self.unanswered | other.unanswered,
            {**self.unjudged, **other.unjudged},
            {**self.notes, **other.notes},
        )


def judge_answers(backend: Backend, asked: Sequence[Answered], *, repair: bool = False) -> Judged:
    """Let a language model judge answers, one call for each; a question without one costs none.

    A call that fails or is held back, a reply that cannot be read, lacks a dimension or leaves
    0 to 10 is no judgement: the question is in `unjudged` with the reason. The questions have
    different ids.

    Raises:
        JaxkgError: what the backend raises; never for a failed call.
    """
    answered = [each for each in asked if each.answers]
    outcomes = ask(backend, [_prompted(each) for each in answered], repair=repair)
    judgements: dict[str, Judgement] = {}
    unjudged: dict[str, str] = {}
    for each, outcome in zip(answered, outcomes):
        if outcome.value is None:
            unjudged[each.question_id] = f"{outcome.error}: {outcome.detail}"
        else:
            judgements[each.question_id] = outcome.value
    unanswered = frozenset(each.question_id for each in asked if not each.answers)
    notes = {
        each.question_id: outcome.note for each, outcome in zip(answered, outcomes) if outcome.note
    }
    return Judged(judgements, unanswered, unjudged, notes)


def _prompted(each: Answered) -> Prompted[Judgement]:
    facts = words.GENERATION_FACTS.format(facts=_shown(each.cited, each.more))
    reason = words.GENERATION_REASON.format(reason=_shown([each.rationale]))
    user = words.GENERATION_USER.format(
        question=block([each.question], "question"),
        gold=_shown(each.gold),
        answers=_shown(each.answers),
        facts=facts if each.cited else "",
        reason=reason if each.rationale else "",
    )
    return Prompted(
        messages=(Message("system", words.GENERATION_SYSTEM), Message("user", user)),
        schema=Judgement,
        check=_beyond,
        question=each.question_id,
        stage=STAGE,
        max_tokens=REPLY_TOKENS,
    )


def _shown(items: Sequence[str], more: int = 0) -> str:
    """Items as data, the first ones where all would be too long; says how many are left out."""
    lines: list[str] = []
    tokens = 0
    for item in (cut(each, _LONGEST) for each in items):
        tokens += estimated_tokens(len(item) + 1)
        if lines and tokens > MOST_TOKENS:
            break
        lines.append(item)
    if hidden := len(items) - len(lines) + more:
        lines.append(f"… and {hidden:,} more not shown")
    return block(lines)


def _beyond(judgement: Judgement) -> str | None:
    """Which scores are not from 0 to 10; NaN is none."""
    scores = judgement.model_dump().items()
    wrong = [f"{name} is {score:g}" for name, score in scores if not 0 <= score <= BEST]
    return f"{', '.join(wrong)}; a score is from 0 to 10" if wrong else None
