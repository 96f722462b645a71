"""Questions that people ask of public tables: WikiTableQuestions.

Pasupat and Liang 2015, "Compositional Semantic Parsing on Semi-Structured Tables": 22,033 questions
about 2,108 tables of Wikipedia, CC BY-SA 4.0, the folder `ppasupat/WikiTableQuestions` of GitHub. A
table is read as any file is; an answer is right where its values are those that the data set names,
as its own evaluator compares them: numbers as numbers, days as days, texts without case, quotes and
what stands in brackets behind them.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jaxkg.errors import JaxkgError
from jaxkg.experiments.loading import load_graph
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.queries.literals import as_date, as_number

TRAINED, CHOSEN, TESTED = "random-split-1-train", "random-split-1-dev", "pristine-unseen-tables"
"""Splits: to learn from, to choose by, to report; no table is in two of them."""
_ESCAPES = {"\\n": "\n", "\\p": "|", "\\\\": "\\"}
_ESCAPE = re.compile(r"\\[np\\]")
_BEHIND = re.compile(r"\s*(\([^)]*\)|\[[^\]]*\])$")
_QUOTES = re.compile(r"[\"“”'‘’]")


class TableQuestion(NamedTuple):
    """A question about a table with the values that answer it."""

    id: str
    text: str
    answers: tuple[str, ...]


def table_questions(folder: Path, split: str) -> dict[Path, list[TableQuestion]]:
    """The questions of a split, `random-split-1-train` for one, by their tables.

    Raises:
        JaxkgError: there is no such split.
    """
    path = folder / "data" / f"{split}.tsv"
    if not path.is_file():
        raise JaxkgError(f"{path} is not there: --wiki-tables is the folder of the data set")
    found = defaultdict[Path, list[TableQuestion]](list)
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        id, text, table, answers = line.split("\t")
        values = (_ESCAPE.sub(lambda m: _ESCAPES[m[0]], part) for part in answers.split("|"))
        found[folder / table].append(TableQuestion(id, text, tuple(values)))
    return dict(sorted(found.items()))


def table_graphs(
    tables: Mapping[Path, Sequence[TableQuestion]],
) -> Iterator[tuple[str, KnowledgeGraph, Sequence[TableQuestion]]]:
    """Tables as graphs, by the names of their files; those that cannot be read are told."""
    for path, questions in tables.items():
        try:
            kg = load_graph(path)
        except JaxkgError as error:
            print(error, flush=True)
            continue
        yield f"{path.parent.name}/{path.stem}", kg, questions


def plain(text: str) -> str:
    """A text as answers are compared.

    >>> plain('"Ely Cup" (2004)[1]'), plain("Won.")
    ('ely cup', 'won')
    """
    text = _QUOTES.sub("", " ".join(text.lower().split()))
    while (shorter := _BEHIND.sub("", text)) not in ("", text):
        text = shorter
    return text.strip(" .")


def same_value(one: str, other: str) -> bool:
    """Whether two values are the same number, day or text.

    >>> same_value("1,205", "1205.0"), same_value("Bo (USA)", "bo"), same_value("7", "8")
    (True, True, False)
    """
    first, second = as_number(one), as_number(other)
    if first and second:
        return math.isclose(first[0], second[0], rel_tol=1e-6)
    days = as_date(one), as_date(other)
    return days[0] == days[1] if all(days) else plain(one) == plain(other)


def answers_all(found: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether values are those that are wanted, in any order.

    >>> answers_all(["Ely", "Ulm"], ["ulm", "ely"]), answers_all(["Ely"], ["ulm", "ely"])
    (True, False)
    """
    found = list(dict.fromkeys(found))
    return len(found) == len(wanted) and all(
        any(same_value(one, other) for other in others)
        for some, others in ((found, wanted), (wanted, found))
        for one in some
    )
