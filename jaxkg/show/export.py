"""Answers for other programs: as CSV, and the triples behind them as a table and in DOT.

The triples are those of the paths the answers cite; of an abstention, those of the paths looked at.
"""

from __future__ import annotations

import csv
import io
import itertools

from jaxkg.errors import JaxkgError
from jaxkg.records import Citation, SupportingPath
from jaxkg.show.shown import Shown
from jaxkg.words import one_line, told_apart

_HEADER = ("head", "relation", "tail", "head_name", "tail_name", "source", "triple")


def cited_paths(answer: Shown) -> list[SupportingPath]:
    """Paths the answers cite; all paths where there is no answer.

    The first path of every answer comes before the second of any, so that a clipped list leaves no
    answer without one sooner than need be.
    """
    if not answer.entities:
        return list(answer.paths)
    by_id = {path.id: path for path in answer.paths}
    ranks = itertools.zip_longest(*(entity.paths for entity in answer.entities))
    cited = dict.fromkeys(itertools.chain.from_iterable(ranks))
    return [by_id[path_id] for path_id in cited if path_id in by_id]


def cited_triples(answer: Shown) -> list[Citation]:
    """The triples of `cited_paths`, each once, in the order they are first walked."""
    triples: dict[tuple[str, str, str], Citation] = {}
    for path in cited_paths(answer):
        for cited in path.citations:
            triples.setdefault((cited.head, cited.relation, cited.tail), cited)
    return list(triples.values())


def roles(answer: Shown) -> dict[str, str]:
    """ "topic" or "answer" by entity id, for the chosen topics and the answers."""
    topics = {link.entity: "topic" for link in answer.topics if link.chosen}
    return topics | {entity.entity: "answer" for entity in answer.entities}


def to_triples(answer: Shown) -> str:
    r"""The answer's subgraph as a TSV table with a header, one triple a line.

    Columns: ids of head, relation and tail, both names, source, row in the graph. `read_graph`
    reads it back.

    Raises:
        JaxkgError: an id would not survive: it holds a tab or a line break, or begins or ends with
            white space.
    """
    lines = ["\t".join(_HEADER)]
    for cited in cited_triples(answer):
        ids = (cited.head, cited.relation, cited.tail)
        for value in ids:
            if value != value.strip() or "\t" in value or "\n" in value:
                raise JaxkgError(
                    f"{value!r} cannot stand in a TSV table: it has a tab, a line break, or white "
                    "space at an end; save the answer as JSON"
                )
        names = map(one_line, (cited.head_name, cited.tail_name, cited.source or ""))
        lines.append("\t".join((*ids, *names, str(cited.triple))))
    return "\n".join(lines) + "\n"


def to_csv(answer: Shown) -> str:
    """The answers as CSV with a header, one a line; a table has a column for each of its own."""
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow(answer.columns or ("answer",))
    lines.writerows((entity.name, *entity.cells) for entity in answer.entities)
    return written.getvalue()


def to_dot(answer: Shown) -> str:
    """The answer's subgraph in the DOT language of Graphviz."""
    triples = cited_triples(answer)
    names = {cited.head: cited.head_name for cited in triples}
    names |= {cited.tail: cited.tail_name for cited in triples}
    shapes = {"topic": "box, style=bold", "answer": "box, style=filled", "": "ellipse"}
    role = roles(answer)
    lines = ["digraph answer {", "  rankdir=LR;"]
    number = {entity: f"n{place}" for place, entity in enumerate(names)}
    for entity, shown in zip(names, told_apart(list(names.items()))):
        label, tooltip = _quoted(shown), _quoted(entity)
        shape = shapes[role.get(entity, "")]
        lines.append(f"  {number[entity]} [label={label}, tooltip={tooltip}, shape={shape}];")
    for cited in triples:
        label = _quoted(cited.relation)
        tooltip = _quoted(f"triple {cited.triple}")
        ends = f"{number[cited.head]} -> {number[cited.tail]}"
        lines.append(f"  {ends} [label={label}, tooltip={tooltip}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    # A backslash would start one of DOT's escapes; in a quoted string nothing else is special.
    return '"' + one_line(text).replace("\\", "\\\\").replace('"', '\\"') + '"'
