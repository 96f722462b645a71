"""A query graph in one plain English sentence: what is said is what is executed.

No two query graphs of one graph are said alike. A phrase stands in square brackets where it could
be read together with what follows, and a name in quotation marks where it could be taken for words
of the sentence, so that the sentence is read in one way (a grammar in the tests reads it back).

A relation called by a noun is said as "the director of Alien" and "films whose director is Ridley
Scott"; one whose label joins two things as "what Alien is directed by" and "films that are
directed by Ridley Scott". To add an operator, write a function beside the others and name it in
`_PHRASES` (what denotes entities) or `_SENTENCES` (what is asked as a whole).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeGuard

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.query import (
    Compared,
    Count,
    Difference,
    Domain,
    Entities,
    Exists,
    Extreme,
    Intersection,
    Node,
    Query,
    Step,
    Total,
    Union,
    Value,
    Where,
)
from jaxkg.readings.labels import GraphWords, article, bare, graph_words, plural, quoted
from jaxkg.words import one_line

_ORDERS = {
    "number": {"<": "less than", "<=": "at most", ">": "more than", ">=": "at least"},
    "date": {"<": "before", "<=": "no later than", ">": "after", ">=": "no earlier than"},
}
_EQUAL = {
    "number": {"=": "exactly ", "!=": "not exactly "},
    "date": {"=": "just ", "!=": "not in ", "in": "in "},
}
_ORDER_OF_OTHERS = {
    "=": "", "!=": "not ", "in": "in ", **{one: f"{w} " for one, w in _ORDERS["number"].items()},
}  # fmt: skip
_COUNTS = {
    "=": "exactly", "!=": "other than", "<": "fewer than", "<=": "at most", ">": "more than",
    ">=": "at least",
}  # fmt: skip
_FAR = {
    "": ("", ""),
    "+": ("direct or indirect ", "directly or indirectly "),
    "*": ("same, direct or indirect ", "itself, directly or indirectly "),
}
"""Before the noun and before the verb of a closure's relation."""
_IT = Entities(("it",))
"""What a condition is about, where its path is said as a phrase of its own."""
_MEASURE = re.compile(r"([+-]?[\d.,]*\d(?:[eE][+-]?\d+)?) ?([^\s\d\"\[\]?]\S{0,11})?")


class Phrase(NamedTuple):
    """Words for a set of entities.

    Attributes:
        text: the words.
        head: whether they begin with a noun that further conditions may be said of.
        is_open: whether a condition that follows would be read as one of something inside.
        is_list: whether "or" that follows would be read as part of it.
    """

    text: str
    head: bool = False
    is_open: bool = False
    is_list: bool = False


def say(words: KnowledgeGraph | GraphWords, query: Query) -> str:
    """A query graph as a plain English phrase, or as a question where it asks for yes or no.

    Args:
        words: the graph, or what it calls its things.
        query: the query graph.

    Raises:
        JaxkgError: the graph has no such entity or relation.

    >>> kg = KnowledgeGraph.from_triples([
    ...     ("Alien", "director", "Ridley Scott"), ("Alien", "year", "1979"),
    ...     ("Alien", "type", "Film")])
    >>> films = Step(Entities(("Ridley Scott",)), ("^director",))
    >>> say(kg, films), say(kg, Step(Entities(("Alien",)), ("director",)))
    ('films whose director is Ridley Scott', 'the director of Alien')
    >>> say(kg, Count(Where(films, ("year",), "<", Value("date", "1990"))))
    'how many films whose director is Ridley Scott and whose year is before 1990'
    >>> say(kg, Extreme(films, ("year",), largest=True))
    'the film whose director is Ridley Scott with the latest year'
    """
    speaker = _Speaker(graph_words(words) if isinstance(words, KnowledgeGraph) else words)
    sentence = _SENTENCES.get(type(query))
    return sentence(speaker, query) if sentence else speaker.phrase(query).text


