"""What the package's own prompts offer, read back for a model that runs in this process.

The wording of the prompts is turned into patterns here, so it is stated once. Names of graphs and
questions stand on single lines between tags (`jaxkg.adjudicate.prompts`) and cannot forge either.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence

from jaxkg.adjudicate import prompts
from jaxkg.adjudicate.calls import prompts_planning
from jaxkg.adjudicate.calls.one_shot import NOT_SHOWN
from jaxkg.adjudicate.calls.one_shot import STAGE as ADJUDICATE
from jaxkg.adjudicate.calls.planning import STAGE as PLAN
from jaxkg.adjudicate.calls.planning import relation_options
from jaxkg.adjudicate.requests import Message, Request
from jaxkg.words import mask_mentions

_ENDS = " Ends in: "
_FORM = {
    ADJUDICATE: "Write the answers alone, one a line, exactly as they stand there.",
    PLAN: "Write the relations of one plan alone, one a line, in the order of the hops.",
}


@dataclasses.dataclass(frozen=True)
class Offer:
    """A request whose reply is a list of given options.

    A model that follows instructions writes names: entities the paths end in, or relations. A
    compact model, taught on nothing else, writes numbers of lines in place of entities: to point
    at a path is far less to learn than to spell a name.

    Attributes:
        stage: "adjudicate" or "plan".
        question: its text.
        topics: what the question calls what a plan starts at; empty for adjudication.
        lines: numbered paths, or relations with their examples.
        ends: names of the entities that each path line ends in; empty for a plan.
        relations: names of the relations, either way; empty for adjudication.
        most: options a reply has at most; None allows all, once each.
    """

    stage: str
    question: str
    topics: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    ends: tuple[tuple[str, ...], ...] = ()
    relations: tuple[str, ...] = ()
    most: int | None = None

    def options(self, *, compact: bool) -> tuple[str, ...]:
        """What a reply may list, best first."""
        if self.stage == PLAN:
            return self.relations
        if compact:
            return tuple(str(number) for number in range(1, len(self.lines) + 1))
        return tuple(dict.fromkeys(name for names in self.ends for name in names))

    def turns(self, messages: Sequence[Message], *, compact: bool) -> list[tuple[str, str]]:
        """The chat as the model reads it."""
        if compact:
            # The relations of a plan are in the model's weights, and in the grammar.
            if self.stage == PLAN:
                return [("user", mask_topics(self.question, self.topics))]
            # The question comes first, so that every line is read in its light.
            return [("user", "\n".join([self.question, *self.lines]))]
        turns = [(message.role, message.content) for message in messages]
        role, last = turns[-1]
        return [*turns[:-1], (role, f"{last}\n\n{_FORM[self.stage]}")]

    def reply(self, chosen: Sequence[str], *, compact: bool) -> str:
        """The chosen options in the form the prompt asks for."""
        if self.stage == PLAN:
            hops = [[name] for name in chosen]
            return json.dumps({"reasoning": "", "hops": hops, "alternatives": []})
        if compact:
            numbers = [int(number) for number in chosen]
            names = list(dict.fromkeys(name for n in numbers for name in self.ends[n - 1]))
        else:
            names = list(chosen)
            numbers = [n for n, ends in enumerate(self.ends, start=1) if {*ends} & {*names}]
        reply = {"answers": names, "supporting_paths": numbers, "rationale": ""}
        return json.dumps(reply, ensure_ascii=False)


def mask_topics(question: str, topics: Sequence[str]) -> str:
    """A question with its topics' names masked, so that a planner learns wordings and not names.

    Letter case is looked at only where it finds the name; names that the question does not have
    follow it on lines of their own.

    >>> mask_topics("who wrote alien?", ["Alien", "Lem"]).encode()
    b'who wrote \\x02topic?\\nLem'
    """
    spans: list[tuple[int, int]] = []
    rest = []
    for name in topics:
        pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
        ways = (re.finditer(pattern, question, flags) for flags in (0, re.IGNORECASE))
        found = next((some for way in ways if (some := [match.span() for match in way])), [])
        spans += found
        rest += [] if found else [name]
    return "\n".join([mask_mentions(question, spans), *rest])


def read_offer(request: Request) -> Offer | None:
    """The options of a request; None where it is no first request of a stage read here."""
    if len(request.messages) != 2:
        return None
    system, user = (message.content for message in request.messages)
    if request.stage == ADJUDICATE:
        if (match := _matched(prompts.ADJUDICATE_USER, user)) is None:
            return None
        lines = _block(match["paths"])
        ends = tuple(tuple(_named(line.rpartition(_ENDS)[2].split("; "))) for line in lines)
        (question,) = _block(match["question"])
        return Offer(ADJUDICATE, question, lines=lines, ends=ends)
    if request.stage == PLAN:
        match = _matched(prompts_planning.PLAN_USER, user)
        limit = _matched(prompts_planning.PLAN_SYSTEM, system)
        if match is None or limit is None:
            return None
        lines = _block(match["relations"])
        (question,) = _block(match["question"])
        return Offer(
            PLAN,
            question,
            topics=(prompts_planning.TOPIC,),
            lines=lines,
            relations=relation_options(lines),
            most=int(limit["hops"]),
        )
    return None


def _named(ends: list[str]) -> list[str]:
    """Names of a line, without the word on those that are not shown."""
    return ends[:-1] if NOT_SHOWN.fullmatch(ends[-1]) else ends


def _matched(template: str, text: str) -> re.Match[str] | None:
    """What a text has in the places of a template."""
    parts = re.split(r"\{(\w+)\}", template)
    pattern = "".join(f"(?P<{p}>.*)" if i % 2 else re.escape(p) for i, p in enumerate(parts))
    return re.fullmatch(pattern, text, re.DOTALL)


def _block(text: str) -> tuple[str, ...]:
    """The lines between the tags, without the word on those that there was no room for."""
    lines = text.split("\n")[1:-1]
    return tuple(lines[:-1] if lines and NOT_SHOWN.fullmatch(lines[-1]) else lines)
