"""What people ask and which relations answer it, domain by domain: `phrasebook.tar.xz`.

It holds 117 schemas of as many trades and pursuits, 18 to 26 relations each with three to six
labels, and 17,919 questions of one to three relations, most of them not in the words of any label.
It was written for this project by seven hands who had seen neither the reader nor the own graphs;
nothing is taken from another data set. CC0. Directions were checked by eye alone; conditions on two
things are written like chains, so only which relations a question asks for may be learnt from it,
not their order.

A file is a title (`== lighthouse trust`), a line a relation (`kept_by: lighthouse > keeper: kept
by; keeper; in charge`, its labels as different tables have them), a line `--`, and a line a
question: `-kept_by lit_on: when did the lamp first go on at the place @ runs?`, where `-` is a
relation walked from tail to head and `@` a name.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from pathlib import Path

from jaxkg.errors import JaxkgError
from jaxkg.kg.link.folding import split_words
from jaxkg.words import relation_words

sys.path.append(str(Path(__file__).resolve().parents[2]))
from lib.own import unpacked

_RELATION = re.compile(r"([a-z][a-z0-9_]*): ([^>:]+) > ([^>:]+): (.+)")
_NAME = "it"
"""What stands for a name, as in `Alignment.masked_text`."""


@dataclasses.dataclass(frozen=True)
class Phrase:
    """A question and the relations that answer it.

    Attributes:
        text: in folded words, names masked.
        ahead, backwards: relations walked from head to tail, from tail to head; both where the
            question names nothing to walk from.
    """

    text: str
    ahead: frozenset[int]
    backwards: frozenset[int]


@dataclasses.dataclass(frozen=True)
class Domain:
    """A schema and questions.

    Attributes:
        title: what it is about.
        labels: of each relation.
        ends: sorts of head and tail of each relation.
        phrases: the questions.
    """

    title: str
    labels: tuple[tuple[str, ...], ...]
    ends: tuple[tuple[str, str], ...]
    phrases: tuple[Phrase, ...]


def masked_words(text: str) -> str:
    """A question in folded words, each `@` a name.

    >>> masked_words("What do @'s goods cost?")
    'what do it s goods cost'
    """
    return " ".join(split_words(text.replace("@", f" {_NAME} ")).folded)


def read_domain(path: Path) -> Domain:
    """Read a file.

    Raises:
        JaxkgError: a line is of another form, or names a relation that the file does not have.
    """
    title, place, labels, ends, phrases = path.stem, {}, [], [], []
    asked = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("== "):
            title = line[3:]
        elif line.strip() == "--":
            asked = True
        elif line.strip() and not asked:
            found = _RELATION.fullmatch(line)
            if found is None:
                raise JaxkgError(f"{path}:{number}: no `key: head > tail: labels`: {line!r}")
            place[found[1]] = len(labels)
            ends.append((found[2].strip(), found[3].strip()))
            told = (relation_words(label.strip()) for label in found[4].split(";"))
            labels.append(tuple(dict.fromkeys(filter(None, told))))
        elif line.strip():
            keys, _, text = line.partition(": ")
            names = [key.removeprefix("-") for key in keys.split()]
            if not text or not names or not set(names) <= set(place):
                raise JaxkgError(f"{path}:{number}: no `keys: question`: {line!r}")
            back = frozenset(place[key[1:]] for key in keys.split() if key.startswith("-"))
            ahead = frozenset(place[key] for key in keys.split() if not key.startswith("-"))
            if "@" not in text:
                ahead = back = ahead | back
            phrases.append(Phrase(masked_words(text), ahead, back))
    return Domain(title, tuple(labels), tuple(ends), tuple(phrases))


def read_phrasebook(place: Path) -> list[Domain]:
    """All files of an archive or of a folder, by name.

    Raises:
        JaxkgError: there are none, or one is of another form.
    """
    domains = [read_domain(path) for path in sorted(unpacked(place).glob("*.txt"))]
    if not domains:
        raise JaxkgError(f"{place} holds no phrasebook (*.txt)")
    return domains