@dataclasses.dataclass(frozen=True)
class _Speaker:
    """Says the parts of one query graph."""

    words: GraphWords

    def phrase(self, node: Query, *, one: bool = False, chained: bool = False) -> Phrase:
        """Words for a set.

        Args:
            node: the set.
            one: whether any one of it is spoken of: "a city" instead of "cities".
            chained: whether a step after it has said already that its chain does not return.
        """
        return _PHRASES[type(node)](self, node, one, chained)

    def within(self, node: Query, *, one: bool = False, closed: bool = False, **how: Any) -> Phrase:
        """Words for a set inside those of another; `closed` where conditions follow."""
        found = self.phrase(node, one=one, **how)
        if found.is_list or (closed and found.is_open):
            return self.bracketed(node)
        return found

    def bracketed(self, node: Query) -> Phrase:
        """Words for a set in brackets; what stands outside says nothing of its chain of steps."""
        return Phrase(f"[{self.phrase(node).text}]")

    # Steps

    def step(self, node: Step, one: bool, chained: bool, *, closed: bool = False) -> Phrase:
        """What relations lead to: "the director of Alien", "films whose director is …"."""
        returns = node.returns or not self._comes_back(node)
        source, how = node.source, {}
        if chained or not returns:
            before = [step for step in _chain(source) if self._comes_back(step)]
            if any(step.returns for step in before):
                return self._stepped(node, one, not chained, self.bracketed(source))
            how = {"chained": True}
        return self._stepped(node, one, not returns and not chained, None, how, closed)

    def _comes_back(self, node: Step) -> bool:
        """Whether a step may lead to what its chain of steps began with."""
        chain = _chain(node)
        first = chain[-1]
        if not isinstance(first.source, Entities) or first.source is _IT:
            return False
        if any(step.closure for step in chain):
            return True
        if len(chain) == 1:
            return any(map(self.words.loops, node.relations))
        ends = (self.words.meets(a, b) for a in first.relations for b in node.relations)
        return any(ends)

    def _stepped(self, node: Step, one: bool, other: bool, source, how=None, closed=False):
        labels = [self.words.label(name) for name in node.relations]
        back = [name.startswith("^") for name in node.relations]
        how = how or {}

        def of(one: bool = False, shut: bool = False) -> Phrase:
            return source or self.within(node.source, one=one, closed=shut or closed, **how)

        if any(back) != all(back) or not labels or any(x.verb for x in labels[1:]):
            return self._linked(node, one, other, of())
        near, nearly = _FAR[node.closure]
        called = near + " or ".join(label.text for label in labels)
        if not back[0]:
            if verb := labels[0].verb:
                if len(labels) > 1:
                    return self._linked(node, one, other, of())
                what = of(shut=True).text
                if not isinstance(node.source, Entities) and what[0] != "[":
                    what = self.bracketed(node.source).text
                return Phrase(f"what {'else ' * other}{what} {nearly}{verb}")
            what = of()
            return Phrase(f"the {'other ' * other}{called} of {what.text}", is_open=what.is_open)
        noun = self._noun(node.relations, one, other)
        if labels[0].verb:
            if len(labels) > 1:
                return self._linked(node, one, other, of())
            does = labels[0].verb if one else labels[0].verbs
            return Phrase(f"{noun} that {nearly}{does} {of(one=True).text}", True, True)
        return Phrase(f"{noun} whose {called} is {of(one=True).text}", True, True)

    def _linked(self, node: Step, one: bool, other: bool, source: Phrase) -> Phrase:
        """Relations that do not go into one phrase, each with its direction."""
        names = node.relations
        if len(names) == 2 and names[1] == f"^{names[0]}":
            ways = f"either way by {self.words.label(names[0]).text}"
        else:
            ways = " or ".join(
                "backwards " * name.startswith("^") + f"by {self.words.label(name).text}"
                for name in names
            )
        noun = self._noun(names, one, other)
        how = f"linked {_FAR[node.closure][1]}{ways}"
        return Phrase(f"{noun} {how} to {source.text}", True, True)

    def _noun(self, relations: tuple[str, ...], one: bool, other: bool) -> str:
        nouns = {self.words.leads_to(name) for name in relations}
        noun = nouns.pop() if len(nouns) == 1 else ""
        if one:
            return f"another {noun or 'thing'}" if other else article(noun or "thing")
        return "other " * other + (plural(noun) if noun else "things")

    def path(self, path: tuple[str, ...]) -> str:
        """A path of nouns, all walked from head to tail: "director's birth place"; else ""."""
        labels = [self.words.label(name) for name in path]
        if any(name.startswith("^") for name in path) or any(label.verb for label in labels):
            return ""
        return "'s ".join(label.text for label in labels)

    def ends(self, path: tuple[str, ...]) -> str:
        """What a path leads to from it, as a phrase in which it is called "it"."""
        node: Node = _IT
        for relation in path:
            node = Step(node, (relation,))
        return self.within(node, closed=True).text

    # Conditions

    def value(self, comparison: str, value: Value | str) -> str:
        """What is compared with, and how: "before 1990", "at least 5 km", "Texas"."""
        if not isinstance(value, Value):
            return _ORDER_OF_OTHERS[comparison] + self.named(value)
        text = one_line(value.text)
        if value.kind in _ORDERS:
            equal = _EQUAL[value.kind].get(comparison)
            order = equal or f"{_ORDERS[value.kind].get(comparison, comparison)} "
            return order + (_measure(value) if value.kind == "number" else _plain(text))
        order = _ORDER_OF_OTHERS[comparison]
        if value.kind == "boolean" and text in ("true", "false"):
            return f"{order}{text}"
        language = f" in the language {quoted(value.language)}" if value.language else ""
        return f"{order}the {value.kind} {quoted(text)}{language}"

    def named(self, entity: str) -> str:
        """An entity by name; `_IT` is called "it"."""
        return self.words.name(entity)

    def condition(self, node: Where, first: bool, one: bool) -> str:
        """A condition as said after a noun, the first or a further one, of one thing or of many."""
        text = self.path(node.path)
        joint = "" if first else "and "
        if node.by == "count":
            assert isinstance(node.value, Value)
            number = self.value("=", node.value).removeprefix("exactly ")
            order = f"{_COUNTS.get(node.comparison, node.comparison)} {number}"
            return f"{joint}with {order} {text or 'of ' + self.ends(node.path)}"
        value = self.value(node.comparison, node.value)
        if not node.path:
            return f"{joint}that {'is' if one else 'are'} {value}"
        if text:
            return f"{joint}whose {text} is {value}"
        return f"{joint}where {self.ends(node.path)} is {value}"


