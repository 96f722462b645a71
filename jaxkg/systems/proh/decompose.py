"""A plan without a model: the inner question of a question, and what is left once it is answered.

"Who wrote the anthem of the country where Clonbrook lies?" asks first in which country Clonbrook
lies. Rules find the innermost clause or phrase that holds a name; what it may be answered by are
the entities that a search for it ranks first, and each is asked for what is left. PRoH (Section
4.3) has a language model draft such plans.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from jaxkg.systems.proh.retrieval import Retrieved, Retriever, merged

_Item = TypeVar("_Item")

SLOT = "#1"
"""Where what is left has the answer of the inner question."""
_JOINING = "of|the|and|in|on|at|for|to|de|van|von|with|or|a|No"
_NAME = (
    r"(?<!\w)[^\W\d_a-z][\w.'’&-]*(?:,? (?:(?:" + _JOINING + r") )*(?:the )?[^\W_a-z][\w.'’&-]*)*"
)
_ASKING = frozenset(
    ("Who", "What", "When", "Where", "Which", "How", "In", "Why", "Was", "Is", "Did", "The")
    + ("Besides", "On", "At", "Of", "By", "Does", "Are", "Were", "Do")
)
_WHERE = "where|in which|at which|with which|of which|to which|for which|on which|from which|whose"
_NOT_OF = r"(?!(?:of|in|the|for|to|by|with)\b)"
_CLAUSE = re.compile(
    rf"\b(?:the|same|an?) (?P<noun>(?:{_NOT_OF}[\w-]+ ){{0,2}}?{_NOT_OF}[\w-]+),? "
    rf"(?P<link>that|which|who|{_WHERE}) "
)
_GOES_ON = re.compile(r",| (?:become|became|leave|dissolve|handle|stop|attend|taken)\b")
"""Where the question goes on after a clause."""
_OF = re.compile(
    rf"\bthe (?P<noun>(?:(?!(?:of|in|the)\b)[a-z][\w-]* ){{0,2}}[a-z][\w-]*) "
    rf"(?:of|in|from|by|for|with|containing|at) (?P<name>(?:the )?{_NAME})"
)
_OWNED = re.compile(rf"(?P<name>{_NAME}?)['’]s (?P<noun>[a-z][\w-]*(?: of [a-z][\w-]*| city)?)")
_BARE = re.compile(
    rf"the (?P<noun>(?:[a-z][\w-]* ){{1,3}})(?P<name>{_NAME}) "
    r"(?P<rest>(?:is|was|has|had|belongs)\b.{0,30})"
)


class Inner(NamedTuple):
    """A question in two steps."""

    asks: str
    """The inner question."""
    rest: str
    """The question with `SLOT` for its answer."""

    def filled(self, name: str) -> str:
        """What is left, with an answer of the inner question.

        >>> Inner("country of Brand", "Who rules #1").filled("Norway")
        'Who rules Norway'
        """
        return self.rest.replace(SLOT, name)


def inner_question(text: str) -> Inner | None:
    """The innermost question about a name in a question; None where it is asked in one piece.

    >>> inner_question("What currency had the country that Signmark is from?")
    Inner(asks='what country Signmark is from', rest='What currency had #1')
    >>> inner_question("Who is the wife of the author of Brand?").asks
    'Brand author'
    >>> inner_question("Who bombed Kenji's birthplace?").rest, inner_question("Who wrote Brand?")
    ('Who bombed #1', None)
    """
    body = text.strip().rstrip("?").rstrip()
    for match in reversed(list(_CLAUSE.finditer(body))):
        clause = body[match.end() :]
        if not _names(clause):
            continue
        cut = _GOES_ON.search(clause)
        if cut is not None and _names(clause[: cut.start()]):
            clause = clause[: cut.start()]
        where = "in " if match["link"] not in ("that", "which", "who") else ""
        rest = body[: match.start()] + SLOT + body[match.end() + len(clause) :]
        return Inner(f"{where}what {match['noun']} {clause}", rest)
    for match in reversed(list(_OF.finditer(body))):
        rest = body[: match.start()] + SLOT + body[match.end() :]
        return Inner(f"{match['name']} {match['noun']}", rest)
    if match := _OWNED.search(body):
        asking = re.match(rf"(?:{'|'.join(_ASKING)}) ", match["name"])
        name = match["name"][asking.end() :] if asking else match["name"]
        start = match.end("name") - len(name)
        return Inner(f"{name} {match['noun']}", body[:start] + SLOT + body[match.end() :])
    if match := _BARE.search(body):
        asks = f"what {match['noun']}{match['name']} {match['rest']}"
        return Inner(asks, body[: match.start()] + SLOT + body[match.end() :])
    return None


def retrieve_in_steps(
    retriever: Retriever, questions: Sequence[str], wholes: Sequence[Retrieved], *, names: int
) -> list[Retrieved]:
    """Search for the inner question of each, then for what is left with each of its answers.

    Args:
        retriever: of the hypergraph.
        questions: any number.
        found: what a search for each as a whole found.
        names: entities that an inner question is taken to be answered by, the first ones that it
            does not name itself.

    Returns:
        As `found`, with passages, paths and entities of all that was asked; what any of it has
        high up comes first.
    """
    inner = {
        place: split for place, text in enumerate(questions) if (split := inner_question(text))
    }
    first = dict(zip(inner, retriever.retrieve([split.asks for split in inner.values()])))
    asked = [
        (place, split.filled(name))
        for place, split in inner.items()
        for name in _answers(retriever, first[place], split.asks, names)
    ]
    left: dict[int, list[Retrieved]] = {place: [] for place in inner}
    for (place, _), split in zip(asked, retriever.retrieve([text for _, text in asked])):
        left[place].append(split)
    return [
        _together([whole, first[place], *left[place]]) if place in inner else whole
        for place, whole in enumerate(wholes)
    ]


def _names(text: str) -> bool:
    """Whether a text has a name in it."""
    return any(match[0].split()[0] not in _ASKING for match in re.finditer(_NAME, text))


def _answers(retriever: Retriever, retrieval: Retrieved, asks: str, count: int) -> list[str]:
    graph, question_text = retriever.index.graph, asks.lower()
    names = (graph.entity_names[entity] for entity, _ in retrieval.entities[: 4 * count])
    return [name for name in dict.fromkeys(names) if name.lower() not in question_text][:count]


def _together(parts: Sequence[Retrieved]) -> Retrieved:
    """What several searches found; scores tell the place alone."""
    return Retrieved(
        anchors=parts[0].anchors,
        paths=_placed(merged([part.paths for part in parts])),
        chunks=_placed(merged([part.chunks for part in parts])),
        entities=_placed(merged([part.entities for part in parts])),
        complete=all(part.complete for part in parts),
    )


def _placed(ranking: Sequence[tuple[_Item, float]]) -> tuple[tuple[_Item, float], ...]:
    return tuple((item, 1.0 / (1 + place)) for place, (item, _) in enumerate(ranking))
