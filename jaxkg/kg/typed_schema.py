"""The schema as typed relations, `(City)-[in state]->(State)`, cut down to what a question needs.

A relation's end is told by the class that most of its entities have: that of a type relation, else
the word that their ids begin with (`city/austin`), else the type in the names of the relations that
they have (`people.person.nationality`), else "number" or "date". Where nothing says a class, a name
stands for it: `(Heat)-[directed by]->(Michael Mann)`. An id that no reader knows is never shown.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from jaxkg.cached import cached_method
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.mapping import SORTS
from jaxkg.kg.neighbourhood import distinct
from jaxkg.kg.queries.columns import looks

_PREFIX = re.compile(r"([^\W\d_][^\W\d]{2,30})[/:#|](?=\S)")
_SCHEMES = frozenset(["http", "https", "urn", "mailto", "file", "ftp", "tel", "doi"])
_CLASSES = 64
_SHARE = 0.9
"""Share of the things with facts of their own whose ids must say a class."""
_SAMPLE_id = 1_000
"""Heads that are looked at before all of them are."""
RELATION, _SORTED = "type", "is a"


def id_classes(kg: KnowledgeGraph) -> dict[str, str]:
    """Return the class of each entity whose id begins with one.

    Ids say classes where nine of ten heads of facts have an id of a word, a mark and the rest, two
    to 64 words do so, each of at least two things, and no relation is called "type" or "is a" yet.

    Returns:
        class by entity id; {} where ids do not say classes.

    >>> facts = [("city/austin", "in", "state/texas"), ("city/waco", "in", "state/texas"),
    ...          ("state/texas", "borders", "state/ohio"), ("state/ohio", "area", "5")]
    >>> id_classes(KnowledgeGraph.from_triples(facts))["city/waco"]
    'city'
    """
    if not kg.num_triples or any(name.lower() in (RELATION, _SORTED) for name in kg.relations):
        return {}
    heads = np.unique(np.asarray(kg.triples)[:, 0]).tolist()
    sample = heads[:: max(1, len(heads) // _SAMPLE_id)]
    if sum(_PREFIX.match(kg.entity_ids[row]) is not None for row in sample) < len(sample) / 2:
        return {}
    rows = {row: match[1] for row in heads if (match := _PREFIX.match(kg.entity_ids[row]))}
    counts = Counter(rows.values())
    if len(rows) < _SHARE * len(heads) or not 2 <= len(counts) <= _CLASSES:
        return {}
    if min(counts.values()) < 2 or _SCHEMES & {word.lower() for word in counts}:
        return {}
    tails = np.unique(np.asarray(kg.triples)[:, 2]).tolist()
    for row in tails:
        match = _PREFIX.match(kg.entity_ids[row])
        if match and match[1] in counts:
            rows[row] = match[1]
    return {kg.entity_ids[row]: word for row, word in rows.items()}


def with_id_classes(kg: KnowledgeGraph) -> tuple[KnowledgeGraph, tuple[str, ...]]:
    """Return a graph with a "type" fact for each class that its ids say, and these classes.

    >>> with_id_classes(KnowledgeGraph.from_triples([("a", "r", "b")]))[1]
    ()
    """
    classes = id_classes(kg)
    if not classes:
        return kg, ()
    facts = [(entity, RELATION, word) for entity, word in classes.items()]
    lines = None if kg.provenance is None else ["said by its id"] * len(facts)
    return kg.add(facts, provenance=lines), tuple(sorted(set(classes.values())))


Encode: TypeAlias = Callable[[Sequence[str]], np.ndarray]
"""Texts to [Q, D] vectors of length 1."""
DIGITS = 4
"""Decimals of a likeness that puts what a model is shown in order: more of them differ from one
processor to another, and with them the prompt."""
MOST = 40
"""Relations of a projection."""
MOST_TOKENS = 600
"""Tokens of a projection's lines, at four letters each."""
_SAMPLE = 60
_LONGEST = 20
_FREQUENT, _NEAR_TOPIC, _BEHIND_TOPIC, _LIFT = 0.4, 0.3, 0.2, 0.9
"""Chosen on training questions of WebQSP and development questions of CWQ."""
_TYPE = re.compile(r"(?:^|[#/.:])(?:type|instance of)$", re.IGNORECASE)
_YEAR = re.compile(r"[12]\d{3}")
_UNKNOWN = "record"


