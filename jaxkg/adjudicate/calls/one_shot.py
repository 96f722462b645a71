"""One-shot adjudication: one call decides which retrieved paths answer the question.

PathHD, Section 2.4 and Appendix C, Table 8: the question and the numbered paths go in; answers,
the numbers of the supporting paths and a rationale of one or two sentences come out. Works on the
`Answer` of any system. The model chooses among what was retrieved; it adds nothing.
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from pydantic import AliasChoices, BaseModel, Field, model_validator

from jaxkg.adjudicate import prompts
from jaxkg.adjudicate.ask import Outcome, Prompted, ask
from jaxkg.adjudicate.backend import PROMPT_TOKENS, Backend
from jaxkg.adjudicate.endpoint.completion import estimated_tokens
from jaxkg.adjudicate.prompts import block, line
from jaxkg.adjudicate.reading.match import Candidates, folded
from jaxkg.adjudicate.requests import Message
from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.records import WORKED_OUT, RankedEntity, SupportingPath
from jaxkg.words import is_name

STAGE = "adjudicate"
MOST_ENDS = 50
"""Entities shown of a line."""
MOST_TOKENS = PROMPT_TOKENS
"""Tokens, as estimated, of all lines."""
MostTokens: TypeAlias = int | Literal["manner"] | None
REPLY_TOKENS = 160
_NAMED_TOKENS = 110
"""Of them, for the names of answers; more of them are meant by citing a path alone."""
FAILED = "adjudication failed"
"""Begins the note of an answer as it was retrieved, since the model gave none."""
NOT_SHOWN = re.compile(r"… and [\d,]+ more not shown")
"""Stands in a line for the entities that are not."""

_WORKED_OUT = "the model was not asked: this is worked out from what is cited, not chosen"
_ALL = "all"
_NO_ANSWER = frozenset(
    {"", "none", "n a", "unknown", "no answer", "not answerable", "unanswerable", "cannot answer"}
)


class Adjudication(BaseModel):
    """The reply's schema."""

    supporting_paths: list[int] = Field(
        validation_alias=AliasChoices("paths", "supporting_paths", "path_numbers"),
        description="numbers of the paths that support the answers; empty for no answer",
    )
    answers: list[str] = Field(
        validation_alias=AliasChoices("answers", "final_answer", "result", "entities"),
        description="names of the answers, exactly as the cited paths end; empty for all of them",
    )
    rationale: str = Field(
        default="",
        validation_alias=AliasChoices("rationale", "reason", "reasoning", "explanation"),
        description="one or two sentences: why those paths imply the answers",
    )

    @model_validator(mode="before")
    @classmethod
    def _cited_alone(cls, fields: Any) -> Any:
        """A reply that only cites paths chooses what they end in."""
        if isinstance(fields, dict) and fields.get("supporting_paths"):
            return {"answers": [], **fields}
        return fields


@dataclasses.dataclass(frozen=True)
class Offered:
    """One numbered line of the prompt: paths that differ in their last entity alone.

    Attributes:
        number: from 1.
        sentence: the best of the paths, told in words.
        ends: entity id to the ids of the paths that end in it, in order of score.
        names: entity id to name.
        shown: entities that the prompt names of `ends`, the first ones.
        score: of the path, where lines are single paths.
        behind: further lines that were left out behind this one, the last.
    """

    number: int
    sentence: str
    ends: dict[str, tuple[str, ...]]
    names: dict[str, str]
    shown: int
    score: float | None = None
    behind: int = 0

    @property
    def tokens(self) -> int:
        """Of the line in the prompt, as estimated."""
        named = sum(len(self.names[end]) + 2 for end in list(self.ends)[: self.shown])
        return estimated_tokens(len(self.sentence) + named + 16)


