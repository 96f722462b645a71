"""A model with a dial: it knows the answers, and is right as often as it is told to be.

It plays every part that the methods have for a language model, over the OpenAI protocol on this
machine. At p = 1 it is an oracle, at p = 0 it decides by chance; a share of its replies can be
malformed, a share can name what was never offered. It measures what a method makes of a model of
some quality, not the quality of any model.
"""

from __future__ import annotations

import dataclasses
import json
import random
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jaxkg.adjudicate.calls.planning import way_line
from jaxkg.adjudicate.prompts import line as one_line
from jaxkg.cite.hyperpaths import says
from jaxkg.records import Question
from jaxkg.words import TOPIC_WORD, mask_mentions, mention_of

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "worlds"))
from loopback import Behaviour, LanguageServer

_NUMBERED = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
_QUESTION = re.compile(r"<question>\n(.*?)\n</question>", re.DOTALL)
_ENDS = re.compile(r" Ends in: (.*)$")
_FOLLOWED = re.compile(r"^step \d+: ", re.MULTILINE)
_TOPIC = re.compile(r" \(X is .*\)$")
_ID = re.compile(r" \[[^\]]*\]$")


@dataclasses.dataclass(frozen=True)
class Known:
    """What the model knows of a question.

    Attributes:
        question: its text.
        answers: names.
        topics: names, as the question writes them.
        path: relations in order, an inverse one written `^name`; empty where there is none.
        steps: sub-questions as a plan has them, `{1}` for the answer of the first.
        step_answers: answers of sub-questions, by their text with earlier answers filled in.
        between: names on the way from the topics to the answers.
    """

    question: str
    answers: tuple[str, ...]
    topics: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    step_answers: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    between: tuple[str, ...] = ()


def known_of_text(question: Question) -> Known:
    """What there is to know of a question over passages: its gold steps are its plan.

    >>> from jaxkg.records import Passages
    >>> steps = ("who made Alien?", "Scott"), ("where was {1} born?", "South Shields")
    >>> asked = Question("q", "where?", answers=("SS",), passages=Passages((), steps=steps))
    >>> list(known_of_text(asked).step_answers)
    ['who made Alien?', 'where was Scott born?']
    """
    steps = question.passages.steps if question.passages is not None else ()
    said, told = [answer for _, answer in steps], {}
    for text, answer in steps:
        told[re.sub(r"\{(\d+)\}", lambda found: said[int(found[1]) - 1], text)] = (answer,)
    final = (*(question.answers or ()), *question.aliases)
    return Known(question.text, final, steps=tuple(text for text, _ in steps), step_answers=told)


def _masked(known: Known) -> str:
    """The question as planning asks it: its topics are called X."""
    found = filter(None, (mention_of(known.question, name) for name in known.topics))
    return mask_mentions(known.question, found).replace(TOPIC_WORD, "X")


class Oracle:
    """Replies to the prompts of all methods; the same prompt has the same reply."""

    def __init__(
        self,
        book: Sequence[Known],
        *,
        p: float = 1.0,
        malformed: float = 0.0,
        invented: float = 0.0,
        seed: int = 0,
    ) -> None:
        """Take what is known.

        Args:
            book: of all questions that will be asked.
            p: probability of a right decision, reply by reply; otherwise it is drawn.
            malformed: share of replies that cannot be read.
            invented: share of replies that name what was not offered.
            seed: of the dial.
        """
        self.p, self.malformed, self.invented, self.seed = p, malformed, invented, seed
        self._book = {_folded(known.question): known for known in book}
        for known in book:
            self._book.setdefault(_folded(_masked(known)), known)
        self._steps = {
            _folded(text): answers for known in book for text, answers in known.step_answers.items()
        }

    def reply(self, schema: str, system: str, user: str) -> str:
        """The reply to a prompt.

        Args:
            schema: name of the reply's schema.
            system, user: the two turns.
        """
        draw = random.Random(f"{self.seed} {schema} {user}")
        asked = _QUESTION.search(user)
        text = _folded(_TOPIC.sub("", asked[1])) if asked else ""
        lines = [told for _, told in _NUMBERED.findall(user[asked.end() :] if asked else user)]
        known = self._book.get(text) or Known(text, self._steps.get(text, ()))
        fate = draw.random()
        if fate < self.malformed:
            return f'Well, {{"{schema[:4]}": [tr'
        right = draw.random() < self.p
        told = _PARTS[schema](Prompt(known, lines, system, user, right, draw))
        if fate < self.malformed + self.invented:
            told = _strange(told)
        return json.dumps(told)


