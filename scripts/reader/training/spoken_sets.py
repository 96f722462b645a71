"""Everyday questions about sets: how many, most, or, not, none, and what extremes lead to."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable

from training.maker import Asked
from training.spoken import Spoken, SpokenWorld, many

_VALUES = ("date", "number")


class _Unfit(Exception):
    """What was drawn of the world has too little to ask for."""


def set_questions(world: SpokenWorld, count: int) -> list[Asked]:
    """Questions about sets of a world's things, at most so many."""
    sets, found = _Sets(world), []
    for _ in range(6 * count):
        try:
            text, ends, *used = world.random.choice(sets.makers)()
        except _Unfit:
            continue
        if ends and len(ends) <= 20:
            text = text[0].upper() + text[1:]
            text = text if world.random.random() < 0.8 else text.lower()
            names = frozenset(world.label[relation].removeprefix("^") for relation in used)
            found.append(Asked(text + world.random.choice(["?", "?", "?", ""]), ends, names))
        if len(found) == count:
            break
    return found


class _Sets:
    def __init__(self, world: SpokenWorld) -> None:
        self.world = world
        self.random: random.Random = world.random
        self.plain = [r for r in world.relations if r.tails not in _VALUES and world.facts[r]]
        self.graded = [r for r in world.relations if r.grades and len(world.facts[r]) > 2]
        self.valued = [r for r in world.relations if r.tails in _VALUES and world.facts[r]]
        self.makers: list[Callable] = [
            self.count_class, self.count, self.count, self.either, self.both, self.both,
            self.but_not, self.but_not, self.none_of, self.lacking, self.extreme, self.extreme,
            self.extreme_of, self.asked_of_extreme, self.asked_of_extreme, self.asked_of_extreme,
            self.most, self.most, self.compared, self.bounded, self.listed, self.asked_of_most,
            self.beyond,
        ]  # fmt: skip

    def _one(self, some: list[Spoken]) -> Spoken:
        if not some:
            raise _Unfit
        return self.random.choice(some)

    def _tails(self, relation: Spoken) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for head, tail in self.world.facts[relation]:
            found[tail].add(head)
        return found

    def _heads(self, relation: Spoken) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for head, tail in self.world.facts[relation]:
            found[head].add(tail)
        return found

    def _members(self, kind: str) -> set[str]:
        if not self.world.typed:
            raise _Unfit
        return set(self.world.members[kind])

    def _says(self, relation: Spoken, name: str, *, no: bool = False) -> str:
        """What is said of the heads of a relation to something, "that have it as their ..."."""
        noun = self.random.choice(relation.nouns)
        have = self.random.choice(["do not have", "don't have"]) if no else "have"
        told = [f"{have} {name} as {noun}"]
        if relation.passive:
            were = self.random.choice(["were not", "weren't", "are not"]) if no else "were"
            told += [f"{were} {relation.passive} {name}"] * 2
        return self.random.choice(told)

    def _such(self, relation: Spoken, name: str) -> str:
        """The heads of a relation to something, as a noun phrase without an article."""
        heads, noun = many(relation.heads), self.random.choice(relation.nouns)
        past = relation.done[0]
        told = [f"{heads} with {noun} {name}", f"{heads} whose {noun} is {name}"]
        told += [f"{heads} {relation.passive} {name}"] * (3 * bool(relation.passive))
        told += [f"{heads} that {name} {past}"] * bool(past)
        told += [f"{name} {heads}"] * (relation.tails != "person")
        return self.random.choice(told)

    def _which(self, relation: Spoken, name: str, which: str) -> str:
        """A question for the heads of a relation to something."""
        heads, base = many(relation.heads), relation.done[1]
        if which not in ("which", "how many"):
            return f"{which} {self._such(relation, name)}"
        says, such = self._says(relation, name), self._such(relation, name)
        told = [f"{which} {heads} {says}", f"{which} {such}"]
        told += [f"{which} {heads} did {name} {base}"] * (2 * bool(base))
        told += [f"{which} {heads} are {relation.passive} {name}"] * bool(relation.passive)
        return self.random.choice(told)

    def _drawn(self) -> tuple[Spoken, str, dict[str, set[str]]]:
        relation = self._one(self.plain)
        back = self._tails(relation)
        return relation, self.random.choice(sorted(back)), back

    def count_class(self):
        kind = self.random.choice(sorted(k for k in self.world.members if k not in _VALUES))
        some = self._members(kind)
        text = self.random.choice(["how many @ are there", "how many @ do you know",
                                   "what is the number of @", "how many @ in total"])  # fmt: skip
        return text.replace("@", many(kind)), frozenset({str(len(some))})

    def count(self):
        relation, name, back = self._drawn()
        text = self._which(relation, name, "how many")
        if self.random.random() < 0.3:
            text = f"how many {many(relation.heads)} are there {relation.passive or 'with'} {name}"
        if self.random.random() < 0.3:
            heads = self._heads(relation)
            name = self.random.choice(sorted(heads))
            noun = many(self.random.choice(relation.nouns))
            return f"how many {noun} does {name} have", frozenset({str(len(heads[name]))}), relation
        return text, frozenset({str(len(back[name]))}), relation

    def _two(self) -> tuple[Spoken, str, str, dict[str, set[str]]]:
        relation = self._one(self.plain)
        back = self._tails(relation)
        if len(back) < 2:
            raise _Unfit
        a, b = self.random.sample(sorted(back), 2)
        return relation, a, b, back

    def either(self):
        relation, a, b, back = self._two()
        names = self.random.choice([f"{a} or {b}", f"either {a} or {b}", f"{a} or by {b}"])
        which = self.random.choice(["which", "which", "list all", "how many"])
        ends = back[a] | back[b]
        text = self._which(relation, names, which)
        return text, frozenset({str(len(ends))} if which == "how many" else ends), relation

    def both(self):
        relation, name, back = self._drawn()
        others = [r for r in self.plain if r.heads == relation.heads and r is not relation]
        if not others or self.random.random() < 0.3:
            pairs = [(a, b) for a in back for b in back if a < b and back[a] & back[b]]
            if not pairs:
                raise _Unfit
            a, b = self.random.choice(sorted(pairs))
            text = self._which(relation, f"both {a} and {b}", "which")
            return text, frozenset(back[a] & back[b]), relation
        other = self.random.choice(others)
        pairs = [n for n, heads in self._tails(other).items() if heads & back[name]]
        if not pairs:
            raise _Unfit
        second = self.random.choice(sorted(pairs))
        such, says = self._such(relation, name), self._says(other, second)
        which = self._which(relation, name, "which")
        text = self.random.choice([f"which {such} {says}", f"which {such} also {says}",
                                   f"{such} that {says}", f"{which} and {says}"])  # fmt: skip
        return text, frozenset(back[name] & self._tails(other)[second]), relation, other

    def but_not(self):
        relation, name, back = self._drawn()
        others = [r for r in self.plain if r.heads == relation.heads]
        other = self.random.choice(others)
        taken = self._tails(other)
        pairs = [n for n in taken if n != name and taken[n] & back[name] and back[name] - taken[n]]
        if not pairs:
            raise _Unfit
        second = self.random.choice(sorted(pairs))
        without = self._says(other, second, no=True)
        such = self._such(relation, name)
        but = self.random.choice(["but not", "and not", "but"])
        last = f"{but} {self._says(other, second)}" if but != "but" else f"but {without}"
        text = self.random.choice([f"which {such} {without}", f"which {such} {without}",
                                   f"{self._which(relation, name, 'which')} {last}"])  # fmt: skip
        return text, frozenset(back[name] - taken[second]), relation, other

    def none_of(self):
        relation, name, back = self._drawn()
        some = self._members(relation.heads)
        text = f"which {many(relation.heads)} {self._says(relation, name, no=True)}"
        return text, frozenset(some - back[name]), relation

    def lacking(self):
        relation = self._one(self.plain)
        noun, heads = self.random.choice(relation.nouns), many(relation.heads)
        past, base = relation.done
        if past and self.random.random() < 0.4:
            left = self._members(relation.tails) - set(self._tails(relation))
            tails = many(relation.tails)
            text = self.random.choice([f"which {tails} never {past} a {relation.heads}",
                                       f"which {tails} did not {base} any {heads}",
                                       f"which {tails} {past} nothing",
                                       f"which {tails} have {past} no {heads}"])  # fmt: skip
            return text, frozenset(left), relation
        left = self._members(relation.heads) - set(self._heads(relation))
        told = [f"which {heads} have no {noun}", f"which {heads} don't have a {noun}",
                f"{heads} without a {noun}", f"which {heads} do not have any {noun}"]  # fmt: skip
        if relation.passive.endswith(" by"):
            told += [f"which {heads} were never {relation.passive.removesuffix(' by')}",
                     f"which {heads} did nobody {base or 'make'}"]  # fmt: skip
        return self.random.choice(told), frozenset(left), relation

    def _first(self, relation: Spoken, among: set[str], largest: bool) -> set[str]:
        values = {h: float(t) for h, t in self.world.facts[relation] if h in among}
        if len(set(values.values())) < 2:
            raise _Unfit
        best = (max if largest else min)(values.values())
        return {head for head, value in values.items() if value == best}

    def _superlative(self) -> tuple[Spoken, str, bool]:
        """A value, what most of it is called, and which way."""
        relation = self._one(self.graded)
        more, most, largest = self.random.choice(relation.grades)
        del more
        return relation, most, largest

    def _picked(self) -> tuple[Spoken, str, frozenset[str]]:
        """The thing of its kind that has the most of a value, in words."""
        relation, most, largest = self._superlative()
        ends = self._first(relation, set(self.world.members[relation.heads]), largest)
        noun, head = self.random.choice(relation.nouns), relation.heads
        told = [f"the {most} {head}"] * 3 + [f"the {head} that is the {most}"]
        if relation.tails == "number":
            high = self.random.choice(["highest", "largest"] if largest else ["lowest", "smallest"])
            told += [f"the {head} with the {high} {noun}", f"the {head} that has the {high} {noun}"]
        return relation, self.random.choice(told), frozenset(ends)

    def extreme(self):
        relation, words, ends = self._picked()
        head, heads = relation.heads, many(relation.heads)
        if words.startswith("the ") and words.endswith(head) and self.random.random() < 0.6:
            most = words.removeprefix("the ").removesuffix(head).strip()
            who = f"who is the {most}" if head == "person" else f"which is the {most} {head}"
            words = self.random.choice([f"which {head} is the {most}", f"the {most} of all {heads}",
                                        f"which of the {heads} is {most}", who])  # fmt: skip
            return words, ends, relation
        return self.random.choice(["what is ", "which is ", "name ", ""]) + words, ends, relation

    def extreme_of(self):
        value, most, largest = self._superlative()
        relation = self._one([r for r in self.plain if r.heads == value.heads])
        back = self._tails(relation)
        some = [name for name, heads in back.items() if len(heads) > 1]
        if not some:
            raise _Unfit
        name = self.random.choice(sorted(some))
        ends = self._first(value, back[name], largest)
        such = self._such(relation, name)
        one = such.replace(many(relation.heads), relation.heads, 1)
        text = self.random.choice([f"which {one} is the {most}", f"what is the {most} {one}",
                                   f"which of the {such} is the {most}", f"the {most} {one}",
                                   f"of the {such}, which is the {most}"])  # fmt: skip
        return text, frozenset(ends), value, relation

    def _asked_about(self, kind: str, words: str, ends: frozenset[str], used: list[Spoken]):
        """A question for what a step from some things leads to."""
        choices = [(r, "ahead") for r in self.world.relations if r.heads == kind and r not in used]
        choices += [(r, "back") for r in self.plain if r.tails == kind and r not in used]
        if not choices:
            raise _Unfit
        relation, way = self.random.choice(choices)
        text = self.world.question(relation, way, words)
        return (
            text.rstrip("?"),
            frozenset(self.world.walk(relation, way, set(ends)) - ends),
            relation,
        )

    def asked_of_extreme(self):
        value, words, ends = self._picked()
        text, found, relation = self._asked_about(value.heads, words, ends, [value])
        return text, found, relation, value

    def _with_most(self) -> tuple[Spoken, str, frozenset[str], str]:
        relation = self._one(self.plain)
        heads, noun, past = (
            many(relation.heads),
            self.random.choice(relation.nouns),
            relation.done[0],
        )
        largest = self.random.random() < 0.8
        most = "most" if largest else "fewest"
        ahead = self.random.random() < 0.4
        groups = self._heads(relation) if ahead else self._tails(relation)
        counts = {name: len(some) for name, some in groups.items()}
        best = (max if largest else min)(counts.values())
        ends = frozenset(name for name, n in counts.items() if n == best)
        whole = self.world.members[relation.heads if ahead else relation.tails]
        if len(ends) == len(counts) or (not largest and len(counts) < len(whole)):
            raise _Unfit
        if ahead:
            return relation, f"{relation.heads} has the {most} {many(noun)}", ends, relation.heads
        told = [f"{relation.tails} has the {most} {heads}"]
        told += [f"{relation.tails} {past} the {most} {heads}"] * (2 * bool(past))
        return relation, self.random.choice(told), ends, relation.tails

    def most(self):
        relation, words, ends, _ = self._with_most()
        return f"which {words}", ends, relation

    def asked_of_most(self):
        relation, words, ends, kind = self._with_most()
        words = f"the {words.replace(' ', ' that ', 1)}" if " " not in kind else f"the {words}"
        text, found, other = self._asked_about(kind, words, ends, [relation])
        return text, found, relation, other

    def compared(self):
        relation = self._one(self.graded)
        more, most, largest = self.random.choice(relation.grades)
        values = {head: float(tail) for head, tail in self.world.facts[relation]}
        a, b = self.random.sample(sorted(values), 2)
        if values[a] == values[b]:
            raise _Unfit
        head = relation.heads
        if self.random.random() < 0.4:
            holds = values[a] > values[b] if largest else values[a] < values[b]
            ends = frozenset({"yes" if holds else "no"})
            return f"is {a} {more} than {b}", ends, relation
        best = (max if largest else min)((a, b), key=lambda name: values[name])
        text = self.random.choice([f"which is {more}, {a} or {b}",
                                   f"which {head} is {more}, {a} or {b}",
                                   f"who is {more}, {a} or {b}" if head == "person"
                                   else f"what is {more}: {a} or {b}",
                                   f"which of {a} and {b} is the {most}"])  # fmt: skip
        return text, frozenset({best}), relation

    def beyond(self):
        """Those with more of something than one that is named."""
        relation = self._one(self.graded)
        more, _, largest = self.random.choice(relation.grades)
        values = {head: float(tail) for head, tail in self.world.facts[relation]}
        one, heads = self.random.choice(sorted(values)), many(relation.heads)
        least = values[one]
        ends = {h for h, v in values.items() if (v > least if largest else v < least)}
        told = [f"which {heads} are {more} than {one}", f"{heads} {more} than {one}"]
        told += [f"who is {more} than {one}"] if relation.heads == "person" else []
        return self.random.choice(told), frozenset(ends), relation

    def bounded(self):
        relation = self._one(self.valued)
        values = {head: float(tail) for head, tail in self.world.facts[relation]}
        bound = int(self.random.choice(sorted(values.values())))
        over = self.random.random() < 0.5
        heads, noun = many(relation.heads), self.random.choice(relation.nouns)
        ends = {h for h, v in values.items() if (v > bound if over else v < bound)}
        which = self.random.choice(["which", "which", "how many", "all"])
        if relation.tails == "date":
            how = "after" if over else "before"
            whens = [a for a in relation.asked if a.startswith("when was @ ")]
            told = [f"{which} {heads} have a {noun} {how} {bound}"]
            dated = [a.removeprefix("when was @ ") for a in whens]
            told += [f"{which} {heads} were {done} {how} {bound}" for done in dated]
        else:
            how = "over" if over else "under"
            told = [f"{which} {heads} {have} a {noun} {how} {bound}" for have in ("have", "with")]
            more = "more" if over else "less"
            told += [f"{which} {heads} have {more} than {bound} {noun}"]
        ends = {str(len(ends))} if which == "how many" and ends else ends
        return self.random.choice(told), frozenset(ends), relation

    def listed(self):
        """All of a kind, or all that there is of a relation."""
        if self.random.random() < 0.5:
            kind = self.random.choice(sorted(k for k in self.world.members if k not in _VALUES))
            text = self.random.choice(["list all @", "which @ are there", "name every @"])
            return text.replace("@", many(kind)), frozenset(self._members(kind))
        relation, name, back = self._drawn()
        text = self._which(relation, name, self.random.choice(["list all", "name the", "which"]))
        return text, frozenset(back[name]), relation
