"""Whether a cited walk is one of the graph: its triples are read again."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from jaxkg.cite.reading import Reading, walked_relation
from jaxkg.records import SupportingPath

_FIELDS = ("head", "relation", "tail", "head_name", "tail_name", "source")


def walk_faults(reading: Reading, path: SupportingPath, topics: Mapping[str, str]) -> list[str]:
    """What is wrong with a path, one phrase per fault.

    Args:
        reading: of the triples it cites.
        path: any.
        topics: names of the entities it may start from, by id.
    """
    citations = path.citations
    if not citations:
        return ["cites no triple"]
    faults: list[str] = []
    for cited in citations:
        row = cited.triple
        fact = reading.facts.get(row) if isinstance(row, int) else None
        stated = (
            cited.head,
            cited.relation,
            cited.tail,
            cited.head_name,
            cited.tail_name,
            cited.source,
        )
        if fact is None:
            faults.append(f"cites triple {row!r} of a graph of {reading.kg.num_triples}")
        elif stated != fact:
            wrong = [
                f"{field} {says!r}, where the graph has {reads!r}"
                for field, says, reads in zip(_FIELDS, stated, fact)
                if says != reads
            ]
            faults.append(f"cites triple {row} with {', and '.join(wrong)}")
        if not isinstance(cited.inverse, bool):
            faults.append(f"has {cited.inverse!r} for the direction of triple {row!r}")
    for before, after in itertools.pairwise(citations):
        end, start = before.end[0], after.start[0]
        if end != start:
            faults.append(f"breaks: it ends at {end!r} and continues from {start!r}")
    start, name = citations[0].start
    if start not in topics:
        faults.append(f"starts at {start!r}, which is no chosen topic")
    elif topics[start] != name:
        faults.append(f"starts at {name!r}, which the topics call {topics[start]!r}")
    walked = tuple([walked_relation(cited) for cited in citations])
    if path.relation_path != walked:
        faults.append(f"states the relations {path.relation_path!r}, and walks {walked!r}")
    # A walk that is not in the graph cannot be told.
    if not faults and path.sentence != (sentence := reading.tell(citations)):
        faults.append(f"is told as {path.sentence!r}, where its triples say {sentence!r}")
    return faults