def adjudicate(
    backend: Backend,
    answers: Sequence[Answer],
    *,
    top_k: int | None = None,
    single: bool = False,
    most_ends: int | None = MOST_ENDS,
    most_tokens: MostTokens = "manner",
    repair: bool = False,
    keep_on_failure: bool = False,
    prompt: Literal["ours", "a", "b"] = "ours",
) -> list[Answer]:
    """Let a language model choose among the paths of each answer, one call per question.

    Only end entities of offered paths can be answers, and each must be the end of a path the reply
    cites. What the reply names beyond the offered is in `dropped`, what it names without citing a
    path that ends there is in `refused`; where nothing is left the answer abstains. Entities are
    ranked in the reply's order, with the score 1/rank; paths keep their scores. Of an answer with a
    query graph the model chooses among what that found, and each keeps all the paths behind it.

    A question without paths costs no call: its answer comes back as an abstention. Nor does a
    count, yes or no, which no path ends in: it comes back as it is, with a note. A question that a
    budget holds back keeps the answer it came with, marked in `notes` as partial.

    Args:
        backend: who answers.
        answers: what retrieval found, one per question.
        top_k: numbered lines offered at most, best first (PathHD: 3); None offers all.
        single: every line is a relation path with the score of its best path, as published; False
            puts paths that differ in their last entity alone into one line, without a score.
        most_ends: entities shown of a line at most; a reply that cites the line and names nobody
            chooses those not shown too. None shows all.
        most_tokens: tokens of all lines at most, as estimated; None is no limit, "manner" takes
            the `prompt_tokens` of the backend's manner. What is left out is told in the prompt and
            in the answer's `notes`.
        repair: allow one more call for a reply that cannot be read.
        keep_on_failure: where the call failed, keep the answer as it came, marked in `notes`;
            otherwise it abstains. `error` says what failed either way.
        prompt: "ours", or PathHD's as printed: "a" is Table 8's, "b" the rewording of Table 15;
            both ask for a rationale.

    Returns:
        New answers, in order.

    Raises:
        JaxkgError: a path has no triples, or a number is below 1.
    """
    if most_tokens == "manner":
        most_tokens = backend.manner.prompt_tokens
    offers = [
        []
        if worked_out(answer)
        else offered(
            answer.paths,
            top_k=top_k,
            single=single,
            most_ends=most_ends,
            most_tokens=most_tokens,
            stands_for=found_by_query(answer),
        )
        for answer in answers
    ]
    why = backend.manner.why or prompt != "ours"
    prompted = {
        place: _prompted(answer, offer, why, prompt)
        for place, (answer, offer) in enumerate(zip(answers, offers))
        if offer
    }
    outcomes = dict(zip(prompted, ask(backend, list(prompted.values()), repair=repair)))
    return [
        _concluded(_marked(answer, offer), offer, outcomes.get(place), keep_on_failure)
        for place, (answer, offer) in enumerate(zip(answers, offers))
    ]


def offered(
    paths: Sequence[SupportingPath],
    *,
    top_k: int | None = None,
    single: bool = False,
    most_ends: int | None = MOST_ENDS,
    most_tokens: int | None = MOST_TOKENS,
    stands_for: Mapping[str, Sequence[tuple[str, str]]] | None = None,
) -> list[Offered]:
    """The numbered lines: best path first, paths that differ in their last entity alone as one.

    With `single` a line is a relation path, whatever it leads through. Ends without a name, of
    which a graph knows but an opaque id, are not offered. `stands_for` has ids and names of
    entities by the ids of paths, and those alone are offered; without it a path stands for what it
    ends in.

    The first line is always there, however long it is.

    Raises:
        JaxkgError: a path has no triples, or a number is below 1.
    """
    if top_k is not None and top_k < 1:
        raise JaxkgError(f"top_k is the number of paths to offer, at least 1, not {top_k}")
    for name, most in (("most_ends", most_ends), ("most_tokens", most_tokens)):
        if most is not None and most < 1:
            raise JaxkgError(f"{name} is at least 1, or None for no limit, not {most}")
    groups: dict[tuple[object, ...], list[SupportingPath]] = defaultdict(list)
    for path in sorted(paths, key=lambda path: -path.score):
        if not path.citations:
            raise JaxkgError(f"path {path.id!r} has no triples, so there is nothing to offer")
        reached = [path.end] if stands_for is None else stands_for.get(path.id, ())
        if not any(is_name(name) for _, name in reached):
            continue  # an id without a name says nothing to a model, nor to who is answered
        starts = tuple(citation.start for citation in path.citations)
        groups[(path.relation_path,) if single else (starts, path.relation_path)].append(path)
    lines: list[Offered] = []
    chosen, tokens = list(groups.values())[:top_k], 0
    for number, group in enumerate(chosen, start=1):
        ends: dict[str, tuple[str, ...]] = {}
        names: dict[str, str] = {}
        for path in group:
            for entity, name in [path.end] if stands_for is None else stands_for[path.id]:
                if not is_name(name):
                    continue
                ends[entity] = (*ends.get(entity, ()), path.id)
                names[entity] = name
        shown = len(ends) if most_ends is None else min(len(ends), most_ends)
        score = group[0].score if single else None
        offer = Offered(number, group[0].sentence, ends, names, shown, score)
        tokens += offer.tokens
        if lines and most_tokens is not None and tokens > most_tokens:
            lines[-1] = dataclasses.replace(lines[-1], behind=len(chosen) - len(lines))
            break
        lines.append(offer)
    return lines


