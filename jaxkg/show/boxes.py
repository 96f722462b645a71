"""What a drawing of an answer shows: boxes, arrows, and words on what had to be left out."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from jaxkg.errors import JaxkgError
from jaxkg.records import Citation, SupportingPath
from jaxkg.show.export import cited_paths, roles
from jaxkg.show.shown import Shown
from jaxkg.words import one_line, relation_words

_LONGEST = 32  # characters of a name in a box; the tooltip has all of them
_MEMBERS = 4  # names in a box that stands for several nodes
_TOLD = 12  # triples or nodes in a tooltip


@dataclasses.dataclass(frozen=True)
class Box:
    """A node of the drawing: an entity, or several with the same neighbours.

    Attributes:
        lines: what stands in it.
        tooltip: ids, names and scores, a line each.
        role: "topic", "answer" or "".
    """

    lines: tuple[str, ...]
    tooltip: str
    role: str


@dataclasses.dataclass(frozen=True)
class Arrow:
    """All triples of one relation from one box to another.

    Attributes:
        head, tail: numbers of the boxes.
        label: the relation in words, and how many triples where there are several.
        tooltip: the triples, a line each.
        both: True where the relation also holds from tail to head.
    """

    head: int
    tail: int
    label: str
    tooltip: str
    both: bool


@dataclasses.dataclass(frozen=True)
class Scene:
    """All of a drawing but the places.

    Attributes:
        boxes: every node.
        arrows: every edge.
        roots: the boxes where paths start.
        notes: what is not shown as it is.
    """

    boxes: tuple[Box, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    roots: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


def scene(answer: Shown, max_nodes: int) -> Scene:
    """The paths an answer cites, in at most `max_nodes` boxes; see `jaxkg.show.svg`."""
    paths = [path for path in cited_paths(answer) if path.citations]
    role = roles(answer)
    entities = {e for path in paths for c in path.citations for e in (c.head, c.tail)}
    box_of = {entity: entity for entity in entities}
    notes: list[str] = []
    if len(entities) > max_nodes:
        box_of = _alike(paths, role)
        if len(set(box_of.values())) < len(entities):
            notes.append(f"{len(entities)} nodes; those with the same neighbours share a box")
        drawn = _first_paths(paths, box_of, max_nodes)
        if len(drawn) < len(paths):
            notes.append(f"the first {len(drawn)} of {len(paths)} paths are drawn")
        paths = drawn
    members: dict[str, dict[str, str]] = defaultdict(dict)
    triples: dict[tuple[str, str, str], dict[int, Citation]] = defaultdict(dict)
    for path in paths:
        for c in path.citations:
            members[box_of[c.head]][c.head] = one_line(c.head_name)
            members[box_of[c.tail]][c.tail] = one_line(c.tail_name)
            head, tail = box_of[c.head], box_of[c.tail]
            # A relation that holds both ways is one arrow with two points.
            head, tail = (tail, head) if (tail, c.relation, head) in triples else (head, tail)
            triples[head, c.relation, tail][c.triple] = c
    number = {entity: place for place, entity in enumerate(members)}
    bearers = Counter(name for names in members.values() for name in names.values())
    standing = _standing(answer)
    starts = (path.citations[0] for path in paths)
    return Scene(
        tuple(_box(names, bearers, role.get(e, ""), standing) for e, names in members.items()),
        tuple(
            _arrow(
                number[head],
                number[tail],
                tuple(cited.values()),
                len({box_of[c.head] for c in cited.values()}) > 1,
            )
            for (head, _, tail), cited in triples.items()
        ),
        tuple(number[box_of[cited.start[0]]] for cited in starts),
        tuple(notes),
    )


def _alike(paths: Sequence[SupportingPath], role: Mapping[str, str]) -> dict[str, str]:
    """By entity, the first that has its role and its neighbours. Topics stay alone."""
    around: dict[str, set[tuple[str, bool, str]]] = defaultdict(set)
    for path in paths:
        for c in path.citations:
            around[c.head].add((c.relation, True, c.tail))
            around[c.tail].add((c.relation, False, c.head))
    first: dict[object, str] = {}
    return {
        entity: entity
        if role.get(entity) == "topic"
        else first.setdefault((role.get(entity), frozenset(sides)), entity)
        for entity, sides in around.items()
    }


def _first_paths(
    paths: Sequence[SupportingPath], box_of: Mapping[str, str], max_nodes: int
) -> list[SupportingPath]:
    """As many paths from the first on as `max_nodes` boxes hold."""
    held: set[str] = set()
    for count, path in enumerate(paths):
        held |= {box_of[entity] for c in path.citations for entity in (c.head, c.tail)}
        if len(held) > max_nodes:
            if not count:
                raise JaxkgError(
                    f"max_nodes = {max_nodes} is too few for path {path.id!r} alone, "
                    f"which needs {len(held)}"
                )
            return list(paths[:count])
    return list(paths)


def _standing(answer: Shown) -> dict[str, str]:
    topics = {
        link.entity: f"topic, score {link.score:.3g}" for link in answer.topics if link.chosen
    }
    return topics | {
        entity.entity: f"answer {rank}, score {entity.score:.3g}"
        for rank, entity in enumerate(answer.entities, start=1)
    }


def _box(
    names: Mapping[str, str], bearers: Mapping[str, int], role: str, standing: Mapping[str, str]
) -> Box:
    """The box of some entities, given as name by id."""
    lines: Sequence[str] = _clipped(list(names.values()), _MEMBERS)
    if len(names) == 1:
        [(entity, name)] = names.items()
        lines = [name, f"[{one_line(entity)}]"] if bearers[name] > 1 else [name]
    hints = [
        f"{name} [{one_line(entity)}]" + (f", {standing[entity]}" if entity in standing else "")
        for entity, name in names.items()
    ]
    return Box(
        tuple(line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…" for line in lines),
        "\n".join(_clipped(hints, _TOLD)),
        role,
    )


def _arrow(head: int, tail: int, cited: Sequence[Citation], both: bool) -> Arrow:
    hints = [
        f"triple {c.triple}: {one_line(c.head_name)}, {one_line(c.relation)}: "
        f"{one_line(c.tail_name)}"
        for c in cited
    ]
    count = f" ×{len(cited)}" if len(cited) > 1 + both else ""
    label = relation_words(cited[0].relation) + count
    return Arrow(head, tail, label, "\n".join(_clipped(hints, _TOLD)), both)


def _clipped(items: Sequence[str], most: int) -> list[str]:
    if len(items) <= most:
        return list(items)
    return [*items[:most], f"… and {len(items) - most:,} more"]
