"""A question taken apart in the order of its hops, by its own words and nothing else.

What a question says nearest to its topic it asks first: "who is [the brother of] Alien['s
director]" goes to the director, then to the brother. The words after the topic come first, in their
order, then those before it, the nearest first; the sequence is cut where its parts read most like
relation labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from jaxkg.words import TOPIC_WORD


def hop_texts(
    masked: Sequence[str], hops: int, likeness: Callable[[Sequence[str]], np.ndarray]
) -> list[list[str]]:
    """The words of every hop, for paths of 1, 2, ... L hops.

    Args:
        masked: question texts, their topics masked.
        hops: L.
        likeness: of texts, how much each is like the relation label that it is most like.

    Returns:
        L(L + 1) / 2 texts a question: that of the path of one hop, the two of two hops, ... A
        question of fewer words than hops gives all its words to each.

    >>> score = {"'s director": 1.0, "who is the brother of": 1.0}
    >>> like = lambda texts: np.array([score.get(text, 0.0) for text in texts])
    >>> hop_texts([f"who is the brother of {TOPIC_WORD} 's director"], 2, like)
    [["who is the brother of 's director", "'s director", 'who is the brother of']]
    """
    sides = [_sides(text) for text in masked]
    wanted = [_pieces(len(before) + len(after), hops) for before, after in sides]
    texts = [[_text(side, *piece) for piece in pieces] for side, pieces in zip(sides, wanted)]
    distinct = list(dict.fromkeys(text for pieces in texts for text in pieces))
    near = dict(zip(distinct, likeness(distinct).tolist())) if distinct else {}
    rows = []
    for side, pieces, words in zip(sides, wanted, texts):
        size = len(side[0]) + len(side[1])
        score = {piece: near[text] for piece, text in zip(pieces, words)}
        parts: list[str] = []
        for length in range(1, hops + 1):
            cut = _best_cut(score, size, length) if length <= size else [(0, size)] * length
            parts += [_text(side, *piece) for piece in cut]
        rows.append(parts)
    return rows


def _sides(text: str) -> tuple[list[str], list[str]]:
    """Words before the topic, and after it; without a topic all are before."""
    before, _, after = text.partition(TOPIC_WORD)
    return before.split(), after.replace(TOPIC_WORD, " ").split()


def _text(sides: tuple[list[str], list[str]], first: int, last: int) -> str:
    """Places of the sequence, read as the question reads them."""
    before, after = sides
    ahead = len(before) + len(after) - last, len(before) + len(after) - first
    return " ".join([*before[ahead[0] : ahead[1]], *after[first:last]])


def _pieces(size: int, hops: int) -> list[tuple[int, int]]:
    """Stretches of the sequence that a cut into at most L parts may have."""
    inner = range(1, size) if hops > 1 else ()
    ends = [(0, size), *((0, cut) for cut in inner), *((cut, size) for cut in inner)]
    middle = [(a, b) for a in inner for b in inner if a < b] if hops > 2 else []
    return list(dict.fromkeys([*ends, *middle]))


def _best_cut(score: dict[tuple[int, int], float], size: int, parts: int) -> list[tuple[int, int]]:
    """The cut into so many parts whose likeness adds up to most; the first of equals."""
    best: dict[int, tuple[float, list[tuple[int, int]]]] = {0: (0.0, [])}
    for part in range(parts):
        last = part == parts - 1
        grown: dict[int, tuple[float, list[tuple[int, int]]]] = {}
        for begin, (total, cut) in best.items():
            for end in (size,) if last else range(begin + 1, size - (parts - part - 2)):
                option = total + score[begin, end], [*cut, (begin, end)]
                if end not in grown or option[0] > grown[end][0]:
                    grown[end] = option
        best = grown
    return best[size][1]
