"""What denotes entities, and how values compare, in plain English phrases; see `say`."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection
from typing import Any, NamedTuple, TypeGuard

from jaxkg.query import (
    Comparison,
    Difference,
    Domain,
    Entities,
    Extreme,
    Intersection,
    Match,
    Node,
    Quantifier,
    Query,
    Step,
    Union,
    Value,
    Where,
)
from jaxkg.readings.labels import GraphWords, article, bare, plural, quoted
from jaxkg.words import one_line

ORDERS = {
    "number": {"<": "less than", "<=": "at most", ">": "more than", ">=": "at least"},
    "date": {"<": "before", "<=": "no later than", ">": "after", ">=": "no earlier than"},
}
COUNTS = {
    "=": "exactly", "!=": "other than", "<": "fewer than", "<=": "at most", ">": "more than",
    ">=": "at least",
}  # fmt: skip
ORDERED = {
    (True, False): "largest",
    (False, False): "smallest",
    (True, True): "latest",
    (False, True): "earliest",
}
"""What comes first, by whether it is the largest and whether it is a date."""
_WORDS = {
    "number": {"=": "exactly", "!=": "not exactly", **ORDERS["number"]},
    "date": {"=": "just", "!=": "not in", "in": "in", **ORDERS["date"]},
}
_OTHERS = {"=": "", "!=": "not", "in": "in", **ORDERS["number"]}
_NUMBER = re.compile(r"([+-]?[\d.,]*\d(?:[eE][+-]?\d+)?) ?([^\s\d\"\[\]?]\S{0,11})?")


def compared_with(comparison: Comparison, value: Value) -> str:
    """What a value is compared with, and how.

    >>> compared_with("<", Value("date", "1990")), compared_with(">=", Value("number", "5", "km"))
    ('before 1990', 'at least 5 km')
    """
    text = one_line(value.text)
    if value.kind == "number":
        told = number_words(value)
    elif value.kind == "date":
        told = text if text and bare(text) == text else quoted(text)
    elif value.kind == "boolean" and text in ("true", "false"):
        told = text
    else:
        language = f" in the language {quoted(value.language)}" if value.language else ""
        told = f"the {value.kind} {quoted(text)}{language}"
    return f"{compared_words(comparison, value.kind)} {told}".lstrip()


def compared_words(comparison: Comparison, kind: str = "entity") -> str:
    """How something compares: of a kind of values, or of entities.

    >>> compared_words("!="), compared_words(">", "date")
    ('not', 'after')
    """
    return _WORDS.get(kind, _OTHERS).get(comparison, comparison)


def number_words(value: Value) -> str:
    """A number with its unit, said once where its text has it, too.

    >>> number_words(Value("number", "182 cm", "cm"))
    '182 cm'
    """
    text, unit = one_line(value.text), one_line(value.unit)
    found = _NUMBER.fullmatch(text)
    if found is None or (unit and (found[2] or unit) != unit):
        return quoted(text) + (f" {quoted(unit)}" if unit else "")
    unit = unit or found[2] or ""
    plain = not unit or _NUMBER.fullmatch(f"1 {unit}")
    return f"{found[1]} {unit if plain else quoted(unit)}".rstrip()


_FAR = {
    "": ("", ""),
    "+": ("direct or indirect ", "directly or indirectly "),
    "*": ("same, direct or indirect ", "itself, directly or indirectly "),
}
"""Before the noun and before the verb of a closure's relation."""
_IT = Entities(("it",))
"""What a condition is about, where its path is said as a phrase of its own."""


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


