"""What ReKnoS asks of a language model: scores of super-relations, and whether to go on.

Wang et al., "Reasoning of large language models over knowledge graphs with super-relations",
Sections 4.2 and 4.3. One call each; the model scores what it is offered and adds nothing. The paper
prints the scoring prompt and the scoring criteria; the rest it describes. Wording and examples are
our own.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, Field, field_validator

from jaxkg.adjudicate.ask import Outcome, Prompted, ask
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.prompts import DATA_RULE, block, line, numbered
from jaxkg.adjudicate.reading.match import Candidates
from jaxkg.adjudicate.requests import Message

SCORE_STAGE, SUFFICIENT_STAGE = "score", "sufficient"
SCORE_TOKENS, SUFFICIENT_TOKENS = 128, 16


class ScoredRelation(BaseModel):
    """One candidate's score."""

    relation: str = Field(
        validation_alias=AliasChoices("n", "relation", "number", "candidate", "name"),
        description="number of the candidate",
    )
    score: float = Field(description="from 0, useless, to 1, surely needed")


class RelationScores(BaseModel):
    """The reply to the scoring prompt."""

    scores: list[ScoredRelation] = Field(
        validation_alias=AliasChoices("scores", "relations", "candidates"),
        description="the candidates that could help, each with its score",
    )


class SelectedRelations(BaseModel):
    """The reply to the selecting prompt."""

    relations: list[str] = Field(
        validation_alias=AliasChoices("relations", "selected", "candidates", "scores"),
        description="numbers of the candidates selected, the most helpful first",
    )

    @field_validator("relations", mode="before")
    @classmethod
    def _texts(cls, value: Any) -> Any:
        return list(map(str, value)) if isinstance(value, list) else value

    @property
    def scores(self) -> list[ScoredRelation]:
        """All alike."""
        return [ScoredRelation.model_validate({"n": name, "score": 1}) for name in self.relations]


class Sufficiency(BaseModel):
    """The reply to the sufficiency prompt."""

    sufficient: bool = Field(
        validation_alias=AliasChoices("sufficient", "answerable", "enough"),
        description="true if the answer is among the entities",
    )


@dataclasses.dataclass(frozen=True)
class Choice:
    """A question at the point where a step is to be chosen.

    Attributes:
        question, question_id: of the question.
        topics: names of the topic entities.
        followed: names of the super-relations kept so far, step by step.
        candidates: names of the candidates.
    """

    question: str
    question_id: str
    topics: tuple[str, ...]
    followed: tuple[tuple[str, ...], ...]
    candidates: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Scored:
    """Scores of a choice.

    Attributes:
        scores: one for each candidate, in [0, 1]; None where the call failed.
        dropped: what the reply scored that was not offered.
        outcome: of the call.
    """

    scores: tuple[float, ...] | None
    dropped: tuple[str, ...]
    outcome: Outcome[RelationScores]


def score_candidates(
    backend: Backend,
    choices: Sequence[Choice],
    *,
    keep: int,
    criteria: bool = False,
    repair: bool = False,
    form: Literal["scores", "select"] = "scores",
) -> list[Scored]:
    """Let a language model score all candidates of each choice, one call a choice.

    Args:
        backend: who answers.
        choices: with at least one candidate each.
        keep: N, told to the model.
        criteria: give explicit scoring criteria (Appendix D.8) instead of three examples.
        repair: allow one more call for a reply that cannot be read.
        form: ask for "scores", or to "select" N by the prompt as it is printed; selected ones
            score 1.

    Returns:
        Scores in order; a candidate that a reply leaves out scores 0.

    Reference: ReKnoS, Eq. 2.
    """
    offered = [
        Candidates((str(n), name) for n, name in enumerate(each.candidates, start=1))
        for each in choices
    ]
    selects = form == "select"
    most = keep if selects else most_scores(keep)
    prompted = [
        Prompted(
            messages=select_prompt(each, keep=keep)
            if selects
            else score_prompt(each, keep=keep, criteria=criteria),
            schema=SelectedRelations if selects else RelationScores,
            form=SELECT_FORM if selects else SCORE_FORM,
            check=lambda reply, known=known: _names_some(reply, known),
            question=each.question_id or each.question,
            stage=SCORE_STAGE,
            max_tokens=max(SCORE_TOKENS, 16 * most),
            offered={
                "relations" if selects else "scores.n": _numbers(len(each.candidates), selects)
            },
            most={"relations" if selects else "scores": most},
        )
        for each, known in zip(choices, offered)
    ]
    outcomes = ask(backend, prompted, repair=repair)
    return [
        _scored(len(each.candidates), known, outcome)
        for each, known, outcome in zip(choices, offered, outcomes)
    ]