def _measure(value: Value) -> str:
    """A number with its unit, said once where the text has it, too."""
    text, unit = one_line(value.text), one_line(value.unit)
    found = _MEASURE.fullmatch(text)
    if found is None or ((found[2] or "") not in ("", unit) and unit):
        return quoted(text) + (f" {quoted(unit)}" if unit else "")
    unit = unit or found[2] or ""
    return found[1] + (
        f" {unit if _MEASURE.fullmatch(f'1 {unit}') else quoted(unit)}" if unit else ""
    )


def _plain(text: str) -> str:
    return text if text and text == text.strip() and bare(text) == text else quoted(text)


def _chain(node: Node) -> list[Step]:
    steps = []
    while isinstance(node, Step):
        steps.append(node)
        node = node.source
    return steps


# What denotes entities. Each: (speaker, node, one, chained) -> Phrase, see `_Speaker.phrase`.


def _entities(speaker: _Speaker, node: Entities, one: bool, chained: bool) -> Phrase:
    if node is _IT:
        return Phrase("it")
    names = [speaker.named(entity) for entity in node.ids]
    if len(names) == 1:
        return Phrase(names[0])
    return Phrase(f"either {' or '.join(names)}" if names else "nothing", is_list=bool(names))


def _domain(speaker: _Speaker, node: Domain, one: bool, chained: bool) -> Phrase:
    every = f"{'any' if one else 'every'}{_what(speaker, node, ' {}', 'thing')}"
    return Phrase(f"{every} that {_having(speaker, node, ('has', 'is'))}", True, True)


