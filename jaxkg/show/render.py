"""An answer as text for a terminal and as HTML for a notebook.

Names, questions and relations are data: control characters are taken out, markup is never read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from jaxkg.errors import JaxkgError
from jaxkg.limits import shortened
from jaxkg.records import (
    WORKED_OUT,
    Link,
    OtherReading,
    Passage,
    PlanCandidate,
    RankedEntity,
    SupportingPath,
)
from jaxkg.show.export import cited_paths
from jaxkg.show.shown import Shown
from jaxkg.show.svg import svg
from jaxkg.words import one_line, relation_path_words

if TYPE_CHECKING:
    from rich.text import Text

_T = TypeVar("_T")
_WIDEST = 40  # characters that a cell is filled up to
_SHOWN = 120  # characters of a passage
_TITLE, _ANSWER, _FAINT, _WARNING = "bold", "bold green", "dim", "bold yellow"


class _Span(NamedTuple):
    """A stretch of a line and the style it is shown in."""

    text: str
    style: str = ""


_Line = list[_Span]


def text(answer: Shown, *, limit: int = 10) -> str:
    """The answer as plain text; what `print(answer)` shows.

    Args:
        answer: any.
        limit: most items of a list to show; how many are left out is said.

    Raises:
        JaxkgError: limit is below 1.
    """
    return "\n".join(map(_plain, _lines(answer, limit)))


def rich_text(answer: Shown, *, limit: int = 10) -> Text:
    """The lines of `text` with styles, for a rich console."""
    from rich.text import Text

    lines = _lines(answer, limit)
    return Text("\n").join(Text.assemble(*line) for line in lines)


def html(answer: Shown, *, limit: int = 10) -> str:
    """The answer as a table, its drawing, and the rest to unfold; what a notebook shows.

    Raises:
        JaxkgError: limit is below 1.
    """
    _check_limit(limit)
    parts = [f"<p><strong>{escape(one_line(answer.question))}</strong></p>"]
    parts += [f"<p>{escape(span.text)}</p>" for [span] in _verdict(answer)]
    if answer.entities:
        parts.append(_table(answer, limit))
    if any(path.citations for path in answer.paths):
        parts.append(f'<div style="overflow-x:auto">{svg(answer)}</div>')
    rest = [
        "\n".join([f"<b>{title}</b>", *(escape(_plain(line)) for line in lines)])
        for title, lines in _sections(answer, limit)
        if title != "Answers"
    ]
    if rest:
        unfolded = "\n\n".join(rest)
        parts.append(f"<details><summary>How it was found</summary><pre>{unfolded}</pre></details>")
    # The classes keep a notebook from setting what stands between two dollar signs as a formula.
    return f'<div class="tex2jax_ignore mathjax_ignore">{"".join(parts)}</div>'


class Printed:
    """Gives whatever is `Shown` its `str()` and its picture in a notebook."""

    def __str__(self: Shown) -> str:
        return text(self)

    def _repr_html_(self: Shown) -> str:
        return html(self)


def _table(answer: Shown, limit: int) -> str:
    sentences = {path.id: path.sentence for path in answer.paths}
    heads = answer.columns or ("answer",)
    named = "".join(f"<th>{escape(one_line(head))}</th>" for head in heads)
    rows = [f"<tr><th></th>{named}<th>score</th><th>because</th></tr>"]
    for rank, entity in enumerate(answer.entities[:limit], start=1):
        because = one_line(next((sentences[i] for i in entity.paths if i in sentences), ""))
        if len(entity.paths) > 1:
            because += f" (and {len(entity.paths) - 1:,} more)"
        words = [_who(entity), *map(one_line, entity.cells)]
        cells = str(rank), *words, f"{entity.score:.3g}", because
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    if len(answer.entities) > limit:
        rows.append(
            f'<tr><td></td><td colspan="{2 + len(heads)}">{_more(answer.entities, limit)}</td></tr>'
        )
    return f"<table>{''.join(rows)}</table>"


def _plain(line: _Line) -> str:
    return "".join(span.text for span in line)


def _lines(answer: Shown, limit: int) -> Iterator[_Line]:
    _check_limit(limit)
    yield [_Span(one_line(answer.question), _TITLE)]
    yield from _verdict(answer)
    for title, lines in _sections(answer, limit):
        yield []
        yield [_Span(title, _TITLE)]
        yield from ([_Span("  "), *line] for line in lines)


def _verdict(answer: Shown) -> Iterator[_Line]:
    """What to know before anything else: the reading, no answer, a failure, a model's reasons."""
    if answer.reading:
        yield [_Span(f"Read as: {one_line(answer.reading)}", "italic")]
    if answer.abstained is not None:
        yield [_Span(f"No answer: {one_line(answer.abstained)}", _WARNING)]
    elif not answer.entities:
        yield [_Span("No answer, and no reason given", _WARNING)]
    if answer.error is not None:
        error = one_line(answer.error)
        failed = f"The model failed ({error}); this is the answer without it"
        yield [_Span(failed if answer.entities else f"Error: {error}", _WARNING)]
    if answer.rationale is not None:
        yield [_Span(f"The model's reasons: {one_line(answer.rationale)}", "italic")]


