"""Invents a small graph that makes the meaning of some questions true."""

from __future__ import annotations

import dataclasses
import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

_SYLLABLE_LIST = "ba ko ri mel tan do vis lu pra ne sho gar fen qui zo hal mir tes ul ka ven dra"
_SYLLABLES = _SYLLABLE_LIST.split()
_TYPE_NAMES = ("type", "is_a", "instance of", "isA", "rdf:type")


@dataclasses.dataclass(frozen=True)
class Asked:
    """A question with its answers in a world: names, a number, or yes and no.

    Attributes:
        text: the question.
        answers: entity ids, or one number, "yes" or "no"; empty where the graph has none.
        relations: names of the relations it asks for.
        partly: whether a reading with most of the answers will do where none has them all.
    """

    text: str
    answers: frozenset[str]
    relations: frozenset[str] = frozenset()
    partly: bool = False


def invented_name(order: random.Random, words: int = 1) -> str:
    """A name that nothing has.

    >>> invented_name(random.Random(0))
    'Mirnedo'
    """
    parts = [
        "".join(order.choices(_SYLLABLES, k=order.randint(2, 3))).capitalize() for _ in range(words)
    ]
    return " ".join(parts)


class WorldMaker:
    """Makes a world of some questions.

    Args:
        seed: of names, edges and label style.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.triples: set[tuple[str, str, str]] = set()
        self.members: dict[str, list[str]] = defaultdict(list)
        self.class_names: dict[str, str] = {}
        self.ranges: dict[str, tuple[str, str]] = {}
        self.labels: dict[str, str] = {}
        self.scale: dict[str, float] = {}
        self.style = self.random.choice(["words", "words", "snake", "camel", "long"])
        self.type_name = self.random.choice(_TYPE_NAMES)
        self.typed = random.Random(seed + 1).random() < 0.7

    def name(self, words: int = 1) -> str:
        """An invented name."""
        return invented_name(self.random, words)

    def relation(self, id: str) -> str:
        """A relation as this world writes it."""
        label = self.labels[id]
        words = re.findall(r"\w+", label.lower())
        if self.style == "long":
            return id
        if self.style == "snake":
            return "_".join(words)
        if self.style == "camel":
            return words[0] + "".join(word.capitalize() for word in words[1:])
        return " ".join(words)

    def learn_schema(self, questions: Sequence[Mapping[str, Any]]) -> None:
        """Classes, relations and the size of numbers that the questions speak of."""
        for question in questions:
            nodes = {node["nid"]: node for node in question["nodes"]}
            for node in question["nodes"]:
                if node["node_type"] == "class":
                    self.class_names[node["id"]] = node["friendly_name"].lower()
            for _, id, label, end in question["edges"]:
                domain = ".".join(id.split(".")[:2])
                if domain != "dbo.Thing":
                    word = domain.split(".")[-1]
                    word = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", word)
                    self.class_names.setdefault(domain, word.replace("_", " ").lower())
                tail = nodes[end]
                kind = tail["id"] if tail["node_type"] in ("class", "any") else ""
                if tail["node_type"] == "literal":
                    kind = "date" if re.search(r"date|gYear", tail["id"]) else "number"
                    number = re.match(r"[\d.]+", tail["friendly_name"])
                    if kind == "number" and number and float(number[0]) > 0:
                        self.scale[id] = float(number[0])
                known = self.ranges.get(id, (domain, ""))
                self.ranges[id] = (domain, kind or known[1])
                self.labels[id] = label

    def populate(self) -> None:
        """Members of the classes, and edges at random between them."""
        kinds = [*self.class_names, *sorted({d for d, _ in self.ranges.values()})]
        for kind in dict.fromkeys(kinds):
            for _ in range(self.random.randint(3, 5)):
                self.add_member(kind, self.name(self.random.choice([1, 2])))
        for id, (domain, kind) in self.ranges.items():
            kind = kind or f"ends of {id}"
            if kind not in ("date", "number") and not self.members[kind]:
                for _ in range(3):
                    self.add_member(kind, self.name())
            for head in self.members[domain]:
                for _ in range(
                    self.random.choice([1, 1, 2]) if kind not in ("date", "number") else 1
                ):
                    self.add_edge(head, id, self.value(id, kind))

    def add_member(self, kind: str, name: str) -> None:
        """A member of a class; a kind without a name is no class, and some graphs have none."""
        if name not in self.members[kind]:
            self.members[kind].append(name)
        if kind in self.class_names and self.typed:
            self.triples.add((name, self.type_name, self.class_names[kind]))

    def add_edge(self, head: str, id: str, tail: str) -> None:
        """An edge, unless it would lead back to where it started."""
        if head != tail:
            self.triples.add((head, self.relation(id), tail))

    def value(self, id: str, kind: str) -> str:
        """An end for an edge, at random."""
        if kind == "date":
            month, day = self.random.randint(1, 12), self.random.randint(1, 28)
            return f"{self.random.randint(1850, 2023)}-{month:02d}-{day:02d}"
        if kind == "number":
            return f"{self.random.uniform(0.1, 3.0) * self.scale.get(id, 500.0):.4g}"
        return self.random.choice(self.members[kind])

    def plant(self, question: Mapping[str, Any]) -> None:
        """Make a question's meaning true of something."""
        nodes = {node["nid"]: node for node in question["nodes"]}
        place: dict[int, list[str]] = {}
        for nid, node in nodes.items():
            if node["node_type"] in ("class", "any"):
                some = self.members[node["id"] or self._any_kind(question, nid)]
                if not some:
                    some += [self.name(), self.name()]
                place[nid] = self.random.sample(some, min(len(some), self.random.randint(1, 2)))
            elif node["node_type"] == "entity":
                place[nid] = [node["friendly_name"]]
        for start, id, _, end in question["edges"]:
            domain, kind = self.ranges[id]
            for nid, of in ((start, domain), (end, kind or f"ends of {id}")):
                if nodes[nid]["node_type"] == "entity":
                    self.add_member(of, place[nid][0])
        if question.get("ask") and self.random.random() < 0.5:
            return
        for start, id, _, end in question["edges"]:
            if nodes[end]["node_type"] != "literal":
                for head in place[start]:
                    for tail in place[end]:
                        self.add_edge(head, id, tail)

    def _any_kind(self, question: Mapping[str, Any], nid: int) -> str:
        """The kind of a node of no class, by the first edge that it is at."""
        for start, id, _, end in question["edges"]:
            domain, kind = self.ranges[id]
            if nid == start:
                return domain
            if nid == end and kind not in ("date", "number"):
                return kind or f"ends of {id}"
        return "ends"

    def answers(self, question: Mapping[str, Any]) -> frozenset[str]:
        """What a question's meaning has as answers here."""
        nodes = {node["nid"]: node for node in question["nodes"]}
        everything = {end for head, _, tail in self.triples for end in (head, tail)}
        ahead: dict[tuple[str, str], set[str]] = defaultdict(set)
        behind: dict[tuple[str, str], set[str]] = defaultdict(set)
        for head, relation, tail in self.triples:
            ahead[head, relation].add(tail)
            behind[tail, relation].add(head)

        if question.get("ask"):
            start, id, _, end = question["edges"][0]
            names = nodes[start]["friendly_name"], nodes[end]["friendly_name"]
            return frozenset({"yes" if names[1] in ahead[names[0], self.relation(id)] else "no"})
        [root] = [nid for nid, node in nodes.items() if node["question_node"]]

        def satisfying(nid: int, came: int | None) -> set[str]:
            node = nodes[nid]
            if node["node_type"] == "entity":
                found = {node["friendly_name"]}
            elif node["node_type"] == "any":
                found = set(everything)
            else:
                found = set(self.members[node["id"]])
            extremes = []
            for place, (start, id, _, end) in enumerate(question["edges"]):
                if place == came or nid not in (start, end):
                    continue
                relation = self.relation(id)
                other = end if start == nid else start
                if nodes[other]["node_type"] == "literal":
                    extremes.append((relation, nodes[other]))
                    continue
                inner = satisfying(other, place)
                if start == nid:
                    found = {x for x in found if ahead[x, relation] & inner}
                else:
                    found = {x for x in found if behind[x, relation] & inner}
            # Where a variable meets what it came from, it is another one.
            for relation, literal in sorted(
                extremes, key=lambda e: e[1]["function"].startswith("arg")
            ):
                found = _kept(found, relation, literal, ahead)
            return found

        found = satisfying(root, None)
        if nodes[root]["function"] == "count":
            return frozenset({str(len(found))}) if found else frozenset()
        return frozenset(found)


