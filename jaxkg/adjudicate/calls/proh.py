"""PRoH's requests and the schemas of their replies; every text enters as delimited data.

Who asks says which question pays for a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import AliasChoices, BaseModel, Field

from jaxkg.adjudicate.ask import Prompted
from jaxkg.adjudicate.calls import prompts_proh as words
from jaxkg.adjudicate.prompts import block, cut, document, numbered
from jaxkg.adjudicate.reading.dag import MOST_SUBQUESTIONS, ReasoningDag, SubQuestion
from jaxkg.adjudicate.requests import Message

T = TypeVar("T", bound=BaseModel)

PLAN_TOKENS = 320
_PLAN_SIZE = {"steps": MOST_SUBQUESTIONS, "steps.needs": 4}
_LONGEST_PASSAGE = 4000
"""Characters of a passage in a prompt; what is cut off is marked."""


class Keywords(BaseModel):
    """What a question is about."""

    keywords: list[str] = Field(
        validation_alias=AliasChoices("keywords", "topics", "entities"),
        description="the things the question mentions, as it writes them",
    )


class Step(BaseModel):
    """A sub-question as drafted."""

    id: str = Field(
        validation_alias=AliasChoices("id", "number", "step"), description="short and unique"
    )
    question: str = Field(
        validation_alias=AliasChoices("question", "subquestion", "sub_question", "text"),
        description="the sub-question",
    )
    needs: list[str] = Field(
        default_factory=list,
        validation_alias=AliasChoices("needs", "depends_on", "dependencies"),
        description="ids of the sub-questions to be answered before",
    )


class Plan(BaseModel):
    """A plan as drafted."""

    steps: list[Step] = Field(
        validation_alias=AliasChoices("steps", "subquestions", "sub_questions", "plan"),
        description="the sub-questions",
    )


class EntityWeight(BaseModel):
    """The weight of one numbered thing."""

    number: int = Field(validation_alias=AliasChoices("number", "id", "entity"))
    weight: float = Field(validation_alias=AliasChoices("weight", "score", "relevance"))


class EntityWeights(BaseModel):
    """Weights of numbered things."""

    weights: list[EntityWeight] = Field(validation_alias=AliasChoices("weights", "scores"))


class Choice(BaseModel):
    """Numbers of the lines chosen."""

    chosen: list[int] = Field(
        validation_alias=AliasChoices("chosen", "numbers", "paths", "selected", "choice"),
        description="numbers, best first; empty for none",
    )


class StepAnswer(BaseModel):
    """The answer of a sub-question."""

    answer: str = Field(
        validation_alias=AliasChoices("answer", "step_answer", "result"),
        description="a few words; empty where the facts do not answer it",
    )


class FinalAnswer(BaseModel):
    """The answer of a completed plan."""

    answers: list[str] = Field(
        validation_alias=AliasChoices("answers", "answer", "final_answer"),
        description="usually one; empty where nothing answers the question",
    )
    reason: str = Field(
        default="",
        validation_alias=AliasChoices("reason", "rationale", "reasoning"),
        description="one or two sentences",
    )


class Verdict(BaseModel):
    """The judge's choice."""

    best: int = Field(
        validation_alias=AliasChoices("best", "chosen", "candidate", "number"),
        description="number of the best candidate",
    )


class SynonymGroups(BaseModel):
    """Names that mean the same."""

    groups: list[list[int]] = Field(
        validation_alias=AliasChoices("groups", "synonyms"),
        description="numbers of names that mean the same, two or more a group",
    )


def keywords(question: str) -> Prompted[Keywords]:
    """Ask what a question is about."""
    texts = words.KEYWORDS_SYSTEM, words.KEYWORDS_USER
    return _prompted(texts, question, {}, Keywords, "anchor", tokens=96, most={"keywords": 8})


def plan(
    question: str, topics: Sequence[str], context: Sequence[str], *, draft: int
) -> Prompted[Plan]:
    """Ask for a plan; `draft` tells several drafts of one question apart.

    The first draft is asked for at temperature 0, further ones at 0.7.
    """
    return _prompted(
        (words.PLAN_SYSTEM, words.PLAN_USER),
        question,
        {"topics": block(topics), "context": block(context)},
        Plan,
        "plan",
        tokens=PLAN_TOKENS,
        most=_PLAN_SIZE,
        temperature=0.7 if draft else 0.0,
        seed=draft or None,
    )