def found_by_query(answer: Answer) -> dict[str, list[tuple[str, str]]] | None:
    """Ids and names of the answers that each path is cited for; None without a query graph.

    What a query graph finds is not always what a walk ends in: a condition's ends in a value.
    """
    if answer.query is None:
        return None
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for entity in answer.entities:
        for path in entity.paths:
            found[path].append((entity.entity, entity.name))
    return found


def worked_out(answer: Answer) -> bool:
    """Whether the answer is a count, a total, a table, yes or no: no entity to choose."""
    return bool(answer.columns) or any(entity.kind in WORKED_OUT for entity in answer.entities)


def shown_ends(offers: Sequence[Offered]) -> list[list[str]]:
    """What each line is said to end in, as a reply may name it; homonyms are told apart by id."""
    everyone = {entity: name for offer in offers for entity, name in offer.names.items()}
    shared: dict[str, list[str]] = defaultdict(list)
    for entity, name in everyone.items():
        shared[folded(name)].append(entity)

    def shown(entity: str) -> str:
        name = line(everyone[entity])
        return f"{name} [{line(entity)}]" if len(shared[folded(name)]) > 1 else name

    return [[shown(end) for end in list(offer.ends)[: offer.shown]] for offer in offers]


def adjudication_prompt(
    question: str, offers: Sequence[Offered], *, why: bool = True, prompt: str = "ours"
) -> tuple[Message, Message]:
    """The two turns of PathHD's Table 8; question and paths enter as delimited data."""
    lines = []
    for offer, ends in zip(offers, shown_ends(offers)):
        if hidden := len(offer.ends) - offer.shown:
            ends.append(f"… and {hidden:,} more not shown")
        told = "" if offer.score is None else f" Score: {offer.score:.4f}."
        lines.append(f"{offer.number}. {line(offer.sentence)}{told} Ends in: {'; '.join(ends)}")
    system = prompts.ADJUDICATE_PRINTED.get(prompt) or (
        prompts.ADJUDICATE_SYSTEM + (prompts.ADJUDICATE_WHY if why else "")
    )
    if any(offer.shown < len(offer.ends) for offer in offers):
        system += prompts.ADJUDICATE_NOT_SHOWN
    if offers and offers[-1].behind:
        system += prompts.ADJUDICATE_BEHIND.format(count=offers[-1].behind)
    user = prompts.ADJUDICATE_USER.format(
        question=block([question], "question"), paths=block(lines)
    )
    return Message("system", system), Message("user", user)


def _marked(answer: Answer, offers: Sequence[Offered]) -> Answer:
    """The answer with a note of what is not shown."""
    notes = [_WORKED_OUT] if worked_out(answer) else []
    if cut := [each for each in offers if each.shown < len(each.ends)]:
        first = cut[0]
        notes.append(
            f"the model was shown {first.shown} of the {len(first.ends):,} entities that line "
            f"{first.number} of its paths ends in"
            + (f", and not all of {len(cut) - 1} further lines" if cut[1:] else "")
        )
    if offers and offers[-1].behind:
        notes.append(
            f"the model was shown {len(offers)} groups of paths; {offers[-1].behind} more, "
            "ranked lower, would have made the prompt too long"
        )
    return dataclasses.replace(answer, notes=(*answer.notes, *notes))