def _what(speaker: _Speaker, node: Domain, noun: str, thing: str) -> str:
    """What has some relations, as a noun."""
    nouns = {speaker.words.leads_to(name) for name in node.into}
    found = nouns.pop() if len(nouns) == 1 else ""
    return noun.format(found) if found else thing


def _having(speaker: _Speaker, node: Domain, verbs: tuple[str, str]) -> str:
    told = []
    for name in node.relations:
        label, back, (has, are) = speaker.words.label(name), name.startswith("^"), verbs
        if label.verb:
            does = label.verb if back or are == "is" else label.verbs
            told.append(f"something {does}" if back else f"{does} something")
        else:
            thing = article(label.text)
            told.append(f"{are} {thing} of something" if back else f"{has} {thing}")
    return " or ".join(told)


def _step(speaker: _Speaker, node: Step, one: bool, chained: bool) -> Phrase:
    if kind := _all_of(speaker, node):
        return Phrase(f"some {kind}" if one else f"all {plural(kind)}", True, True)
    return speaker.step(node, one, chained)


def _all_of(speaker: _Speaker, node: Node) -> str:
    """The noun of a class, where a node is all that is of that class and of no other name."""
    if not (isinstance(node, Step) and isinstance(node.source, Entities) and node.returns):
        return ""
    if node.closure or len(node.relations) != 1 or len(node.source.ids) != 1 or node.source is _IT:
        return ""
    return speaker.words.class_told(node.relations[0], node.source.ids[0])


def _intersection(speaker: _Speaker, node: Intersection, one: bool, chained: bool) -> Phrase:
    return _joined(speaker, node.parts, " that are also ", "all of ")


def _union(speaker: _Speaker, node: Union, one: bool, chained: bool) -> Phrase:
    return _joined(speaker, node.parts, " or ", "any of ")


def _difference(speaker: _Speaker, node: Difference, one: bool, chained: bool) -> Phrase:
    return _joined(speaker, (node.source, node.without), " except ", "")


def _joined(speaker: _Speaker, parts: tuple[Node, ...], joint: str, alone: str) -> Phrase:
    told = [speaker.within(part).text for part in parts]
    if len(told) == 1:
        return Phrase(f"{alone}[{told[0]}]", is_list=True)
    return Phrase(joint.join(told) or f"{alone}nothing", is_list=True)


def _where(speaker: _Speaker, node: Where, one: bool, chained: bool) -> Phrase:
    source = _conditioned(speaker, node.source, one)
    if _of_domain(node.source, node.path) and node.by == "value" and speaker.path(node.path):
        source = f"{'any' if one else 'every'}{_what(speaker, node.source, ' {}', 'thing')}", True
    if source is None:
        told = f"[{speaker.phrase(node.source).text}]"
        condition = speaker.condition(node, True, False)
    else:
        told, first = source
        condition = speaker.condition(node, first, one)
    return Phrase(f"{told} {condition}", True, True)


def _of_domain(node: Node, path: tuple[str, ...]) -> TypeGuard[Domain]:
    """Whether a node is all that has the first relation of a path, which need not be said then."""
    return isinstance(node, Domain) and len(path) > 0 and node.relations == path[:1]


def _conditioned(speaker: _Speaker, node: Node, one: bool) -> tuple[str, bool] | None:
    """A source as a noun with its conditions, ready for one more, and whether that is the first;
    None where it is no such."""
    if isinstance(node, Where):
        return speaker.phrase(node, one=one).text, False
    if isinstance(node, Step) and (kind := _all_of(speaker, node)):
        return (f"some {kind}" if one else f"all {plural(kind)}"), True
    if isinstance(node, Domain):
        return speaker.phrase(node, one=one).text, False
    if isinstance(node, Step):
        found = speaker.step(node, one, False, closed=True)
        return (found.text, False) if found.head else None
    return None