def _folded(text: str) -> str:
    """As it stands in a prompt, whatever the case."""
    return one_line(text).casefold()


def _names(line: str, names: Sequence[str]) -> bool:
    return any(says(line, name) for name in names)


def _strange(value: Any) -> Any:
    """The same with names and numbers that nobody offered."""
    if isinstance(value, dict):
        return {key: _strange(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_strange(inner) for inner in value]
    if isinstance(value, str):
        return "Atlantis"
    return 999 if isinstance(value, int) and not isinstance(value, bool) else value


class Prompt(NamedTuple):
    """A prompt as it is read."""

    known: Known
    lines: list[str]  # the numbered ones
    system: str
    user: str
    right: bool  # what the dial says of the reply
    draw: random.Random


def _adjudicate(prompt: Prompt) -> dict[str, Any]:
    ends = [_ends(line) for line in prompt.lines]
    wanted = {_folded(name) for name in prompt.known.answers}
    good = [[end for end in some if _folded(end) in wanted] for some in ends]
    hidden = ["more not shown" in line for line in prompt.lines]
    if prompt.right:
        cited = [n for n, some in enumerate(good) if some]
        # Lines that hold nothing but answers first: the others would need each name told.
        names = list(dict.fromkeys(name for n in cited for name in good[n]))
        whole = [n for n in cited if len(good[n]) == len(ends[n]) or hidden[n]]
        if whole and hidden[whole[0]]:
            cited, names = [whole[0]], []
    else:
        cited = prompt.draw.sample(range(len(prompt.lines)), 1) if prompt.lines else []
        names = [name for n in cited for name in ends[n]]
    return {"answers": names, "supporting_paths": [n + 1 for n in cited], "rationale": "told"}


def _ends(line: str) -> list[str]:
    found = _ENDS.search(line)
    names = found[1].split("; ") if found else []
    return [_ID.sub("", name) for name in names if "more not shown" not in name]


def _score(prompt: Prompt) -> dict[str, Any]:
    step = len(_FOLLOWED.findall(prompt.user))
    wanted = prompt.known.path[step] if step < len(prompt.known.path) else None
    scores = [1.0 if prompt.right and _holds(name, wanted) else 0.0 for name in prompt.lines]
    if not prompt.right:
        scores = [prompt.draw.random() for _ in prompt.lines]
    told = [{"relation": str(n), "score": score} for n, score in enumerate(scores, 1)]
    return {"scores": told}


def _holds(name: str, relation: str | None) -> bool:
    """Whether a super-relation's name tells of a relation, walked the same way."""
    if relation is None or name.startswith("^") != relation.startswith("^"):
        return False
    bare = relation.removeprefix("^")
    members = name.removeprefix("^").split(" / ")
    return bare in members or ".".join(bare.split(".")[:2]) in members


def _sufficient(prompt: Prompt) -> dict[str, Any]:
    enough = _names(prompt.user.partition("entities:")[2], prompt.known.answers)
    return {"sufficient": enough if prompt.right else prompt.draw.random() < 0.5}


def _plan_relations(prompt: Prompt) -> dict[str, Any]:
    offered = re.findall(r"\)-\[(.*?)\]->\(", prompt.user)
    hops = prompt.known.path if prompt.right else [prompt.draw.choice(offered)] if offered else []
    return {"reasoning": "told", "way": way_line(hops)}


def _patterns(prompt: Prompt) -> dict[str, Any]:
    """The first, which retrieval puts there; the model knows no better."""
    count = len(prompt.lines)
    return {"patterns": [1 if prompt.right or not count else prompt.draw.randrange(count) + 1]}


def _keywords(prompt: Prompt) -> dict[str, Any]:
    if not prompt.right:
        return {"keywords": [prompt.draw.choice(prompt.known.question.split() or ["nothing"])]}
    return {"keywords": list(prompt.known.topics or [prompt.known.question])}


def _plan(prompt: Prompt) -> dict[str, Any]:
    if "Answers so far" in prompt.user:
        return {"steps": []}  # the plan stands
    texts = prompt.known.steps if prompt.right and prompt.known.steps else (prompt.known.question,)
    steps = [
        {"id": str(n), "question": text, "needs": re.findall(r"\{(\w+)\}", text)}
        for n, text in enumerate(texts, 1)
    ]
    return {"steps": steps}


def _weights(prompt: Prompt) -> dict[str, Any]:
    weight = [
        float(
            _names(line, (*prompt.known.answers, *prompt.known.between))
            or says(prompt.known.question, line.partition(":")[0])
        )
        if prompt.right
        else prompt.draw.random()
        for line in prompt.lines
    ]
    return {"weights": [{"number": n, "weight": w} for n, w in enumerate(weight, 1)]}


def _choose(prompt: Prompt) -> dict[str, Any]:
    good = [n for n, line in enumerate(prompt.lines, 1) if _names(line, prompt.known.answers)]
    if not prompt.right:
        good = prompt.draw.sample(range(1, len(prompt.lines) + 1), min(2, len(prompt.lines)))
    elif not good and prompt.system.startswith("You guide a search"):
        good = list(range(1, 1 + len(prompt.lines) // 2))
    return {"chosen": good[:8]}


def _step(prompt: Prompt) -> dict[str, Any]:
    facts = prompt.user.partition("Facts:")[2]
    held = [name for name in prompt.known.answers if says(facts, name)]
    if prompt.right:
        return {"answer": held[0] if held else ""}
    words = re.findall(r"[^\W\d_][\w-]+", facts) or ["nothing"]
    return {"answer": prompt.draw.choice(words)}


def _final(prompt: Prompt) -> dict[str, Any]:
    facts = prompt.user.partition("</question>")[2]
    if prompt.right:
        held = [name for name in prompt.known.answers if not facts.strip() or says(facts, name)]
        return {"answers": held, "reason": "told"}
    words = re.findall(r"[^\W\d_][\w-]+", facts or prompt.known.question) or ["nothing"]
    return {"answers": [prompt.draw.choice(words)], "reason": "told"}


def _verdict(prompt: Prompt) -> dict[str, Any]:
    good = [
        n
        for n, line in enumerate(prompt.lines, 1)
        if _names(line.partition("|")[0], prompt.known.answers)
    ]
    return {
        "best": good[0]
        if prompt.right and good
        else prompt.draw.randrange(max(1, len(prompt.lines))) + 1
    }


_PARTS: dict[str, Callable[[Prompt], dict[str, Any]]] = {
    "Adjudication": _adjudicate,
    "RelationScores": _score,
    "Sufficiency": _sufficient,
    "WayReply": _plan_relations,
    "PatternReply": _patterns,
    "Keywords": _keywords,
    "Plan": _plan,
    "EntityWeights": _weights,
    "Choice": _choose,
    "StepAnswer": _step,
    "FinalAnswer": _final,
    "Recalled": _final,
    "RecalledAlone": _final,
    "Verdict": _verdict,
}


class OracleServer(LanguageServer):
    """Serves an oracle on 127.0.0.1: `with OracleServer(o) as server: ... server.url`.

    Attributes:
        oracle: who answers; may be changed between questions.
    """

    def __init__(self, oracle: Oracle) -> None:
        super().__init__(self._said)
        self.oracle = oracle

    def _said(self, body: dict[str, Any]) -> Behaviour:
        """A reply; tokens are a quarter of the characters."""
        turns = [turn["content"] for turn in body["messages"]]
        schema = body["response_format"]["json_schema"]["name"]
        text = self.oracle.reply(schema, turns[0], turns[1])
        spent = sum(map(len, turns)) // 4, len(text) // 4
        names = ("prompt_tokens", "completion_tokens", "total_tokens")
        return Behaviour(text=text, usage=dict(zip(names, (*spent, sum(spent)))))