def _numbers(count: int, as_text: bool) -> Sequence[int | str]:
    numbers = range(1, count + 1)
    return [*map(str, numbers)] if as_text else numbers


def select_prompt(choice: Choice, *, keep: int) -> tuple[Message, Message]:
    """The selecting prompt as it is printed, after one example; what was followed is not told."""
    user = SELECT_USER.format(
        keep=keep,
        question=block([choice.question], "question"),
        topics=block(choice.topics),
        candidates=numbered(choice.candidates),
    )
    return Message("system", SELECT_SYSTEM), Message("user", user)


def score_prompt(choice: Choice, *, keep: int, criteria: bool) -> tuple[Message, Message]:
    """The two turns of the scoring prompt; everything from the graph enters as delimited data."""
    steps = [f"step {n}: {'; '.join(map(line, kept))}" for n, kept in enumerate(choice.followed, 1)]
    user = SCORE_USER.format(
        guide=SCORE_CRITERIA if criteria else SCORE_EXAMPLES,
        question=block([choice.question], "question"),
        topics=block(choice.topics),
        followed=block(steps) if steps else "nothing yet",
        candidates=numbered(choice.candidates),
    )
    system = SCORE_SYSTEM.format(keep=keep, most=most_scores(keep))
    return Message("system", system), Message("user", user)


def most_scores(keep: int) -> int:
    """Candidates that a reply scores at most, of which so many are kept."""
    return max(8, 2 * keep)


@dataclasses.dataclass(frozen=True)
class Evidence:
    """What a search path has found so far.

    Attributes:
        question, question_id: of the question.
        topics: names of the topic entities.
        paths: super-relation paths, each with the names of some of the entities it extracts and
            the number of all of them.
    """

    question: str
    question_id: str
    topics: tuple[str, ...]
    paths: tuple[tuple[tuple[str, ...], tuple[str, ...], int], ...]


def check_sufficiency(
    backend: Backend, evidence: Sequence[Evidence], *, repair: bool = False
) -> list[Outcome[Sufficiency]]:
    """Ask whether the entities found answer each question, one call a question.

    Reference: ReKnoS, Section 4.3.
    """
    prompted = [
        Prompted(
            messages=sufficiency_prompt(each),
            schema=Sufficiency,
            form=SUFFICIENT_FORM,
            question=each.question_id or each.question,
            stage=SUFFICIENT_STAGE,
            max_tokens=SUFFICIENT_TOKENS,
        )
        for each in evidence
    ]
    return ask(backend, prompted, repair=repair)


def sufficiency_prompt(evidence: Evidence) -> tuple[Message, Message]:
    """The two turns of the sufficiency prompt; everything from the graph enters as data."""
    lines = []
    for relations, entities, count in evidence.paths:
        more = f"; and {count - len(entities)} more" if count > len(entities) else ""
        path = " → ".join(map(line, relations))
        lines.append(f"{path}: {'; '.join(map(line, entities))}{more}")
    user = SUFFICIENT_USER.format(
        question=block([evidence.question], "question"),
        topics=block(evidence.topics),
        paths=block(lines),
    )
    return Message("system", SUFFICIENT_SYSTEM), Message("user", user)


def _names_some(reply: RelationScores | SelectedRelations, known: Candidates) -> str | None:
    if not reply.scores or any(known.find(each.relation) for each in reply.scores):
        return None
    return "none of the relations it scores is among the candidates; use their numbers"


def _scored(count: int, known: Candidates, outcome: Outcome[Any]) -> Scored:
    if outcome.value is None:
        return Scored(None, (), outcome)
    scores, dropped = [0.0] * count, []
    for each in outcome.value.scores:
        numbers = known.find(each.relation)
        if not numbers:
            dropped.append(each.relation)
        told = each.score if math.isfinite(each.score) else 0.0
        for number in numbers:
            scores[int(number) - 1] = max(scores[int(number) - 1], min(max(told, 0.0), 1.0))
    return Scored(tuple(scores), tuple(dropped), outcome)


