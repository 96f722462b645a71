"""Which words of a question a reading explains, and which it leaves aside; all readings at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.paths.quick import elements

_A_NAME = 0.7
"""Score from which on words are a name."""


def word_views(
    asked: Asked,
    found: Sequence[Candidate],
    kinds: Sequence[tuple[int, ...]],
    find: Candidates,
) -> dict[str, np.ndarray]:
    """Shares of the question's words of content that readings explain.

    Args:
        asked: the question.
        found: C readings, one at least.
        kinds: of each the classes of what it leads to.
        find: what found them.

    Returns:
        By the name of the view, [C] each.
    """
    content, names = _content(asked, found)
    # A row of zeros before those of each reading, so that none is without one.
    nothing = np.zeros(content.shape[1], np.float32)
    letters, vectors, starts = [], [], []
    for candidate, ends in zip(found, kinds, strict=True):
        steps, named, loose = elements(asked, candidate, ends, find.vocabulary)
        some = (*steps, *named, *loose)
        starts.append(len(letters))
        letters += [nothing, *(one.lex for one in some)]
        vectors += [nothing, *(one.sem for one in some)]
    lex, sem = (np.maximum.reduceat(np.stack(rows), starts) for rows in (letters, vectors))
    for row, candidate in enumerate(found):
        if candidate.explained:
            lex[row, list(candidate.explained)] = 1.0
    lex[names] = 1.0
    soft = np.clip((sem - 0.2) / 0.5, 0, 1)
    cover = np.maximum(lex, soft)
    # What the graph has a relation for, and the reading does without.
    aside = content * np.maximum(asked.named - cover, 0)
    total = content.sum(axis=1).astype(np.float64)
    whole = np.where(total == 0, 1.0, total)
    explained = (content * cover).sum(axis=1).astype(np.float64)
    return {
        "named aside": aside.max(axis=1, initial=0.0),
        "named aside in all": aside.sum(axis=1),
        "named aside by letters": (content * np.maximum(asked.named - lex, 0)).max(
            axis=1, initial=0.0
        ),
        "explained": explained,
        "unexplained": (content * (1 - cover)).sum(axis=1),
        "share": explained / whole,
        "worst word": (content * (1 - cover)).max(axis=1, initial=0.0),
        "share by letters": (content * lex).sum(axis=1).astype(np.float64) / whole,
        "share by vectors": (content * soft).sum(axis=1).astype(np.float64) / whole,
        "zero": total == 0,
    }


def _content(asked: Asked, found: Sequence[Candidate]) -> tuple[np.ndarray, np.ndarray]:
    """[C, W] how much words count for each reading, and whether they are a name that it uses."""
    rows: dict[tuple[tuple[int, int], ...], int] = {}
    order = [rows.setdefault(candidate.topics, len(rows)) for candidate in found]
    content = np.tile(asked.alignment.content, (len(rows), 1))
    names = np.zeros(content.shape, bool)
    for topics, row in rows.items():
        used = {mention for mention, _ in topics}
        for place, mention in enumerate(asked.mentions):
            if place in used:
                names[row, list(mention.words)] = True
            elif mention.score >= _A_NAME:  # a name that goes unused is a word unexplained
                content[row, mention.first] = max(content[row, mention.first], mention.score)
    return content[order], names[order]
