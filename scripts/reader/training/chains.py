"""Questions made up about walks through a world, of one to three steps."""

from __future__ import annotations

from collections import defaultdict

from training.maker import Asked, WorldMaker


def plural(noun: str) -> str:
    """A noun in the plural, near enough."""
    return noun if noun.endswith("s") else noun[:-1] + "ies" if noun.endswith("y") else noun + "s"


def asked_of(text: str, answers: set[str], *names: str) -> Asked:
    """A question with its answers and the relations it asks for."""
    return Asked(text, frozenset(answers), frozenset(names))


def _walk(maker: WorldMaker, hops: int) -> tuple[str, set[str], list[str], str] | None:
    """A walk in words: the noun phrase, its ends, its relations and the kind of its ends."""
    by_name = {maker.relation(id): id for id in maker.ranges}
    ahead: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for head, relation, tail in sorted(maker.triples):
        if relation in by_name:
            ahead[head][relation].add(tail)
            if maker.ranges[by_name[relation]][1] not in ("date", "number"):
                ahead[tail]["^" + relation].add(head)
    start = maker.random.choice(sorted(ahead))
    words, nodes, walked, kind = start, {start}, [], ""
    for _ in range(hops):
        choices = sorted({r for node in nodes for r in ahead[node]})
        choices = [r for r in choices if not walked or r.lstrip("^") != walked[-1].lstrip("^")]
        if not choices:
            return None
        relation = maker.random.choice(choices)
        id = by_name[relation.lstrip("^")]
        label = maker.labels[id].lower()
        nodes = {tail for node in nodes for tail in ahead[node].get(relation, ())} - {start}
        if relation.startswith("^"):
            kind = maker.class_names.get(maker.ranges[id][0], "thing")
            words = maker.random.choice(
                [f"the {plural(kind)} whose {label} is {words}",
                 f"the {kind} with {label} {words}",
                 f"the {kind} that has {words} as {label}"]
            )  # fmt: skip
        else:
            kind = maker.class_names.get(maker.ranges[id][1], "")
            own = [f"the {label} of {words}"] * 3
            own += [f"{words}'s {label}"] * (len(words.split()) < 4)
            own += [f"the {kind} that is the {label} of {words}"] if kind else []
            words = maker.random.choice(own)
        walked.append(relation)
    return (words, nodes, walked, kind) if nodes else None


def chain(maker: WorldMaker) -> Asked | None:
    """A question of one to three steps."""
    walk = _walk(maker, maker.random.choice([1, 2, 2, 2, 3, 3, 3]))
    if walk is None:
        return None
    words, ends, walked, kind = walk
    opened = maker.random.choice(
        ["What is", "Who is", "Name", "What are", "Tell me", "Which is", "Show"]
    )
    text = f"{opened} {words}"
    if words.startswith("the ") and kind and maker.random.random() < 0.4:
        rest = words.removeprefix("the ")
        for noun in (plural(kind), kind):
            if rest.startswith(noun + " "):
                text = f"Which {rest}"
                break
    text += "" if opened in ("Name", "Tell me", "Show") else "?"
    if maker.random.random() < 0.2:
        text = text.lower()
    return asked_of(text, ends, *(r.lstrip("^") for r in walked))


def count_chain(maker: WorldMaker) -> Asked | None:
    """How many there are at the end of one or two steps."""
    walk = _walk(maker, maker.random.choice([1, 1, 2]))
    if walk is None or any(end[:1].isdigit() for end in walk[1]):
        return None
    words, ends, walked, _ = walk
    if words.startswith("the ") and " of " in words and not walked[-1].startswith("^"):
        label, rest = words.removeprefix("the ").split(" of ", 1)
        text = maker.random.choice(
            [
                f"How many {plural(label)} does {rest} have?",
                f"What is the number of {plural(label)} of {rest}?",
            ]
        )
    else:
        text = f"How many {words.removeprefix('the ')}?"
    return asked_of(text, {str(len(ends))}, *(r.lstrip("^") for r in walked))