class TypedSchema:
    """The relations of a graph with the classes at their ends.

    Example:
        >>> kg = KnowledgeGraph.from_triples([
        ...     ("Austin", "in_state", "Texas"), ("Texas", "area", "266807"),
        ...     ("Austin", "type", "City"), ("Texas", "type", "State")])
        >>> TypedSchema(kg).line(0), TypedSchema(kg).line(1)
        ('(State)-[area]->(number)', '(City)-[in state]->(State)')
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """How each relation is called: its label, or its own name where several share that.

        Of a dotted name the last two parts are enough where nothing else ends in them.
        """
        ways = [
            (label, ".".join(name.split(".")[-2:]), name)
            for label, name in zip(self.kg.relation_labels, self.kg.relations)
        ]
        shared = Counter(way.casefold() for some in ways for way in dict.fromkeys(some))
        return tuple(
            next((way for way in some if shared[way.casefold()] == 1), some[-1]) for some in ways
        )

    def told(self, code: int) -> str:
        """A relation code by that name, `^name` from R on."""
        inverse, relation = divmod(code, self.kg.num_relations)
        return "^" * inverse + self.names[relation]

    def line(self, relation: int) -> str:
        """One typed relation, in the graph's own direction."""
        head, tail = self.end(relation, 0), self.end(relation, 2)
        return f"({head})-[{self.names[relation]}]->({tail})"

    def end(self, relation: int, column: int) -> str:
        """What stands at one end of a relation: a class, a kind of value, or a name.

        Args:
            relation: below R.
            column: 0 for what it leaves, 2 for what it leads to.
        """
        return self._end((relation, column))

    def class_of(self, nodes: Iterable[int]) -> str:
        """The class that most of these entities have, or the kind of value; "" where none has."""
        nodes = list(nodes)
        told = Counter(filter(None, map(self._class, nodes)))
        best = told.most_common(1)
        if best and 2 * best[0][1] >= len(nodes):
            return best[0][0]
        texts = [self.kg.name(node) for node in nodes if not self.headed[node]]
        years = sum(bool(_YEAR.fullmatch(text)) for text in texts)
        for kind in ("number", "date"):
            if texts and 2 * sum(looks(kind, text) for text in texts) > len(nodes):
                return "date" if 2 * years > len(texts) else kind
        return ""

    def shown(self, node: int) -> str:
        """An entity's name, cut where it is long; "record" where it has none."""
        if not self.kg.has_name(node):
            return _UNKNOWN
        name = self.kg.name(node)
        return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"

    @functools.cached_property
    def classes(self) -> dict[str, tuple[str, ...]]:
        """Relation names by the class that all of their ends have, `^name` for what they lead to.

        What can be started from where a question names no entity: "all cities".
        """
        found: dict[str, list[str]] = {}
        for relation, name in enumerate(self.kg.relations):
            for column, sign in ((0, ""), (2, "^")):
                nodes = self._sample(relation, column)
                told = set(map(self._class, nodes))
                if len(told) == 1 and (only := told.pop()) and relation not in self.types:
                    found.setdefault(only, []).append(sign + name)
        return {name: tuple(relations) for name, relations in found.items()}

    def projected(
        self,
        text: str,
        starts: Sequence[int],
        encode: Encode | None,
        *,
        most: int = MOST,
        most_tokens: int = MOST_TOKENS,
    ) -> tuple[int, ...]:
        """The relations that a question most likely needs, likeliest first.

        A relation is likely where its words are like the question's, where many facts have it, and
        where it lies at a topic or right behind what lies there.

        Args:
            text: the question, without the topic's name.
            starts: topic entities.
            encode: texts to [Q, D] vectors of length 1; None leaves words out of account.
            most: relations at most.
            most_tokens: tokens of their lines at most, as estimated.

        Returns:
            Relations below R; all, in their own order, where there are few enough.
        """
        count = self.kg.num_relations
        order = range(count)
        if count > most:
            order = self._by_nearness(text, starts, encode)[:most]
        left, found = most_tokens, []
        for relation in order:
            left -= -(-(len(self.line(relation)) + 1) // 4)
            if left < 0:
                break
            found.append(relation)
        return tuple(found)

    def likeness(self, text: str, encode: Encode | None) -> np.ndarray:
        """[R] how like the question the words of each relation are; 0 without an encoder."""
        if encode is None:
            return np.zeros(self.kg.num_relations)
        return (self.vectors(encode) @ np.asarray(encode([text]))[0]).round(DIGITS)

    def _by_nearness(self, text: str, starts: Sequence[int], encode: Encode | None) -> list[int]:
        near = self.likeness(text, encode) + self._frequent
        onwards = self._around(starts)
        # The way to a relation is needed too: what leads on to a near one is nearly as near.
        rank = near.copy()
        for relation, beyond in onwards.items():
            if beyond:
                rank[relation] = max(near[relation], _LIFT * near[beyond].max())
        close = np.zeros(len(near))
        for beyond in onwards.values():
            close[beyond] = _BEHIND_TOPIC
        close[list(onwards)] = _NEAR_TOPIC
        return np.lexsort((np.arange(len(near)), -(rank + close))).tolist()

    @functools.cached_property
    def _frequent(self) -> np.ndarray:
        count = [len(self.kg.rows_of(code)) for code in range(self.kg.num_relations)]
        logs = np.log1p(count)
        return _FREQUENT * logs / logs.max()

    def _around(self, starts: Sequence[int]) -> dict[int, list[int]]:
        """Relations at the topics, and with each those at what it leads to."""
        triples = self.kg.triples
        own = np.concatenate([np.flatnonzero(np.isin(triples[:, c], starts)) for c in (0, 2)])
        onwards = {}
        for relation in np.unique(triples[own, 1]).tolist():
            rows = own[triples[own, 1] == relation]
            ends = np.setdiff1d(triples[rows][:, ::2], starts)[:_SAMPLE]
            beyond = np.isin(triples[:, 0], ends) | np.isin(triples[:, 2], ends)
            onwards[relation] = np.unique(triples[beyond, 1]).tolist()
        return onwards

    def vectors(self, encode: Encode) -> np.ndarray:
        """[R, D] of the relations' words."""
        if getattr(self, "_encoded", (None,))[0] is not encode:
            labels = np.asarray(encode([*self.kg.relation_labels]))
            names = [re.sub(r"[._]+", " ", name) for name in self.kg.relations]
            self._encoded = encode, (labels + np.asarray(encode(names))) / 2
        return self._encoded[1]

    @cached_method
    def _end(self, place: tuple[int, int]) -> str:
        relation, column = place
        if relation in self.types and column == 2:
            return "class"
        nodes = self._sample(relation, column)
        if told := self.class_of(nodes):
            return told
        named = (node for node in nodes if self.kg.has_name(node))
        return self.shown(next(named, nodes[0]))

    def _sample(self, relation: int, column: int) -> list[int]:
        nodes = distinct(self.kg.triples[self.kg.rows_of(relation), column])
        return nodes[:: max(1, len(nodes) // _SAMPLE)][:_SAMPLE].tolist()

    @cached_method
    def _class(self, node: int) -> str:
        low, high = np.searchsorted(self.kg.triples[:, 0], [node, node + 1])
        own = self.kg.triples[low:high]
        for relation, end in own[:, 1:].tolist():
            if relation in self.types:
                return self.kg.name(end)
        if self.by_id and (told := self.by_id.get(self.kg.entity_ids[node])):
            return told
        dotted = Counter(
            parts[-2]
            for relation in own[:, 1].tolist()
            if len(parts := self.kg.relations[relation].split(".")) == 3
        )
        return dotted.most_common(1)[0][0].replace("_", " ") if dotted else ""

    @functools.cached_property
    def by_id(self) -> dict[str, str]:
        """Class of each entity whose id says one."""
        return id_classes(self.kg)

    @functools.cached_property
    def types(self) -> frozenset[int]:
        """Relations that lead to classes, by their names or by their labels: "is a"."""
        named = zip(self.kg.relations, self.kg.relation_labels)
        return frozenset(
            code
            for code, (name, label) in enumerate(named)
            if _TYPE.search(name) or label.casefold() in SORTS
        )

    @functools.cached_property
    def headed(self) -> np.ndarray:
        """[N] bool, which entities have facts of their own."""
        return np.bincount(self.kg.triples[:, 0], minlength=self.kg.num_entities) > 0
