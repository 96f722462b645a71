"""Questions of one to three steps in everyday words, about invented graphs of everyday domains.

Question sets about large graphs name a relation by the words of its label for the most part, and
seldom chain three. Here a relation has several names, verbs that say the same, and labels that
differ from all of these, and the graphs have classes or none. No domain is a benchmark's films.
"""

from __future__ import annotations

import dataclasses
import functools
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from jaxkg.kg import KnowledgeGraph
from training.maker import Asked, invented_name


@dataclasses.dataclass(frozen=True)
class Spoken:
    """A relation and how people speak of it.

    Attributes:
        heads, tails: kinds of its ends.
        labels: what a graph may call it; "^" where the graph has it the other way round.
        nouns: what the tail is to the head.
        done: (past, base) of the verb the tail does to the head: ("wrote", "write").
        verb: the verb the head does to the tail: "lives in".
        asked: whole questions; "@" stands for the head.
        grades: of values, (comparative, superlative, whether it has the largest) of the head.
    """

    heads: str
    tails: str
    labels: tuple[str, ...]
    nouns: tuple[str, ...]
    done: tuple[str, str] = ("", "")
    passive: str = ""
    verb: str = ""
    asked: tuple[str, ...] = ()
    grades: tuple[tuple[str, str, bool], ...] = ()


@functools.cache
def domains() -> dict[str, tuple[Spoken, ...]]:
    """Relations by domain, from `spoken.txt`, which tells its own form.

    >>> "kin" in domains()
    True
    """
    text = Path(__file__).with_name("spoken.txt").read_text(encoding="utf-8")
    blocks = [block.strip().split("]", 1) for block in text.split("\n[")[1:]]
    return {name: tuple(_relations(lines)) for name, lines in blocks}


def _relations(lines: str) -> list[Spoken]:
    found = []
    for line in lines.strip().splitlines():
        parts = [part.strip() for part in line.split("|")]
        ends, labels, nouns, done, passive, verb, asked = parts[:7]
        grades = [grade.split() for grade in (parts[7:] or [""])[0].split(",") if grade.strip()]
        heads, tails = ends.split(">")
        past, _, base = done.partition("/")
        called, said = (tuple(map(str.strip, some.split(","))) for some in (labels, nouns))
        questions = tuple(q.strip() for q in asked.split(";") if q.strip())
        how = tuple((more, most, sign == "+") for _, more, most, sign in grades)
        found.append(
            Spoken(heads, tails, called, said, (past, base), passive, verb, questions, how)
        )
    return found