def _sections(answer: Shown, limit: int) -> Iterator[tuple[str, list[_Line]]]:
    """Title and lines of every part that has something to say."""
    paths = cited_paths(answer)
    considered = len(answer.paths) - len(paths)
    more = f"{considered:,} more {'path' if considered == 1 else 'paths'}, not cited"
    beside = [[_Span(more, _FAINT)]] if considered else []
    mean = "Did you mean" if answer.abstained is not None else "Or did you mean"
    for title, lines in (
        ("Answers", _answers(answer, limit)),
        (mean, _listed(answer.readings, limit, _reading_lines)),
        ("Paths", _listed(paths, limit, _path_lines) + beside),
        ("Passages", _listed(answer.passages, limit, _passage_lines)),
        ("Plan", _listed(answer.plan, limit, _plan_lines)),
        ("Topics", _listed(answer.topics, limit, _topic_lines)),
        ("Named by the model, never offered", _listed(answer.dropped, limit, _item_lines)),
        ("Named by the model, no path cited", _listed(answer.refused, limit, _item_lines)),
        ("Notes", _listed(answer.notes, len(answer.notes) or 1, _item_lines)),
        ("Cost", list(_cost_lines(answer))),
    ):
        if lines:
            yield title, lines


def _listed(
    items: Sequence[_T], limit: int, lines_of: Callable[[int, _T], Iterator[_Line]]
) -> list[_Line]:
    lines = [
        line for rank, item in enumerate(items[:limit], start=1) for line in lines_of(rank, item)
    ]
    return lines + ([[_Span(_more(items, limit), _FAINT)]] if len(items) > limit else [])


def _more(items: Sequence[object], limit: int) -> str:
    return f"… and {len(items) - limit:,} more"


def _answers(answer: Shown, limit: int) -> list[_Line]:
    """One a line; a table in columns, whose first line tells what they are."""
    if not answer.columns:
        return _listed(answer.entities, limit, _answer_lines)
    rows = [[_who(e), *map(one_line, e.cells)] for e in answer.entities[:limit]]
    table = [list(map(one_line, answer.columns)), *rows]
    wide = [min(max(map(len, column)), _WIDEST) for column in zip(*table)]
    lines = []
    for rank, (cells, paths) in enumerate(zip(table, [(), *(e.paths for e in answer.entities)])):
        text = "  ".join(cell.ljust(size) for cell, size in zip(cells, wide))
        lines.append([
            _Span(f"{rank:>2}. " if rank else "    "),
            _Span(text.rstrip(), _ANSWER if rank else _FAINT),
            _Span(f"  {_few(paths)}" if rank else "", _FAINT),
        ])  # fmt: skip
    left = [[_Span(_more(answer.entities, limit), _FAINT)]]
    return lines + left * (len(answer.entities) > limit) if rows else []