def _extreme(speaker: _Speaker, node: Extreme, one: bool, chained: bool) -> Phrase:
    order = _order(speaker, node)
    number, many = f"{node.n} " * (node.n != 1), node.n != 1
    text = speaker.path(node.path)
    if not node.path:
        return Phrase(f"the {number}{order} of {speaker.within(node.source, closed=True).text}")
    by = f"with the {order} {text or 'of ' + speaker.ends(node.path)}"
    source = node.source
    if _of_domain(source, node.path):
        noun = _what(speaker, source, "{}", "thing")
        return Phrase(f"the {number}{plural(noun) if many else noun} {by} of all")
    if isinstance(source, Step) and (kind := _all_of(speaker, source)):
        return Phrase(f"the {number}{plural(kind) if many else kind} {by}")
    if isinstance(source, Step | Where) and not many:
        found = _conditioned(speaker, source, True)
        if found and (told := re.fullmatch(r"(an?|another) (.*)", found[0])):
            other = "other " * (told[1] == "another")
            return Phrase(f"the {other}{told[2]} {by}")
    if isinstance(source, Step | Where) and many:
        found = _conditioned(speaker, source, False)
        if found and not found[0].startswith(("[", "all ", "every")):
            return Phrase(f"the {number}{found[0]} {by}")
    inner = speaker.within(source, closed=True).text
    return Phrase(f"the {number or 'one '}of {inner} {by}")


def _order(speaker: _Speaker, node: Extreme) -> str:
    if node.by == "count":
        return "most" if node.largest else "fewest"
    along = node.path or (node.source.relations if isinstance(node.source, Step) else ())
    dated = bool(along) and speaker.words.kind(along[-1]) == "date"
    return {
        (True, False): "largest",
        (False, False): "smallest",
        (True, True): "latest",
        (False, True): "earliest",
    }[node.largest, dated]


# What is asked as a whole. Each: (speaker, query) -> str.


def _count(speaker: _Speaker, query: Count) -> str:
    return f"how many {_counted(speaker, query.source)}"


def _exists(speaker: _Speaker, query: Exists) -> str:
    return f"are there any {_counted(speaker, query.source)}?"


def _counted(speaker: _Speaker, node: Node) -> str:
    if isinstance(node, Domain):
        noun = _what(speaker, node, "{}", "thing")
        return f"{plural(noun)} that {_having(speaker, node, ('have', 'are'))}"
    text = speaker.phrase(node).text
    if isinstance(node, Step):
        if _all_of(speaker, node):
            return text.removeprefix("all ")
        if text.startswith("the "):
            return text.removeprefix("the ")
    if isinstance(node, Step | Where) and not text.startswith(("[", "what ", "all ", "every")):
        return text
    return f"of {text}"


def _total(speaker: _Speaker, query: Total) -> str:
    what = "sum" if query.by == "sum" else "average"
    if not query.path:
        return f"the {what} of [{speaker.phrase(query.source).text}]"
    source = speaker.within(query.source).text
    if _of_domain(query.source, query.path):
        source = f"every{_what(speaker, query.source, ' {}', 'thing')}"
    if text := speaker.path(query.path):
        return f"the {what} of the {text} of {source}"
    return f"the {what} of [{speaker.ends(query.path)}] over {source}"


def _compared(speaker: _Speaker, query: Compared) -> str:
    along = query.right.relations if isinstance(query.right, Step) else ()
    dated = bool(along) and speaker.words.kind(along[-1]) == "date"
    order = {"=": "the same as", "!=": "other than", "in": "within"}.get(query.comparison)
    order = order or _ORDERS["date" if dated else "number"][query.comparison]
    left, right = (_side(speaker, side) for side in (query.left, query.right))
    return f"is {left} {order} {right}?"


def _side(speaker: _Speaker, side: Node | Count) -> str:
    number = isinstance(side, Count)
    node = side.source if isinstance(side, Count) else side
    return "the number of " * number + speaker.within(node, closed=True).text


_PHRASES: dict[type, Callable[[_Speaker, Any, bool, bool], Phrase]] = {
    Entities: _entities,
    Domain: _domain,
    Step: _step,
    Intersection: _intersection,
    Union: _union,
    Difference: _difference,
    Where: _where,
    Extreme: _extreme,
}
_SENTENCES: dict[type, Callable[[_Speaker, Any], str]] = {
    Count: _count,
    Exists: _exists,
    Total: _total,
    Compared: _compared,
}