@dataclasses.dataclass(frozen=True)
class Speaker:
    """Says the parts of one query graph."""

    words: GraphWords
    masked: Collection[str]

    def phrase(self, node: Query, *, one: bool = False, chained: bool = False) -> Phrase:
        """Words for a set.

        Args:
            node: the set.
            one: whether any one of it is spoken of: "a city" instead of "cities".
            chained: whether a step after it has said already that its chain does not return.
        """
        return PHRASES[type(node)](self, node, one, chained)

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

    def path(self, path: tuple[str, ...], *, verbs: bool = False) -> str:
        """A path of nouns, all walked from head to tail: "director's birth place"; else "".

        Args:
            path: the relations.
            verbs: whether labels that join two things will do, too: "directed by".
        """
        labels = [self.words.label(name) for name in path]
        if any(name.startswith("^") for name in path):
            return ""
        if not verbs and any(label.verb for label in labels):
            return ""
        return "'s ".join(label.text for label in labels)

    def ends(self, path: tuple[str, ...]) -> str:
        """What a path leads to from it, as a phrase in which it is called "it"."""
        return self.within(_of_it(path), closed=True).text

    # Conditions

    def value(self, comparison: Comparison, value: Value | str) -> str:
        """What is compared with, and how: "before 1990", "at least 5 km", "Texas"."""
        if isinstance(value, Value):
            return compared_with(comparison, value)
        return f"{compared_words(comparison)} {self.named(value)}".lstrip()

    def dated(self, path: tuple[str, ...]) -> bool:
        """Whether a path leads to dates."""
        return bool(path) and self.words.kind(path[-1]) == "date"

    def order(self, comparison: Comparison, path: tuple[str, ...]) -> str:
        """How what a path leads to compares with other such values."""
        same = {"=": "the same as", "!=": "other than", "in": "within"}.get(comparison)
        return same or ORDERS["date" if self.dated(path) else "number"][comparison]

    def named(self, entity: str) -> str:
        """An entity by name."""
        return "it" if entity in self.masked else self.words.name(entity)

    def condition(self, node: Where, first: bool, one: bool) -> str:
        """A condition as said after a noun, the first or a further one, of one thing or of many."""
        text = self.path(node.path)
        joint = "" if first else "and "
        if node.by == "count":
            assert isinstance(node.value, Value)
            order = f"{COUNTS.get(node.comparison, node.comparison)} {number_words(node.value)}"
            return f"{joint}with {order} {text or 'of ' + self.ends(node.path)}"
        value = self.value(node.comparison, node.value)
        if not node.path:
            return f"{joint}that {'is' if one else 'are'} {value}"
        if text:
            return f"{joint}whose {text} is {value}"
        if said := self._joined(node, one):
            return f"{joint}that {said} {value}"
        return f"{joint}where {self.ends(node.path)} is {value}"

    def _joined(self, node: Where, one: bool) -> str:
        """What joins a thing to an entity by one relation: "are directed by", "is the capital of";
        "" where no words do."""
        if len(node.path) != 1 or node.comparison != "=" or isinstance(node.value, Value):
            return ""
        label = self.words.label(node.path[0])
        if not node.path[0].startswith("^"):
            return label.verb if one else label.verbs
        return "" if label.verb else f"{'is' if one else 'are'} the {label.text} of"


def _of_it(path: tuple[str, ...]) -> Node:
    node: Node = _IT
    for relation in path:
        node = Step(node, (relation,))
    return node


def _chain(node: Node) -> list[Step]:
    steps = []
    while isinstance(node, Step):
        steps.append(node)
        node = node.source
    return steps


# What denotes entities. Each: (speaker, node, one, chained) -> Phrase, see `Speaker.phrase`.


def _entities(speaker: Speaker, node: Entities, one: bool, chained: bool) -> Phrase:
    if node is _IT:
        return Phrase("it")
    names = [speaker.named(entity) for entity in node.ids]
    if len(names) == 1:
        return Phrase(names[0])
    return Phrase(f"either {' or '.join(names)}" if names else "nothing", is_list=bool(names))


def _domain(speaker: Speaker, node: Domain, one: bool, chained: bool) -> Phrase:
    every = f"{'any' if one else 'every'}{noun_of(speaker, node, ' {}')}"
    return Phrase(f"{every} that {having(speaker, node, ('has', 'is'))}", True, True)