def entity_weights(question: str, entities: Sequence[str]) -> Prompted[EntityWeights]:
    """Ask how much each entity can help."""
    return _prompted(
        (words.ENTITY_SYSTEM, words.ENTITY_USER),
        question,
        {"entities": numbered(entities)},
        EntityWeights,
        "retrieve",
        tokens=32 + 16 * len(entities),
        offered={"weights.number": _numbers(entities)},
        most={"weights": len(entities)},
    )


def directions(question: str, chains: Sequence[str], *, keep: int) -> Prompted[Choice]:
    """Ask which partial paths to follow."""
    texts = words.DIRECTIONS_SYSTEM.format(keep=keep), words.DIRECTIONS_USER
    return _chosen(texts, question, chains, keep)


def sufficient_paths(question: str, chains: Sequence[str]) -> Prompted[Choice]:
    """Ask which paths contain the answer."""
    return _chosen((words.PATHS_SYSTEM, words.PATHS_USER), question, chains, len(chains))


def step_answer(
    question: str,
    facts: Sequence[str],
    *,
    entities: Sequence[str] = (),
    passages: Sequence[str] = (),
) -> Prompted[StepAnswer]:
    """Ask a sub-question, given a path, its entities' descriptions and its chunks."""
    described = f"\n\nThings in them:\n{block(entities)}" if entities else ""
    shown = (document(cut(text, _LONGEST_PASSAGE)) for text in passages)
    read = "".join(f"\n\nPassage:\n{text}" for text in shown)
    data = {"facts": block(facts), "entities": described, "passages": read}
    texts = words.STEP_SYSTEM, words.STEP_USER
    return _prompted(texts, question, data, StepAnswer, "retrieve", tokens=64)


def refinement(question: str, dag: ReasoningDag, answers: Mapping[str, str]) -> Prompted[Plan]:
    """Ask for the plan that the answers leave."""
    known = block(f"{id}: {answer}" for id, answer in answers.items())
    data = {"plan": block(plan_lines(dag)), "answers": known}
    texts = words.REFINE_SYSTEM, words.REFINE_USER
    return _prompted(texts, question, data, Plan, "states", tokens=PLAN_TOKENS, most=_PLAN_SIZE)


def final_answer(
    question: str, steps: Sequence[str], facts: Sequence[str]
) -> Prompted[FinalAnswer]:
    """Ask for the answer of a completed plan."""
    return _prompted(
        (words.FINAL_SYSTEM, words.FINAL_USER),
        question,
        {"steps": block(steps), "facts": block(facts)},
        FinalAnswer,
        "answer",
        tokens=160,
        most={"answers": 12},
        reason="reason",
    )


def verdict(question: str, candidates: Sequence[str]) -> Prompted[Verdict]:
    """Ask the judge."""
    return _prompted(
        (words.JUDGE_SYSTEM, words.JUDGE_USER),
        question,
        {"candidates": numbered(candidates)},
        Verdict,
        "answer",
        tokens=16,
        offered={"best": _numbers(candidates)},
    )


def drafted(plan: Plan) -> list[SubQuestion]:
    """A plan as drafted, unchecked."""
    return [SubQuestion(step.id, step.question, tuple(step.needs)) for step in plan.steps]


def plan_lines(dag: ReasoningDag) -> list[str]:
    """A plan, one sub-question a line."""
    return [
        f"{step.id}: {step.text}" + (f" (needs {', '.join(step.needs)})" if step.needs else "")
        for step in dag.steps
    ]


def chosen_places(choice: Choice, count: int) -> list[int]:
    """Places from 0 of the lines chosen; numbers that were never offered count for nothing."""
    return [number - 1 for number in dict.fromkeys(choice.chosen) if 1 <= number <= count]


def _numbers(items: Sequence[str]) -> range:
    return range(1, len(items) + 1)


def _chosen(
    texts: tuple[str, str], question: str, chains: Sequence[str], most: int
) -> Prompted[Choice]:
    return _prompted(
        texts,
        question,
        {"paths": numbered(chains)},
        Choice,
        "retrieve",
        tokens=24 + 5 * most,
        offered={"chosen": _numbers(chains)},
        most={"chosen": most},
    )


def _prompted(
    texts: tuple[str, str],
    question: str,
    data: Mapping[str, str],
    schema: type[T],
    stage: str,
    *,
    tokens: int,
    **more: Any,
) -> Prompted[T]:
    """A prompt of its texts, system's and user's, with a question and other data in the latter."""
    system, user = texts[0], texts[1].format(question=block([question], "question"), **data)
    return Prompted(
        messages=(Message("system", system), Message("user", user)),
        schema=schema,
        stage=stage,
        max_tokens=tokens,
        **more,
    )
