"""The machine check of an answer: everything it cites is read in the graph again.

The triples of a walk are read again; the answer to a query graph is derived again, without JAX.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Mapping, Sequence

import numpy as np

from jaxkg.answer import JUDGED, Answer
from jaxkg.cite.queries import COUNTED
from jaxkg.cite.reading import Reading, walked_relation
from jaxkg.errors import JaxkgError
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.queries.proof import proved, proved_cells, proved_words
from jaxkg.kg.queries.sets import QuerySets, Result, sides
from jaxkg.query import Calculation, Compared, Count, Query, Rows, Total, query_from_dict
from jaxkg.readings import column_words, say
from jaxkg.records import SupportingPath


@functools.lru_cache(maxsize=2)
def _sets(kg: KnowledgeGraph) -> QuerySets:
    return QuerySets(kg)


def query_faults(reading: Reading, answer: Answer) -> list[str]:
    """What is wrong with an answer to a query graph; one sentence per fault.

    The query graph is executed again on the host, without JAX. The answers must be what it
    executes to; the walks must stand in the graph; and what an answer cites must by itself suffice
    to derive it, but for what a difference leaves out, what an order leaves behind and that there
    is no more to count, which only the whole graph can show. Where a language model judged what was
    found, it may have left out some or all of it: what is listed must be found, not all be listed.
    """
    kg = reading.kg
    try:
        query = query_from_dict(answer.query)
        sets = _sets(kg)
        result = sets.execute(query)
    except JaxkgError as error:
        return [f"the query graph cannot be executed: {error}"]
    faults: list[str] = []
    if answer.reading != (sentence := say(kg, query)):
        faults.append(
            f"the reading {answer.reading!r} is not that of the query graph, {sentence!r}"
        )
    ids = [path.id for path in answer.paths]
    faults += [f"path id {id!r} is used more than once" for id in {*ids} if ids.count(id) > 1]
    for path in answer.paths:
        # Where it may start is for the proof to say.
        start = dict([path.citations[0].start] if path.citations else [])
        faults += [f"path {path.id!r} {fault}" for fault in walk_faults(reading, path, start)]
    for entity in answer.entities:
        unknown = [id for id in entity.paths if id not in ids]
        faults += [f"answer {entity.entity!r} cites path {id!r}, none of these" for id in unknown]
    if faults:
        return faults
    return _wrong_answers(sets, query, result, answer)


def _wrong_answers(sets: QuerySets, query: Query, result: Result, answer: Answer) -> list[str]:
    faults: list[str] = []
    judged = answer.system.endswith(JUDGED)
    if answer.abstained is not None:
        if answer.entities:
            return silence_faults(answer)
        may_abstain = result.kind in ("entities", "table") or isinstance(query, Total | Calculation)
        finds = may_abstain and len(result.rows) and not judged
        return ["the answer abstains, and the query graph finds something"] if finds else []
    listing = [entity.entity for entity in answer.entities]
    if result.kind == "entities":
        wanted = {sets.kg.entity_ids[row] for row in result.rows.tolist()}
        faults += [
            f"answer {name!r} is listed more than once"
            for name in listing
            if listing.count(name) > 1
        ]
        faults += [
            f"answer {name!r} is not what the query graph finds" for name in {*listing} - wanted
        ]
        if not judged:
            faults += [f"{name!r} is found and not listed" for name in sorted(wanted - {*listing})]
        faults += [
            f"answer {entity.entity!r} is called {entity.name!r}, which is not its name"
            for entity in answer.entities
            if entity.entity in wanted
            and sets.kg.name(sets.kg.entity(entity.entity)) != entity.name
        ]
    elif isinstance(query, Rows):
        listing = [(e.entity, e.name, e.cells) for e in answer.entities]
        if listing != (wanted := _rows(sets, query, result)):
            wrong = next((a for a, b in zip(listing, wanted) if a != b), (listing + wanted)[-1])
            faults.append(f"the row {wrong} is not what the query graph tells in its place")
        if answer.columns != column_words(sets.kg, query):
            faults.append(f"the columns are not called {answer.columns}")
    elif listing != [result.words]:
        return [f"the answer is {listing}, and the query graph says {result.words!r}"]
    if faults:
        return faults
    return [*_unproved(sets, query, result, answer)]


def _rows(sets: QuerySets, query: Rows, result: Result) -> list[tuple[str, str, tuple[str, ...]]]:
    """Id, name and cells of every row of a table."""
    kg, rows = sets.kg, []
    for row in result.table:
        of = int(row.members[0]) if query.top else row.key
        cells = tuple(cell.words(sets.values) for cell in row.cells)
        rows.append((kg.entity_ids[of], kg.name(of), (kg.name(row.key),) * bool(query.top) + cells))
    return rows


def _unproved(sets: QuerySets, query: Query, result: Result, answer: Answer) -> list[str]:
    """Answers that what they cite does not suffice for."""
    cited = {path.id: path.citations for path in answer.paths}
    left_out = [note for note in answer.notes if note.startswith("walks are cited for ")]
    counted = not any(note.endswith(COUNTED) for note in left_out)
    cut = not all(note.endswith(COUNTED) for note in left_out)
    faults = []
    for place, entity in enumerate(answer.entities):
        steps = [step for id in entity.paths for step in cited[id]]
        edges = {(s.start[0], ("^" if s.inverse else "") + s.relation, s.end[0]) for s in steps}
        if isinstance(query, Rows):
            cells = None if left_out else proved_cells(sets, query, result.table[place], edges)
            if not left_out and cells != entity.cells[bool(query.top) :]:
                faults.append(f"the row of {entity.entity!r} does not follow from what it cites")
            continue
        shown = [proved(sets, side, edges, counted=counted) for side in sides(query)]
        if result.kind == "entities":
            lacking = entity.entity not in shown[0] and not (cut and not entity.paths)
        elif isinstance(query, Total | Calculation):
            lacking = not left_out and proved_words(sets, query, edges) != result.words
        elif result.kind == "number":
            lacking = not cut and len(shown[0]) != result.number
        elif isinstance(query, Compared) and isinstance(query.left, Count):
            counts = [len(derived.nodes) for derived in result.derived]
            lacking = not cut and list(map(len, shown)) != counts
        elif isinstance(query, Compared) or not result.truth:
            lacking = not cut and bool(result.truth) and not all(shown)
        else:
            lacking = not shown[0]
        if lacking:
            faults.append(f"answer {entity.entity!r} does not follow from the paths it cites")
    return faults


_FIELDS = ("head", "relation", "tail", "head_name", "tail_name", "source")
_stated = operator.attrgetter(*_FIELDS)


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
        stated = _stated(cited)
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


def check(kg: KnowledgeGraph, answer: Answer) -> tuple[str, ...]:
    """Check an answer against the graph; `check_all` is much faster for many answers.

    Every cited triple must stand at its row and read as stated (ids, names, source). Every path
    must be connected in walking order, start at a chosen topic, and have the relation path and the
    sentence its triples yield. Every answer entity must cite paths of this answer, all of which
    end in it, and carry the graph's name. Ids of paths and entities must be unique. An answer
    without entities must say why, and no other answer may. If an answer has a query graph, the
    query graph is executed again and compared instead, see `query_faults`.

    Returns:
        One sentence per fault; an empty tuple if the answer is grounded.
    """
    return check_all(kg, [answer])[0]


def check_all(kg: KnowledgeGraph, answers: Sequence[Answer]) -> list[tuple[str, ...]]:
    """`check` for many answers; the triples they cite are read once."""
    rows = {
        citation.triple
        for answer in answers
        for path in answer.paths
        for citation in path.citations
        if isinstance(citation.triple, int) and 0 <= citation.triple < kg.num_triples
    }
    reading = Reading(kg, np.fromiter(rows, np.int64, len(rows)))
    return [tuple(_faults(reading, answer)) for answer in answers]


def grounded(kg: KnowledgeGraph, answer: Answer) -> bool:
    """True where `check` finds no fault; so is an abstention that cites nothing."""
    return not check(kg, answer)


def _faults(reading: Reading, answer: Answer) -> list[str]:
    if answer.query is not None:
        return query_faults(reading, answer)
    faults: list[str] = []
    topics = {link.entity: link.name for link in answer.topics if link.chosen}
    ends: dict[str, tuple[str, str]] = {}
    for path in answer.paths:
        if path.id in ends:
            faults.append(f"path id {path.id!r} is used more than once")
        ends[path.id] = path.end if path.citations else ("", "")
        faults += [f"path {path.id!r} {fault}" for fault in walk_faults(reading, path, topics)]
    seen: set[str] = set()
    for entity in answer.entities:
        if entity.entity in seen:
            faults.append(f"answer {entity.entity!r} is listed more than once")
        seen.add(entity.entity)
        if not entity.paths:
            faults.append(f"answer {entity.entity!r} cites no path")
        for path_id in entity.paths:
            end, name = ends.get(path_id, (None, ""))
            cites = f"answer {entity.entity!r} cites path {path_id!r}, which"
            if end is None:
                faults.append(f"{cites} is none of the paths here")
            elif end != entity.entity:
                faults.append(f"{cites} ends in {end!r}")
            elif name != entity.name:
                faults.append(f"{cites} calls it {name!r}, not {entity.name!r}")
    return faults + silence_faults(answer)


def silence_faults(answer: Answer) -> list[str]:
    """What is wrong with whether an answer abstains."""
    if answer.entities and answer.abstained is not None:
        return ["the answer abstains and yet lists entities"]
    if not answer.entities and answer.abstained is None and answer.error is None:
        return ["the answer lists no entity and does not say why"]
    return []
