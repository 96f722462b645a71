"""What a graph calls its relations, classes and entities in a plain sentence; no two alike."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.queries.columns import are_counts, looks_like, of_quantity
from jaxkg.kg.queries.literals import literal
from jaxkg.limits import shortened
from jaxkg.words import PLURALS, is_name, one_line, relation_words, singular

TYPE_LABELS = frozenset(
    {"type", "rdf type", "is a", "isa", "a", "instance of", "class", "ist ein", "ist eine"}
)
"""Labels of relations that lead to classes."""

_PREPOSITIONS = frozenset(
    ("about", "after", "at", "before", "by", "for", "from", "in", "into", "of", "on", "onto")
    + ("over", "to", "with")
)
_MANY = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go"}
_SUPERLATIVE = "(?:largest|smallest|latest|earliest|most|fewest)"
_AFTER = re.compile(
    rf" (?:or|except|whose|that|where|over|is|are|and (?:whose|that|with|where)|"
    rf"with (?:the {_SUPERLATIVE}|at|exactly|more|fewer|other)|"
    r"(?:more|less|other|no \w+) than|at (?:least|most)|before|after|within|the same as)(?: |$)"
)
"""What may follow a name or a label in a sentence."""
_BEFORE = re.compile(
    r"(?:the|its|their|an?|any|all|every\w*|anything|some\w*|things?|what|either|another|other|it|"
    r"nothing|how|are|is|in|not|exactly|just|more|less|before|after|no|at|true|false|of|by|"
    r"backwards)(?: |$)"
)
"""What a name that stands bare does not begin with."""
_BEFORE_LABEL = re.compile(
    rf"(?:(?:one|sum|average|number|{_SUPERLATIVE})$|"
    r"(?:direct|same,|the|other|else|of|backwards|something|\d+)(?: |$))"
)
"""The same of a label."""
_JOINTS = re.compile(r"(?= (?:of|is|to)(?: |$)|'s )")
"""Where a label that goes on may be taken for a shorter one."""
_CLASS = re.compile(r"[^\W_]+(?:[ -][^\W_]+)*")
_FUNCTION_WORDS = frozenset(
    ("a", "all", "also", "an", "and", "any", "are", "at", "by", "every", "except", "has", "have")
    + ("in", "is", "it", "not", "of", "one", "or", "other", "over", "some", "something", "that")
    + ("the", "things", "thing", "to", "what", "where", "whose", "with")
)
_MARKS = str.maketrans('"[];', "'(),")
_PREFIX = re.compile(r"([^\W\d]{3,})[/:#](?!/)")
_T = TypeVar("_T")
_Names = ParamSpec("_Names")
_SAMPLE, _HEADS, _MOST = 40, 200, 0.9
_ALIKE, _FACTS = 50, 6


class Label(NamedTuple):
    """A relation in words.

    Attributes:
        text: what it is called.
        verb: one that an entity joins to another ("directed by"), with "is" where it needs that;
            "" of a noun ("director").
        verbs: the same of many.
    """

    text: str
    verb: str = ""
    verbs: str = ""


def quoted(text: str) -> str:
    """Text in quotation marks.

    >>> quoted('the "A"')
    '"the ""A\"""'
    """
    return '"' + text.replace('"', '""') + '"'


def bare(text: str, before: re.Pattern[str] = _BEFORE) -> str:
    """Text, in quotation marks where it could be taken for words of the sentence.

    Args:
        text: a name or a label.
        before: what it must not begin with to stand bare.

    >>> bare("Alien"), bare("Gone with the Wind"), bare("Dead or Alive")
    ('Alien', 'Gone with the Wind', '"Dead or Alive"')
    """
    risky = _AFTER.search(text) or before.match(text) or any(mark in text for mark in '"[];')
    return quoted(text) if risky or text != text.strip() or text.endswith("?") else text


def article(noun: str) -> str:
    """A noun with its indefinite article.

    >>> article("city"), article("area")
    ('a city', 'an area')
    """
    return f"{'an' if noun[:1].lower() in tuple('aeiou') else 'a'} {noun}"


def plural(noun: str) -> str:
    """A noun in the plural, near enough.

    >>> plural("city"), plural("film"), plural("church"), plural("television series")
    ('cities', 'films', 'churches', 'television series')
    """
    before, blank, last = noun.rpartition(" ")
    if last in PLURALS:
        return before + blank + PLURALS[last]
    if last.endswith("y") and last[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if last.endswith(("s", "x", "ch", "sh", "z")) else "s")


def _of_relations(
    rule: Callable[Concatenate[GraphWords, _Names], _T],
) -> Callable[Concatenate[GraphWords, _Names], _T]:
    """A rule of what relations are, asked once of each; a part of a larger graph asks a sample of
    that, whose facts tell more."""

    @functools.wraps(rule)
    def once(words: GraphWords, *relations: _Names.args, **none: _Names.kwargs) -> _T:
        names = {str(name).removeprefix("^") for name in relations}
        wider = words._wider
        telling = wider if wider is not None and names <= wider._relations else words
        key = (rule.__name__, *map(str, relations))
        if key not in telling._known:
            telling._known[key] = rule(telling, *relations, **none)
        return telling._known[key]

    return once


class GraphWords:
    """The words of one graph, looked up once each.

    Args:
        kg: the graph.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        sample = getattr(kg, "sample", None)
        self._wider = None if sample is None else graph_words(sample)
        self._relations = frozenset(kg.relations)
        self._known: dict[tuple[str, ...], Any] = {}
        self._names: dict[str, str] = {}

    # Relations

    @_of_relations
    def label(self, relation: str) -> Label:
        """A relation in words, whichever way it is walked."""
        name = relation.removeprefix("^")
        code = self.kg.relation_code(name)
        text = self._plain[code]
        if self._bearers[text] > 1:
            return Label(quoted(f"{text} ({one_line(name)})"))
        shorter = any(text[: at.start()] in self._bearers for at in _JOINTS.finditer(text))
        if shorter or bare(text, _BEFORE_LABEL) != text:
            return Label(quoted(text))
        first, _, rest = text.partition(" ")
        is_said = first in ("is", "was") and rest
        joins = text.rpartition(" ")[2].lower() in _PREPOSITIONS and first != "also"
        if not (is_said or joins):
            return Label(text)
        if rest and first.endswith("s") and not first.endswith(("ss", "us")):
            many = _MANY.get(first) or singular(first)
            return Label(text, text, f"{many} {rest}")
        return Label(text, f"is {text}", f"are {text}")

    @functools.cached_property
    def _plain(self) -> list[str]:
        texts = (one_line(label).strip() for label in self.kg.relation_labels)
        return [self._noun(text) or "?" for text in texts]

    def _noun(self, text: str) -> str:
        """ "genre" of "has genre"; a verb such as "has worked with" stays."""
        if text.lower().startswith("has ") and text.rpartition(" ")[2] not in _PREPOSITIONS:
            return text[4:].strip()
        return text

    @functools.cached_property
    def _bearers(self) -> Counter[str]:
        return Counter(self._plain)

    # Entities

    def name(self, entity: str) -> str:
        """An entity by its label, with its class or id beside one that others bear too."""
        if entity not in self._names:
            self._names[entity] = self._name(entity)
        return self._names[entity]

    def _name(self, entity: str) -> str:
        kg, row = self.kg, self.kg.entity(entity)
        raw = kg.name(row)
        name = one_line(shortened(raw))
        if not is_name(raw) and (told := self._described(row)):
            return f"an entry ({told})"
        others = kg.entity_names.rows(raw)
        if len(others) > 1:
            classes = [self.class_of(other) for other in others[:_ALIKE]]
            own = self.class_of(row) if len(others) <= _ALIKE else ""
            beside = own if own and classes.count(own) == 1 else one_line(entity)
            name = f"{name} ({beside})"
            if kg.entity_names.rows(name):
                name = f"{name} ({one_line(entity)})"
        # As what something is, it must not read as how it is joined to something else.
        return quoted(name) if name.startswith(self._verbs) else bare(name)

    @functools.cached_property
    def _verbs(self) -> tuple[str, ...]:
        labels = [self.label(name) for name in self.kg.relations]
        return tuple(
            f"{text.removeprefix('is ').removeprefix('are ')} "
            for label in labels
            if label.verb
            for text in (label.verb, label.verbs)
        )

    def _described(self, row: int) -> str:
        """The named neighbours of a node without a name; its id, too, where others have these."""
        triples, told, alike = self.kg.triples, [], None
        into = np.flatnonzero(triples[:, 2] == row)
        for place in [*self._rows_of(row), *into.tolist()]:
            head, code, tail = triples[place].tolist()
            other, column = (tail, 0) if head == row else (head, 2)
            if not self.kg.has_name(other):
                continue
            of = f"{self._plain[code]}{':' if column == 0 else ' of'} "
            told.append(of + one_line(shortened(self.kg.name(other))))
            facts = np.asarray(triples[self._places(code)])
            same = facts[facts[:, 2 - column] == other][:, column]
            alike = same if alike is None else np.intersect1d(alike, same)
            if len(told) == _FACTS:
                told.append("…")
                break
        unnamed = [] if alike is None else [r for r in alike.tolist() if not self.kg.has_name(r)]
        if len(unnamed) > 1:
            told.append(f"id: {one_line(self.kg.entity_ids[row])}")
        return ", ".join(told).translate(_MARKS)

    def _rows_of(self, row: int) -> range:
        heads = self.kg.triples[:, 0]
        low, high = np.searchsorted(heads, [row, row + 1]).tolist()
        return range(low, high)

    # Classes

    @functools.cached_property
    def type_codes(self) -> frozenset[int]:
        """Codes of the relations that lead to classes."""
        return frozenset(
            code
            for code, name in enumerate(self.kg.relations)
            if name.endswith("#type") or self.kg.relation_labels[code].lower() in TYPE_LABELS
        )

    @functools.cached_property
    def _classes_called(self) -> Counter[str]:
        """How many classes each noun stands for."""
        tails = [self.kg.triples[self._places(code)][:, 2] for code in self.type_codes]
        kinds = np.unique(np.concatenate([np.empty(0, np.int32), *tails]))
        return Counter(map(self.class_noun, kinds.tolist()))

    @functools.cached_property
    def _type_codes_of(self) -> dict[int, int]:
        """The relation that leads to each class most often, of several that lead to classes."""
        codes: dict[int, int] = {}
        facts: Counter[int] = Counter()
        for code in sorted(self.type_codes) if len(self.type_codes) > 1 else ():
            kinds, counts = np.unique(self.kg.triples[self._places(code)][:, 2], return_counts=True)
            for kind, count in zip(kinds.tolist(), counts.tolist()):
                if count > facts[kind]:
                    codes[kind], facts[kind] = code, count
        return codes

    def class_told(self, relation: str, kind: str) -> str:
        """The noun for all of a class, by an inverse type relation and the class's id; "" where
        there is another relation or class that it could be."""
        code, row = self.kg.relation_code(relation) - self.kg.num_relations, self.kg.entity(kind)
        if code not in self.type_codes or self._type_codes_of.get(row, code) != code:
            return ""
        noun = self.class_noun(row)
        called = self._classes_called[noun]
        if not called:  # a class of classes alone
            called = len(self.kg.entity_names.rows(self.kg.name(row)))
        return noun if called == 1 else ""

    def class_noun(self, kind: int) -> str:
        """A class as a noun in the singular, also where a table's name calls it by the plural; ""
        where its name is none."""
        words = relation_words(self.kg.name(kind))
        if not words.isupper():
            before, space, last = words.lower().rpartition(" ")
            words = before + space + singular(last)
        fits = _CLASS.fullmatch(words) and not _FUNCTION_WORDS.intersection(words.split())
        return words if fits and not words[:1].isdigit() else ""

    def classes_of(self, row: int) -> tuple[int, ...]:
        """The classes of an entity that facts say."""
        triples = self.kg.triples
        rows = (triples[place] for place in self._rows_of(row)) if self.type_codes else ()
        return tuple(int(t) for _, r, t in rows if int(r) in self.type_codes)

    def class_of(self, row: int) -> str:
        """The class of an entity as a noun, from its facts or its id; "" where neither says it."""
        for kind in self.classes_of(row):
            if noun := self.class_noun(kind):
                return noun
        return self._prefix(self.kg.entity_ids[row])

    def _prefix(self, entity: str) -> str:
        found = _PREFIX.match(entity) if self._prefixed else None
        return relation_words(found[1]) if found else ""

    @functools.cached_property
    def _prefixed(self) -> bool:
        """Whether ids begin with the word of a class, of which there are several: "city/austin"."""
        ids, triples = self.kg.entity_ids, self.kg.triples
        places = np.unique(np.linspace(0, len(triples) - 1, _HEADS).astype(int)).tolist()
        found = [_PREFIX.match(ids[int(triples[place][0])]) for place in places]
        words = {match[1] for match in found if match}
        return len(words) > 1 and 2 * sum(map(bool, found)) > len(found)

    @functools.cached_property
    def _by_relation(self) -> tuple[np.ndarray, np.ndarray]:
        column = np.asarray(self.kg.triples)[:, 1]
        small = column.astype(np.uint16) if self.kg.num_relations < 1 << 16 else column
        order = np.argsort(small, kind="stable")
        counts = np.bincount(column, minlength=self.kg.num_relations)
        return order, np.concatenate([[0], np.cumsum(counts)])

    def _places(self, code: int) -> np.ndarray:
        """Rows of the facts of a relation."""
        order, first = self._by_relation
        return order[first[code] : first[code + 1]]

    def _sample(self, code: int, column: int) -> list[int]:
        order, first = self._by_relation
        low, high = int(first[code]), int(first[code + 1])
        places = order[np.unique(np.linspace(low, high - 1, _SAMPLE).astype(int))]
        return np.asarray(self.kg.triples[places])[:, column].tolist()

    @_of_relations
    def leads_to(self, relation: str) -> str:
        """What a relation leads to as a noun in the singular; "" where that is not known."""
        inverse, code = divmod(self.kg.relation_code(relation), self.kg.num_relations)
        if code in self.type_codes:
            return ""
        rows = self._sample(code, 0 if inverse else 2)
        if self.type_codes:
            counts = Counter(kind for row in set(rows) for kind in set(self.classes_of(row)))
            for kind, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
                if count < _MOST * len(set(rows)):
                    break
                if noun := self.class_noun(kind):
                    return noun
        nouns = {self._prefix(self.kg.entity_ids[row]) for row in rows}
        if len(nouns) == 1 and (noun := nouns.pop()):
            return noun
        name = self.kg.relations[code]
        parts = [part for part in re.split(r"[./]", name) if part]
        if inverse and len(parts) == 3 and "://" not in name:
            noun = relation_words(parts[1])
            return noun if _CLASS.fullmatch(noun) else ""
        return ""

    @_of_relations
    def meets(self, first: str, last: str) -> bool:
        """Whether anything that the first relation leaves is what the last one leads to."""
        left = np.zeros(self.kg.num_entities, bool)
        left[self._ends(first, 0)] = True
        return bool(left[self._ends(last, 2)].any())

    @_of_relations
    def loops(self, relation: str) -> bool:
        """Whether a relation leads from anything to itself."""
        return bool((self._ends(relation, 0) == self._ends(relation, 2)).any())

    def _ends(self, name: str, column: int) -> np.ndarray:
        """The entities at one end of a relation, 0 where it leaves, 2 where it leads to."""
        inverse, relation = divmod(self.kg.relation_code(name), self.kg.num_relations)
        return np.asarray(self.kg.triples[self._places(relation)])[
            :, 2 - column if inverse else column
        ]

    @_of_relations
    def kind(self, relation: str) -> str:
        """ "date" where a relation leads to dates, else ""."""
        if relation.startswith("^"):
            return ""
        kg, code = self.kg, self.kg.relation_code(relation)
        rows = sorted(set(self._sample(code, 2)))
        typed = [found for row in rows if (found := literal(kg.entity_ids[row])) is not None]
        dates = sum("#date" in found.datatype or "#gYear" in found.datatype for found in typed)
        if typed and dates == len(typed) == len(rows):
            return "date"
        years = all(kg.name(row).strip().isdigit() for row in rows)
        if years and any(map(of_quantity, (kg.relations[code], kg.relation_labels[code]))):
            return ""
        if years and are_counts(kg.relation_labels[code], [kg.name(row) for row in rows]):
            return ""
        return "date" if not typed and looks_like("date", kg.name, rows, 0) else ""


@functools.lru_cache(maxsize=3)
def graph_words(kg: KnowledgeGraph) -> GraphWords:
    """The words of a graph, the same object while it is asked for."""
    return GraphWords(kg)