def _prompted(
    answer: Answer, offers: Sequence[Offered], why: bool, prompt: str
) -> Prompted[Adjudication]:
    return Prompted(
        messages=adjudication_prompt(answer.question, offers, why=why, prompt=prompt),
        schema=Adjudication,
        form=prompts.ADJUDICATE_FORM_WHY if why else prompts.ADJUDICATE_FORM,
        question=answer.question_id or answer.question,
        stage=STAGE,
        max_tokens=REPLY_TOKENS,
        **_allowed(offers),
    )


def _allowed(offers: Sequence[Offered]) -> dict[str, Any]:
    """What a reply may be made of: numbers of lines, and as many names as there is room for."""
    names = list(dict.fromkeys(name for ends in shown_ends(offers) for name in ends))
    size = sum(estimated_tokens(len(name)) + 4 for name in names) / len(names)
    return {
        "offered": {"paths": [offer.number for offer in offers], "answers": names},
        "most": {"answers": max(4, int(_NAMED_TOKENS / size))},
        "reason": "rationale",
    }


def _concluded(
    answer: Answer, offers: Sequence[Offered], outcome: Outcome[Adjudication] | None, keep: bool
) -> Answer:
    if outcome is None:
        if worked_out(answer):
            return answer
        reason = answer.abstained or "no path was retrieved"
        return dataclasses.replace(answer, entities=(), abstained=reason)
    notes = (*answer.notes, outcome.note) if outcome.note else answer.notes
    answer = dataclasses.replace(answer, usage=answer.usage + outcome.usage, notes=notes)
    if outcome.value is None:
        return _failed(answer, outcome, keep)
    return _decided(answer, offers, outcome.value)


def _failed(answer: Answer, outcome: Outcome[Adjudication], keep: bool) -> Answer:
    if outcome.error == "budget":
        note = f"partial: {outcome.detail}; ranked by retrieval alone"
        return dataclasses.replace(answer, notes=(*answer.notes, note))
    error = f"{outcome.error}: {outcome.detail}"
    if keep:
        note = f"{FAILED} ({error}); ranked by retrieval alone"
        return dataclasses.replace(answer, error=error, notes=(*answer.notes, note))
    return dataclasses.replace(answer, error=error, entities=(), abstained=f"{FAILED} ({error})")


def _decided(answer: Answer, offers: Sequence[Offered], reply: Adjudication) -> Answer:
    """The reply, held against what was offered."""
    by_number = {offer.number: offer for offer in offers}
    cited = [by_number[n] for n in dict.fromkeys(reply.supporting_paths) if n in by_number]
    dropped = [f"path {n}" for n in dict.fromkeys(reply.supporting_paths) if n not in by_number]
    support: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for offer in cited:
        for entity, paths in offer.ends.items():
            support[entity] += paths
    came = {} if answer.query is None else {each.entity: each for each in answer.entities}
    names = {entity: name for offer in offers for entity, name in offer.names.items()}
    candidates = Candidates(names.items())
    refused: dict[str, None] = {}
    every = all(folded(name) == _ALL and not candidates.find(name) for name in reply.answers)
    chosen = dict.fromkeys(support if every else ())
    said = () if every else reply.answers
    named = [name for name in said if folded(name) not in _NO_ANSWER or candidates.find(name)]
    for name in named:
        found, missing = candidates.find_all(name)
        dropped += missing
        # Of homonyms the cited ones are meant.
        supported = [entity for entity in found if entity in support]
        chosen.update(dict.fromkeys(supported))
        if not supported:
            refused.update(dict.fromkeys(names[entity] for entity in found))
    abstained = None
    if not chosen:
        abstained = (
            "refused: no cited path ends in what the reply names"
            if named
            else "the model finds no path that answers"
        )
    return dataclasses.replace(
        answer,
        entities=tuple(
            # What a query graph found follows from all its paths, not from any one of them.
            dataclasses.replace(came[entity], score=1.0 / rank)
            if entity in came
            else RankedEntity(entity, names[entity], 1.0 / rank, support[entity])
            for rank, entity in enumerate(chosen, start=1)
        ),
        abstained=abstained,
        rationale=reply.rationale.strip() or None,
        dropped=(*answer.dropped, *dropped),
        refused=(*answer.refused, *refused),
    )