def _kept(
    found: set[str],
    relation: str,
    literal: Mapping[str, Any],
    ahead: Mapping[tuple[str, str], set[str]],
) -> set[str]:
    """What of a set satisfies a literal's function."""
    values = {x: min(ahead[x, relation], key=number_in) for x in found if ahead[x, relation]}
    if not values:
        return set()
    function = literal["function"]
    if function in ("argmax", "argmin"):
        pick = max if function == "argmax" else min
        top = pick(map(number_in, values.values()))
        return {x for x, value in values.items() if number_in(value) == top}
    bound = number_in(literal["friendly_name"])
    tests = {
        "<": lambda v: v < bound,
        "<=": lambda v: v <= bound,
        ">": lambda v: v > bound,
        ">=": lambda v: v >= bound,
        "none": lambda v: v == bound,
    }
    return {x for x, value in values.items() if tests[function](number_in(value))}


def number_in(text: str) -> float:
    """The number that a text begins with; a date as years."""
    date = re.match(r"(\d{4})-(\d\d)(?:-(\d\d))?", text)
    if date:
        return int(date[1]) + (int(date[2]) - 1) / 12 + (int(date[3] or 1) - 1) / 372
    number = re.match(r"[-\d.e+]+", text)
    return float(number[0]) if number else 0.0