class SpokenWorld:
    """An invented graph of one or two domains.

    Args:
        seed: of all that is invented.
        size: members of a kind.
    """

    def __init__(self, seed: int, size: int = 7) -> None:
        self.random = order = random.Random(seed)
        names = order.sample(sorted(domains()), 2)
        relations = [r for name in names for r in domains()[name]]
        order.shuffle(relations)
        self.relations = relations[: order.randint(7, 14)]
        style = order.choice(["words", "snake", "camel", "has", "long"])
        self.label: dict[Spoken, str] = {}
        self.members: dict[str, list[str]] = defaultdict(list)
        self.triples: set[tuple[str, str, str]] = set()
        self.facts: dict[Spoken, set[tuple[str, str]]] = {}
        for relation in self.relations:
            self.label[relation] = _styled(order.choice(relation.labels), style, relation, order)
            for kind in (relation.heads, relation.tails):
                while len(self.members[kind]) < size:
                    self.members[kind].append(self._named(kind))
            self.facts[relation] = self._invent(relation)
        self.typed = order.random() < 0.5
        if self.typed:
            for kind, some in self.members.items():
                if kind not in ("date", "number"):
                    self.triples |= {(name, "type", kind) for name in some}

    def _named(self, kind: str) -> str:
        if kind == "date":
            return str(self.random.randint(1900, 2020))
        if kind == "number":
            return str(self.random.randint(2, 4000))
        return invented_name(self.random, self.random.choice([1, 2]))

    def _invent(self, relation: Spoken) -> set[tuple[str, str]]:
        order, found = self.random, set()
        label = self.label[relation]
        for head in self.members[relation.heads]:
            if order.random() < 0.1:
                continue
            valued = relation.tails in ("date", "number")
            for tail in order.sample(
                self.members[relation.tails], 1 if valued else order.choice([1, 1, 2])
            ):
                if tail != head:
                    found.add((head, tail))
                    back = label.startswith("^")
                    ends = (tail, head) if back else (head, tail)
                    self.triples.add((ends[0], label.removeprefix("^"), ends[1]))
        return found

    def asked(self, count: int) -> list[Asked]:
        """Questions about it, at most so many."""
        made = (self._ask() for _ in range(3 * count))
        return [one for one in made if one is not None][:count]

    def _ask(self) -> Asked | None:
        order = self.random
        hops = order.choice([1, 1, 2, 2, 3, 3])
        kind = order.choice(sorted(k for k in self.members if k not in ("date", "number")))
        start = order.choice(self.members[kind])
        words, nodes, walked = start, {start}, 0
        used: list[str] = []
        last: tuple[Spoken, str] | None = None
        while walked < hops:
            options = self._options(kind, last, hops - walked)
            if not options:
                return None
            relation, way = order.choice(options)
            before, nodes = words, self.walk(relation, way, nodes) - {start}
            walked += 2 if way == "same" else 1
            final = walked >= hops
            words = (self.question if final else self._phrase)(relation, way, before)
            used.append(self.label[relation].removeprefix("^"))
            kind = relation.tails if way == "ahead" else relation.heads
            last = (relation, way)
        if not nodes or len(nodes) > 20:
            return None
        text = words if order.random() < 0.7 else words.lower()
        return Asked(text, frozenset(nodes), frozenset(used))

    def _options(
        self, kind: str, last: tuple[Spoken, str] | None, left: int
    ) -> list[tuple[Spoken, str]]:
        found = []
        for relation in self.relations:
            valued = relation.tails in ("date", "number")
            if relation.heads == kind and not (last and last[0] is relation and last[1] != "ahead"):
                found.append((relation, "ahead"))
                if left >= 2 and not valued and not last:
                    found.append((relation, "same"))
            if relation.tails == kind and not (last and last[0] is relation and last[1] != "back"):
                found.append((relation, "back"))
        return [
            o for o in found if left == 1 or o[0].tails not in ("date", "number") or o[1] != "ahead"
        ]

    def walk(self, relation: Spoken, way: str, nodes: set[str]) -> set[str]:
        """What a step leads to: "ahead", "back", or to what shares its end, "same"."""
        facts = self.facts[relation]
        if way == "back":
            return {h for h, t in facts if t in nodes}
        ends = {t for h, t in facts if h in nodes}
        return ends if way == "ahead" else {h for h, t in facts if t in ends} - nodes

    def question(self, relation: Spoken, way: str, words: str) -> str:
        """A question for what a step leads to from something in words; see `walk`."""
        order = self.random
        noun, (past, base) = order.choice(relation.nouns), relation.done
        heads = many(relation.heads)
        who = "who" if relation.tails == "person" else f"which {relation.tails}"
        if way == "ahead":
            options = [f"what is the {noun} of {words}", f"what is {words}'s {noun}",
                       f"{words}'s {noun}",
                       f"which {noun} does {words} have", f"name the {noun} of {words}",
                       f"the {noun} of {words} is what", f"{words} has which {noun}"]  # fmt: skip
            if relation.tails == "person":
                options += [f"who is the {noun} of {words}", f"who is {words}'s {noun}"]
            options += [f"{who} {past} {words}", f"{who} was it that {past} {words}"] * bool(past)
            options += [f"{words} was {relation.passive} whom"] * bool(relation.passive)
            options += [a.replace("@", words) for a in relation.asked for _ in (0, 1)]
        elif way == "back":
            options = [f"which {heads} have {words} as {noun}", f"whose {noun} is {words}",
                       f"what has the {noun} {words}", f"{words} is the {noun} of what",
                       f"{words} is the {noun} of which {heads}",
                       f"list the {heads} with {noun} {words}"]  # fmt: skip
            if past:
                options += [f"what did {words} {base}", f"which {heads} did {words} {base}",
                            f"{words} {past} what", f"{words} {past} which {heads}",
                            f"name a {relation.heads} that {words} {past}"]  # fmt: skip
            if relation.passive:
                options += [f"which {heads} were {relation.passive} {words}",
                            f"what was {relation.passive} {words}"]  # fmt: skip
            if relation.verb:
                who = "who" if relation.heads == "person" else f"which {relation.heads}"
                options += [f"{who} {relation.verb} {words}"] * 3
        else:
            options = [f"which {heads} share a {noun} with {words}",
                       f"which {heads} have the same {noun} as {words}",
                       f"the {noun} of {words} is also the {noun} of which {heads}",
                       f"{words} has its {noun} in common with which {heads}"]  # fmt: skip
            if past:
                options += [f"what else did the {noun} of {words} {base}",
                            f"which other {heads} did the {noun} of {words} {base}",
                            f"which {heads} have a {noun} who also {past} {words}"]  # fmt: skip
        text = order.choice(options)
        return text[0].upper() + text[1:] + "?"

    def _phrase(self, relation: Spoken, way: str, words: str) -> str:
        """What a step leads to, as a noun phrase."""
        order = self.random
        noun, past = order.choice(relation.nouns), relation.done[0]
        heads, tails = many(relation.heads), relation.tails
        heads = order.choice([heads, relation.heads])
        if way == "ahead":
            options = [f"the {noun} of {words}"] * 3
            options += [f"{words}'s {noun}"] * (3 if len(words.split()) < 4 else 1)
            options += [f"the {tails} that {past} {words}"] * bool(past)
            options += [f"the {tails} that {words} {relation.verb}"] * bool(relation.verb)
        elif way == "back":
            options = [f"the {heads} whose {noun} is {words}", f"the {heads} with {noun} {words}"]
            options += [f"the {heads} that {words} {past}", f"the {heads} {past} by {words}"][
                :1
            ] * (2 * bool(past))
            options += [f"the {heads} {relation.passive} {words}"] * (3 * bool(relation.passive))
            options += [f"the {heads} who {relation.verb} {words}"] * bool(relation.verb)
        else:
            options = [f"the {heads} that share a {noun} with {words}",
                       f"the {heads} with the same {noun} as {words}",
                       f"the {heads} sharing {noun} with {words}"]  # fmt: skip
            if past:
                options += [f"{heads} whose {noun} also {past} {words}",
                            f"the {heads} {relation.passive} the {noun} of {words}"]  # fmt: skip
        return order.choice(options)