def noun_of(speaker: Speaker, node: Domain, noun: str) -> str:
    """What has some relations, as a noun."""
    nouns = {speaker.words.leads_to(name) for name in node.into}
    name = nouns.pop() if len(nouns) == 1 else ""
    return noun.format(name) if name else "thing"


def having(speaker: Speaker, node: Domain, verbs: tuple[str, str]) -> str:
    """What is said of all that has some relations, with "has" and "is" or "have" and "are"."""
    clauses = []
    for name in node.relations:
        label, back, (has, are) = speaker.words.label(name), name.startswith("^"), verbs
        if label.verb:
            does = label.verb if back or are == "is" else label.verbs
            clauses.append(f"something {does}" if back else f"{does} something")
        else:
            thing = article(label.text)
            clauses.append(f"{are} {thing} of something" if back else f"{has} {thing}")
    return " or ".join(clauses)


def _step(speaker: Speaker, node: Step, one: bool, chained: bool) -> Phrase:
    if kind := all_of(speaker, node):
        return Phrase(f"some {kind}" if one else f"all {plural(kind)}", True, True)
    if node.during:
        always = speaker.bracketed(dataclasses.replace(node, during=None))
        date = one_line(node.during.text)
        date = date if re.fullmatch(r"[\w:-]+", date) else quoted(date)
        return Phrase(f"during {date} {always.text}")
    return speaker.step(node, one, chained)


def all_of(speaker: Speaker, node: Node) -> str:
    """The noun of a class, where a node is all that is of that class and of no other name."""
    if not (isinstance(node, Step) and isinstance(node.source, Entities) and node.returns):
        return ""
    if (
        node.closure
        or node.during
        or len(node.relations) != 1
        or len(node.source.ids) != 1
        or node.source is _IT
    ):
        return ""
    [entity] = node.source.ids
    return "" if entity in speaker.masked else speaker.words.class_told(node.relations[0], entity)


def _intersection(speaker: Speaker, node: Intersection, one: bool, chained: bool) -> Phrase:
    return _joined(speaker, node.parts, " that are also ", "all of ")


def _union(speaker: Speaker, node: Union, one: bool, chained: bool) -> Phrase:
    return _joined(speaker, node.parts, " or ", "any of ")


def _difference(speaker: Speaker, node: Difference, one: bool, chained: bool) -> Phrase:
    return _joined(speaker, (node.source, node.without), " except ", "")


def _joined(speaker: Speaker, parts: tuple[Node, ...], joint: str, alone: str) -> Phrase:
    texts = [speaker.within(part).text for part in parts]
    if len(texts) == 1:
        return Phrase(f"{alone}[{texts[0]}]", is_list=True)
    return Phrase(joint.join(texts) or f"{alone}nothing", is_list=True)


def _where(speaker: Speaker, node: Where, one: bool, chained: bool) -> Phrase:
    head, first = _head(speaker, node, one)
    condition = speaker.condition(node, first, one and not (first and head[0] == "["))
    return Phrase(f"{head} {condition}", True, True)


def _head(speaker: Speaker, node: Where | Match, single: bool) -> tuple[str, bool]:
    """What a condition is said of, and whether it is the first."""
    counts = isinstance(node, Where) and node.by == "count"
    if of_domain(node.source, node.path) and not counts and speaker.path(node.path):
        noun = noun_of(speaker, node.source, " {}")
        return f"{'any' if single else 'every'}{noun}", True
    source = _conditioned(speaker, node.source, single)
    return source or (f"[{speaker.phrase(node.source).text}]", True)


def _has_nouns(speaker: Speaker, node: Match) -> bool:
    """Whether both of what a match compares are said by nouns."""
    return bool(speaker.path(node.path) and speaker.path(node.other))