SCORE_SYSTEM = (
    "You choose how a search in a knowledge graph goes on. You are given a question, the topic "
    "entities the search started from, the relations it has followed so far and numbered "
    "candidates for the next relation. Give the candidates that could help to answer the "
    "question, {most} at most, a score from 0 to 1, higher for more helpful; candidates you leave "
    "out score 0. The {keep} best will be followed. A candidate that begins with ^ is followed "
    "from its object to its subject. Score candidates by their numbers, and nothing "
    "that is not among them.\n" + DATA_RULE
)
"""ReKnoS, Section 4.2, the scoring prompt."""

SCORE_EXAMPLES = (
    "Three examples.\n\n"
    "Question: which country is the river that runs through Basel in?\n"
    "Topic: Basel\n"
    "Candidates: 1. location.location 2. geography.river 3. sports.sports_team_location "
    "4. people.place_lived\n"
    'Reply: {"scores": [{"n": 1, "score": 0.5}, {"n": 2, "score": 0.9}]}\n\n'
    "Question: who wrote the films that share an actor with Brick Lane?\n"
    "Topic: Brick Lane\n"
    "Candidates: 1. written_by 2. starred_actors 3. release_year 4. has_tags\n"
    'Reply: {"scores": [{"n": 1, "score": 0.2}, {"n": 2, "score": 0.9}]}\n\n'
    "Question: what does the sister of the painter of The Oath do for a living?\n"
    "Topic: The Oath\n"
    "Followed so far: visual_art.artwork\n"
    "Candidates: 1. people.person 2. people.sibling_relationship 3. visual_art.visual_artist\n"
    'Reply: {"scores": [{"n": 1, "score": 0.8}, {"n": 2, "score": 0.9}, '
    '{"n": 3, "score": 0.1}]}\n\n'
)
"""ReKnoS, Appendix C: three in-context examples of scoring."""

SCORE_CRITERIA = (
    "Scoring criteria:\n"
    "- 0.8 to 1.0, highly relevant: a strong logical connection between relation and question.\n"
    "- 0.6 to 0.8, strongly related: substantial relevant information, perhaps less precise.\n"
    "- 0.4 to 0.6, moderately related: partly relevant; background or indirect support.\n"
    "- 0.2 to 0.4, weakly related: a tenuous connection, limited or peripheral information.\n"
    "- 0.0 to 0.2, irrelevant: unrelated, or related by a side issue alone.\n\n"
)
"""ReKnoS, Appendix D.8: explicit criteria in the place of the examples."""

SCORE_USER = (
    "{guide}Question:\n{question}\n\nTopic entities:\n{topics}\n\nFollowed so far:\n{followed}\n\n"
    "Candidates:\n{candidates}"
)
"""ReKnoS, Section 4.2, the scoring prompt."""

SCORE_FORM = 'Required form:\n{"scores": [{"n": <number of a candidate>, "score": <0 to 1>}, ...]}'
"""ReKnoS, Section 4.2: the reply of the scoring prompt."""

SELECT_SYSTEM = (
    "Example. Question: which country is the river that runs through Basel in?\n"
    "Topic Entity: Basel\n"
    "Candidate Relations: 1. location.location 2. geography.river 3. sports.sports_team_location "
    "4. people.place_lived\n"
    'Reply, of two: {"relations": ["2", "1"]}\n' + DATA_RULE
)
"""ReKnoS, Section 4.2: one human-crafted example, as in Think-on-Graph."""

SELECT_USER = (
    "You need to select {keep} relations from the following candidate relations, which are the "
    "most helpful for answering the question.\n"
    "Question:\n{question}\nTopic Entity:\n{topics}\nCandidate Relations:\n{candidates}\n"
    "Reply with the relations you selected from these candidate relations:"
)
"""ReKnoS, Section 4.2, the prompt as it is printed."""

SELECT_FORM = 'Required form:\n{"relations": ["<number of a candidate>", ...]}'
"""ReKnoS, Section 4.2: the reply of that prompt."""

SUFFICIENT_SYSTEM = (
    "You decide whether a search in a knowledge graph has found what answers a question. You are "
    "given the relation paths it followed from the topic entities and the entities that each ends "
    "in. Say that the evidence is sufficient only if the answer is among these entities and the "
    "path to it says what the question asks; otherwise the search goes on a step further.\n"
    + DATA_RULE
)
"""ReKnoS, Section 4.3: whether the entities at the end of the search path suffice."""

SUFFICIENT_USER = (
    "Question:\n{question}\n\nTopic entities:\n{topics}\n\n"
    "Relation paths and their entities:\n{paths}"
)
"""ReKnoS, Section 4.3."""

SUFFICIENT_FORM = "Required form, one line:\nSufficient: <yes or no>"
"""ReKnoS, Section 4.3."""