def many(noun: str) -> str:
    """A kind of things in the plural.

    >>> many("city"), many("person")
    ('cities', 'people')
    """
    if noun in ("person", "date", "number"):
        return {"person": "people"}.get(noun, f"{noun}s")
    if noun.endswith(("sh", "ch")):
        return f"{noun}es"
    return noun[:-1] + "ies" if noun.endswith("y") else noun if noun.endswith("s") else f"{noun}s"


def _styled(label: str, style: str, relation: Spoken, order: random.Random) -> str:
    """A label as a graph writes it."""
    back, words = label.startswith("^"), label.removeprefix("^").split()
    if style == "has" and not back and label in relation.nouns and order.random() < 0.7:
        words = ["has", *words]
    domain = (relation.tails if back else relation.heads).split()
    text = {
        "words": " ".join(words),
        "has": "_".join(words),
        "snake": "_".join(words),
        "camel": words[0] + "".join(word.capitalize() for word in words[1:]),
        "long": f"{'_'.join(domain)}s.{'_'.join(domain)}.{'_'.join(words)}",
    }[style]
    return "^" + text if back else text


def spoken_world(
    seed: int,
    count: int,
    *,
    gone: float = 0.0,
    ask: Callable[[SpokenWorld, int], list[Asked]] = SpokenWorld.asked,
) -> tuple[KnowledgeGraph, Sequence[Asked]]:
    """A graph and at most `count` questions about it.

    Args:
        seed: of all that is invented.
        count: of questions.
        gone: share of the relations that are taken out again; what asks for them has no answer.
        ask: makes the questions.
    """
    world = SpokenWorld(seed)
    asked = ask(world, count)
    labels = sorted({label.removeprefix("^") for label in world.label.values()})
    out = set(world.random.sample(labels, int(gone * len(labels))))
    kg = KnowledgeGraph.from_triples(sorted(t for t in world.triples if t[1] not in out))
    return kg, [one if not one.relations & out else Asked(one.text, frozenset()) for one in asked]