def _match(speaker: Speaker, node: Match, one: bool, chained: bool) -> Phrase:
    order = speaker.order(node.comparison, node.path)
    if _has_nouns(speaker, node):
        head, first = _head(speaker, node, one)
        own = "its" if one else "their"
        what, other = speaker.path(node.path), speaker.path(node.other)
        joint = "" if first else "and "
        return Phrase(f"{head} {joint}whose {what} is {order} {own} {other}", True, True)
    ends = [speaker.bracketed(_of_it(path)).text for path in (node.path, node.other)]
    source = speaker.bracketed(node.source).text
    return Phrase(f"{source} for which {ends[0]} is {order} {ends[1]}", is_list=True)


def _quantifier(speaker: Speaker, node: Quantifier, one: bool, chained: bool) -> Phrase:
    source = speaker.bracketed(node.source).text
    ends = speaker.bracketed(_of_it(node.path)).text
    within = speaker.bracketed(node.within).text
    none = (node.comparison, node.n) == ("=", 0)
    number = "none" if none else f"{COUNTS.get(node.comparison, node.comparison)} {node.n}"
    clause = {
        "inside": f"{number} of {ends} are among {within}",
        "outside": f"{number} of {ends} are outside {within}",
        "missing": f"{number} of {within} are missing from {ends}",
    }[node.by]
    if none and node.by == "outside":
        clause = f"all of {ends} are among {within}"
    return Phrase(f"{source} for which {clause}", is_list=True)


def of_domain(node: Node, path: tuple[str, ...]) -> TypeGuard[Domain]:
    """Whether a node is all that has the first relation of a path, which need not be said then."""
    return isinstance(node, Domain) and len(path) > 0 and node.relations == path[:1]


def _conditioned(speaker: Speaker, node: Node, one: bool) -> tuple[str, bool] | None:
    """A source as a noun with its conditions, ready for one more, and whether that is the first;
    None where it is no such."""
    if isinstance(node, Where) or (isinstance(node, Match) and _has_nouns(speaker, node)):
        return speaker.phrase(node, one=one).text, False
    if isinstance(node, Step) and (kind := all_of(speaker, node)):
        return (f"some {kind}" if one else f"all {plural(kind)}"), True
    if isinstance(node, Domain):
        return speaker.phrase(node, one=one).text, False
    if isinstance(node, Step) and not node.during:
        phrase = speaker.step(node, one, False, closed=True)
        return (phrase.text, False) if phrase.head else None
    return None


def _extreme(speaker: Speaker, node: Extreme, one: bool, chained: bool) -> Phrase:
    order = _order(speaker, node)
    number, many = f"{node.n} " * (node.n != 1), node.n != 1
    text = speaker.path(node.path)
    if not node.path:
        return Phrase(f"the {number}{order} of {speaker.within(node.source, closed=True).text}")
    by = f"with the {order} {text or 'of ' + speaker.ends(node.path)}"
    source = node.source
    if _in_order(source):  # whose "largest" is it?
        return Phrase(f"the {number or 'one '}of {speaker.bracketed(source).text} {by}")
    if of_domain(source, node.path):
        noun = noun_of(speaker, source, "{}")
        return Phrase(f"the {number}{plural(noun) if many else noun} {by} of all")
    if isinstance(source, Step) and (kind := all_of(speaker, source)):
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


def _in_order(node: Node) -> bool:
    """Whether a set ends in what stands first in an order, or in steps from that."""
    while isinstance(node, Step | Where):
        node = node.source
    return isinstance(node, Extreme)


def _order(speaker: Speaker, node: Extreme) -> str:
    if node.by == "count":
        return "most" if node.largest else "fewest"
    along = node.path or (node.source.relations if isinstance(node.source, Step) else ())
    return ORDERED[node.largest, speaker.dated(along)]


PHRASES: dict[type, Callable[[Speaker, Any, bool, bool], Phrase]] = {
    Entities: _entities,
    Domain: _domain,
    Step: _step,
    Intersection: _intersection,
    Union: _union,
    Difference: _difference,
    Where: _where,
    Match: _match,
    Quantifier: _quantifier,
    Extreme: _extreme,
}
