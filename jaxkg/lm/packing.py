"""Examples packed into rows of one length: several to a row, none of which sees another."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.lm.tokenizer import LMTokenizer
from jaxkg.tensors import bucket
from jaxkg.types import NULL


@dataclasses.dataclass(frozen=True)
class Example:
    """A prompt and what is to be written behind it.

    Attributes:
        prompt: token ids, at least one; nothing is learnt of them.
        answer: token ids, the end of the turn included.
    """

    prompt: tuple[int, ...]
    answer: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.prompt or not self.answer:
            raise JaxkgError("an example has at least one token of prompt and one of answer")

    @property
    def length(self) -> int:
        """Tokens of both."""
        return len(self.prompt) + len(self.answer)

    @classmethod
    def of_chat(
        cls, tokenizer: LMTokenizer, turns: Sequence[tuple[str, str]], items: Sequence[str]
    ) -> Example:
        """A chat whose reply is a list, one item a line.

        Items are encoded one by one, as constrained decoding writes them.
        """
        answer: list[int] = []
        for item in items:
            answer += ([tokenizer.newline] if answer else []) + tokenizer.encode(item)
        return cls(tuple(tokenizer.chat(turns)), (*answer, tokenizer.end[0]))


class Packed(NamedTuple):
    """Rows of T tokens with A places whose next token is learnt."""

    tokens: np.ndarray  # [N, T] int32
    segment: np.ndarray  # [N, T] int32, example of the row that a token belongs to; NULL: padding
    position: np.ndarray  # [N, T] int32, place within the example
    place: np.ndarray  # [N, A] int32, column whose state predicts; NULL for none
    label: np.ndarray  # [N, A] int32, the token it is to predict
    example: np.ndarray  # [N, A] int32, number of the example; NULL for none


def pack(examples: Sequence[Example], *, length: int, together: bool = True) -> Packed:
    """Put examples into rows, longest first, each into the first row that has room.

    Args:
        examples: any number, at least one.
        length: T.
        together: False gives every example a row of its own, in order.

    Raises:
        JaxkgError: none, or an example is longer than a row.
    """
    if not examples:
        raise JaxkgError("there are no examples to pack")
    if (longest := max(each.length for each in examples)) > length:
        raise JaxkgError(f"an example has {longest} tokens, a row {length}; take longer rows")
    rows: list[list[int]] = []
    if together:
        open_: list[tuple[int, int]] = []  # rows with room: (room, row)
        for number in sorted(range(len(examples)), key=lambda i: -examples[i].length):
            wanted = examples[number].length
            for i, (room, row) in enumerate(open_):
                if room >= wanted:
                    rows[row].append(number)
                    open_[i] = (room - wanted, row)
                    break
            else:
                rows.append([number])
                open_.append((length - wanted, len(rows) - 1))
            # Looking through all rows for every example would be quadratic.
            open_ = [pair for pair in open_ if pair[0] > 0][-64:]
    else:
        rows = [[number] for number in range(len(examples))]
    widest = bucket(max(sum(len(examples[i].answer) for i in row) for row in rows))
    packed = Packed(
        *(np.full((len(rows), length), fill, np.int32) for fill in (0, NULL, 0)),
        *(np.full((len(rows), widest), fill, np.int32) for fill in (NULL, 0, NULL)),
    )
    for row, numbers in enumerate(rows):
        at = filled = 0
        for segment, number in enumerate(numbers):
            prompt, answer = examples[number].prompt, examples[number].answer
            last = at + len(prompt) + len(answer)
            packed.tokens[row, at:last] = prompt + answer
            packed.segment[row, at:last] = segment
            packed.position[row, at:last] = np.arange(last - at)
            learnt = slice(filled, filled + len(answer))
            packed.place[row, learnt] = np.arange(at + len(prompt) - 1, last - 1)
            packed.label[row, learnt] = answer
            packed.example[row, learnt] = number
            at, filled = last, learnt.stop
    return packed
