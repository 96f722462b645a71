"""Questions made up about a world: yes or no, comparisons, extremes, unions and exceptions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable

from training.chains import asked_of, chain, count_chain, plural
from training.maker import Asked, WorldMaker, number_in

_MORE = (("higher", "highest", "more", "most"), ("lower", "lowest", "less", "least"))


class _Unfit(Exception):
    """What was drawn of the world has too little to ask for."""


def made_up_questions(maker: WorldMaker, count: int) -> list[Asked]:
    """Questions of kinds that question sets about Freebase lack.

    Args:
        maker: of a world that has all its facts.
        count: how many, at most.
    """
    makers: list[Callable[[WorldMaker], Asked | None]] = [
        _whether, _whether, _compared, _compared_yes, _extreme, _most, _union, _both, _except,
        _count_class, _bounded, _plain, _plain_inverse, *[chain] * 5, count_chain, _dated_yes,
        _valued, _valued,
        _share,
    ]  # fmt: skip
    found = []
    for _ in range(4 * count):
        try:
            made = maker.random.choice(makers)(maker)
        except _Unfit:
            continue
        if made is not None and made.answers:
            found.append(made)
        if len(found) == count:
            break
    return found


def _facts(maker: WorldMaker, id: str) -> dict[str, set[str]]:
    name = maker.relation(id)
    found: dict[str, set[str]] = defaultdict(set)
    for head, relation, tail in maker.triples:
        if relation == name:
            found[head].add(tail)
    return found


def _pick(maker: WorldMaker, *, valued: bool) -> tuple[str, str, dict[str, set[str]]]:
    """A relation at random: its id, its label in words and its facts."""
    ids = [id for id, (_, kind) in maker.ranges.items() if (kind in ("date", "number")) == valued]
    if not ids:
        raise _Unfit
    id = maker.random.choice(sorted(ids))
    facts = _facts(maker, id)
    if not facts:
        raise _Unfit
    return id, maker.labels[id].lower(), facts


def _class(maker: WorldMaker, id: str) -> str:
    return maker.class_names.get(maker.ranges[id][0], "thing")


def _asked(maker: WorldMaker, id: str, forms: list[str], answers: set[str]) -> Asked:
    return asked_of(maker.random.choice(forms), answers, maker.relation(id))


def _yes(holds: bool) -> set[str]:
    return {"yes" if holds else "no"}


def _whether(maker: WorldMaker) -> Asked | None:
    id, label, facts = _pick(maker, valued=False)
    head = maker.random.choice(sorted(facts))
    tails = sorted(set.union(*facts.values()))
    tail = (
        maker.random.choice(sorted(facts[head]))
        if maker.random.random() < 0.5
        else maker.random.choice(tails)
    )
    forms = [f"Is {tail} the {label} of {head}?", f"Does {head} have {tail} as {label}?",
             f"Is {tail} a {label} of {head}?", f"Was {tail} {head}'s {label}?"]  # fmt: skip
    return _asked(maker, id, forms, _yes(tail in facts[head]))


def _column(maker: WorldMaker, *, least: int) -> tuple[str, str, dict[str, float]]:
    """A relation that leads to numbers or dates: its id, its label and the value of each head."""
    id, label, facts = _pick(maker, valued=True)
    single = {head: tails for head, tails in facts.items() if len(tails) == 1}
    if len(single) < least:
        raise _Unfit
    return id, label, {head: number_in(next(iter(tails))) for head, tails in single.items()}


def _two(maker: WorldMaker) -> tuple[str, str, str, str, dict[str, float]]:
    id, label, values = _column(maker, least=2)
    a, b = maker.random.sample(sorted(values), 2)
    if values[a] == values[b]:
        raise _Unfit
    return id, label, a, b, values


def _degree(maker: WorldMaker, id: str, largest: bool) -> tuple[str, str]:
    if maker.ranges[id][1] == "date":
        return ("later", "latest") if largest else ("earlier", "earliest")
    row = _MORE[not largest]
    return maker.random.choice([(row[0], row[1]), (row[2], row[3])])


def _compared(maker: WorldMaker) -> Asked | None:
    id, label, a, b, values = _two(maker)
    largest = maker.random.random() < 0.5
    more, _ = _degree(maker, id, largest)
    best = (max if largest else min)((a, b), key=lambda x: values[x])
    forms = [f"Which has a {more} {label}, {a} or {b}?",
             f"Which one has the {more} {label}: {a} or {b}?",
             f"Does {a} or {b} have a {more} {label}?"]  # fmt: skip
    return _asked(maker, id, forms, {best})


def _compared_yes(maker: WorldMaker) -> Asked | None:
    id, label, a, b, values = _two(maker)
    largest = maker.random.random() < 0.5
    more, _ = _degree(maker, id, largest)
    holds = values[a] > values[b] if largest else values[a] < values[b]
    forms = [f"Does {a} have a {more} {label} than {b}?",
             f"Is the {label} of {a} {more} than that of {b}?"]  # fmt: skip
    return _asked(maker, id, forms, _yes(holds))


def _extreme(maker: WorldMaker) -> Asked | None:
    id, label, values = _column(maker, least=2)
    largest = maker.random.random() < 0.5
    _, most = _degree(maker, id, largest)
    top = (max if largest else min)(values.values())
    noun = _class(maker, id)
    forms = [
        f"Which {noun} has the {most} {label}?",
        f"What is the {noun} with the {most} {label}?",
    ]
    return _asked(maker, id, forms, {x for x, v in values.items() if v == top})


def _most(maker: WorldMaker) -> Asked | None:
    id, label, facts = _pick(maker, valued=False)
    top = max(map(len, facts.values()))
    best = {head for head, tails in facts.items() if len(tails) == top}
    if len(best) == len(facts):
        return None
    text = f"Which {_class(maker, id)} has the most {plural(label)}?"
    return asked_of(text, best, maker.relation(id))


def _tails(facts: dict[str, set[str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for head, tails in facts.items():
        for tail in tails:
            found[tail].add(head)
    return found


def _pair(maker: WorldMaker) -> tuple[str, str, str, str, dict[str, set[str]]]:
    id, label, facts = _pick(maker, valued=False)
    back = _tails(facts)
    if len(back) < 2:
        raise _Unfit
    a, b = maker.random.sample(sorted(back), 2)
    return id, label, a, b, back


def _union(maker: WorldMaker) -> Asked | None:
    id, label, a, b, back = _pair(maker)
    noun = plural(_class(maker, id))
    forms = [f"Which {noun} have {a} or {b} as {label}?",
             f"Name the {noun} whose {label} is either {a} or {b}."]  # fmt: skip
    return _asked(maker, id, forms, back[a] | back[b])


def _both(maker: WorldMaker) -> Asked | None:
    id, label, a, b, back = _pair(maker)
    text = f"Which {_class(maker, id)} has both {a} and {b} as {label}?"
    return asked_of(text, back[a] & back[b], maker.relation(id))


def _except(maker: WorldMaker) -> Asked | None:
    id, label, facts = _pick(maker, valued=False)
    back = _tails(facts)
    many = sorted(tail for tail, heads in back.items() if len(heads) > 1)
    if not many:
        return None
    tail = maker.random.choice(many)
    left = maker.random.choice(sorted(back[tail]))
    but = maker.random.choice(["except", "apart from", "other than", "besides"])
    text = f"Which {plural(_class(maker, id))} have {tail} as {label}, {but} {left}?"
    return asked_of(text, back[tail] - {left}, maker.relation(id))


def _count_class(maker: WorldMaker) -> Asked | None:
    kind = maker.random.choice(sorted(maker.class_names))
    noun = plural(maker.class_names[kind])
    text = maker.random.choice([f"How many {noun} are there?", f"How many {noun} do you know?"])
    same = {
        m
        for k, n in maker.class_names.items()
        if n == maker.class_names[kind]
        for m in maker.members[k]
    }
    return asked_of(text, {str(len(same))})


def _bounded(maker: WorldMaker) -> Asked | None:
    id, label, values = _column(maker, least=2)
    bound = maker.random.choice(sorted(values.values()))
    noun = plural(_class(maker, id))
    if maker.ranges[id][1] == "date":
        year = int(bound)
        text = f"Which {noun} have a {label} before {year}?"
        return asked_of(text, {x for x, v in values.items() if v < year}, maker.relation(id))
    over = maker.random.random() < 0.5
    number = f"{bound:.4g}"
    if not re.fullmatch(r"[\d.]+", number):
        return None
    text = f"Which {noun} have a {label} {'over' if over else 'under'} {number}?"
    exact = float(number)
    within = {x for x, v in values.items() if (v > exact if over else v < exact)}
    return asked_of(text, within, maker.relation(id))


def _plain(maker: WorldMaker) -> Asked | None:
    id, label, facts = _pick(maker, valued=maker.random.random() < 0.3)
    head = maker.random.choice(sorted(facts))
    forms = [f"What is the {label} of {head}?", f"{head}'s {label}?",
             f"what {label} does {head.lower()} have",
             f"Tell me the {label} of {head}."]  # fmt: skip
    return _asked(maker, id, forms, facts[head])


def _plain_inverse(maker: WorldMaker) -> Asked | None:
    id, label, a, _, back = _pair(maker)
    noun = _class(maker, id)
    forms = [f"Which {noun} has {a} as {label}?", f"What has the {label} {a}?",
             f"List every {noun} whose {label} is {a}."]  # fmt: skip
    return _asked(maker, id, forms, back[a])


def _dated_yes(maker: WorldMaker) -> Asked | None:
    id, label, values = _column(maker, least=1)
    head = maker.random.choice(sorted(values))
    bound = maker.random.choice(sorted(values.values()))
    if maker.ranges[id][1] == "date":
        text, holds = f"Was the {label} of {head} before {int(bound)}?", values[head] < int(bound)
        return asked_of(text, _yes(holds), maker.relation(id))
    number = f"{bound:.4g}"
    if not re.fullmatch(r"[\d.]+", number):
        return None
    text, holds = f"Is the {label} of {head} over {number}?", values[head] > float(number)
    return asked_of(text, _yes(holds), maker.relation(id))


def _share(maker: WorldMaker) -> Asked | None:
    id, label, facts = _pick(maker, valued=False)
    if len(facts) < 2:
        return None
    a, b = maker.random.sample(sorted(facts), 2)
    forms = [f"Do {a} and {b} share a {label}?", f"Do {a} and {b} have the same {label}?"]
    return _asked(maker, id, forms, _yes(bool(facts[a] & facts[b])))


def _valued(maker: WorldMaker) -> Asked | None:
    """A number or a date, asked for as people do."""
    id, label, facts = _pick(maker, valued=True)
    head = maker.random.choice(sorted(facts))
    noun = _class(maker, id)
    if maker.ranges[id][1] == "date":
        forms = [f"When was the {label} of {head}?", f"When did {head} have its {label}?",
                 f"When was {head} {label}?", f"On what date is the {label} of the {noun} {head}?",
                 f"When was {head}?"]  # fmt: skip
    else:
        forms = [f"How many {plural(label)} does {head} have?",
                 f"How much {label} does {head} have?",
                 f"How high is the {label} of {head}?", f"How many {label} has the {noun} {head}?",
                 f"What number is the {label} of {head}?"]  # fmt: skip
    return _asked(maker, id, forms, facts[head])