def _answer_lines(rank: int, entity: RankedEntity) -> Iterator[_Line]:
    # A count or a yes stands alone: it has no rank.
    alone = entity.kind in WORKED_OUT
    yield [
        _Span("    " if alone else f"{rank:>2}. "),
        _Span(_who(entity), _ANSWER),
        _Span("" if alone else f"  {entity.score:.3g}"),
        _Span(f"  {_few(entity.paths)}", _FAINT),
    ]


def _path_lines(rank: int, path: SupportingPath) -> Iterator[_Line]:
    if path.hyperedges:
        what, relations = "hyperedges", ""
        cited = [(each.hyperedge, each.title) for each in path.hyperedges]
    else:
        what, relations = "triples", f"  {relation_path_words(path.relation_path)}"
        cited = [(each.triple, each.source) for each in path.citations]
    yield [_Span(f"{one_line(path.id)}  "), _Span(f"{path.score:.3g}{relations}", _FAINT)]
    yield [_Span(f"    {one_line(path.sentence)}")]
    walked = (f"{row} ({one_line(source)})" if source else str(row) for row, source in cited)
    yield [_Span(f"    {what} {', '.join(walked)}", _FAINT)]


def _passage_lines(rank: int, passage: Passage) -> Iterator[_Line]:
    words = one_line(passage.text)
    yield [
        _Span(f"{rank:>2}. "),
        _Span(one_line(passage.title or passage.chunk), "bold"),
        _Span(f"  {passage.score:.3g}  ", _FAINT),
        _Span(words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"),
    ]


def _reading_lines(rank: int, other: OtherReading) -> Iterator[_Line]:
    more = f" and {other.more:,} more" if other.more else ""
    yield [
        _Span(f"{rank}. "),
        _Span(one_line(other.reading), "italic"),
        _Span(f" → {', '.join(map(one_line, other.preview))}{more}"),
        _Span(f"  {other.confidence:.2f}", _FAINT),
    ]


def _plan_lines(rank: int, plan: PlanCandidate) -> Iterator[_Line]:
    reached = "not executed" if plan.reached is None else f"{plan.reached:,} reached"
    yield [
        _Span(f"{plan.probability:5.3f}  "),
        _Span(relation_path_words(plan.relations), "bold" if plan.used else ""),
        _Span(f"  {reached}{', used' if plan.used else ''}", _FAINT),
    ]


def _topic_lines(rank: int, link: Link) -> Iterator[_Line]:
    yield [
        _Span(f"{link.score:5.3f}  "),
        _Span(_who(link), "bold" if link.chosen else ""),
        _Span(f"  {one_line(link.method)}{'' if link.chosen else ', runner-up'}", _FAINT),
    ]


def _item_lines(rank: int, item: str) -> Iterator[_Line]:
    yield [_Span(f"- {one_line(item)}")]


def _cost_lines(answer: Shown) -> Iterator[_Line]:
    usage = answer.usage
    if answer.system:
        yield [_Span(f"answered by {one_line(answer.system)}", _FAINT)]
    if usage.seconds or usage.stages:
        stages = ", ".join(f"{one_line(name)} {took:.3g}" for name, took in usage.stages.items())
        yield [_Span(f"{usage.seconds:.3g} s{f' ({stages})' if stages else ''}", _FAINT)]
    if usage.calls:
        tokens = f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens"
        calls = f"{usage.calls:,} call{'s' if usage.calls > 1 else ''}"
        price = "unknown" if usage.price is None else f"{usage.price:.4g}"
        yield [_Span(f"{calls} to a model, {tokens}, price {price}", _FAINT)]


def _who(item: RankedEntity | Link) -> str:
    """Name, and the id where that is another: homonyms are told apart by it; an RDF literal's says
    nothing else."""
    name = one_line(shortened(item.name))
    same = item.entity == item.name or item.entity.startswith(f'"{item.name}"')
    return name if same else f"{name} [{one_line(shortened(item.entity))}]"


def _few(path_ids: Sequence[str]) -> str:
    shown = ", ".join(map(one_line, path_ids[:3]))
    return f"{shown} {_more(path_ids, 3)}" if len(path_ids) > 3 else shown


def _check_limit(limit: int) -> None:
    if limit < 1:
        raise JaxkgError(f"limit is the number of items to show, at least 1, not {limit}")
