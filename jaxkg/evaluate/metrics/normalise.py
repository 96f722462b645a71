"""Text normalisation: the published one, letter for letter, and a strict one without its holes."""

from __future__ import annotations

import functools
import re
import string
import unicodedata

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)


def published_normalise(text: str) -> str:
    """Normalise as the scripts of MRQA, RoG and its descendants do.

    Lower case, the 32 ASCII punctuation characters dropped (not replaced by a space), the words
    a, an and the dropped, runs of white space collapsed. Holes kept on purpose: other scripts'
    punctuation stays, and a name that is all punctuation or an article becomes empty, which is
    then a substring of everything.

    >>> published_normalise("The  Spider-Man!"), published_normalise("A"), published_normalise("¿?")
    ('spiderman', '', '¿')
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_ASCII_PUNCTUATION)).split())


@functools.lru_cache(maxsize=1 << 17)
def strict_normalise(text: str) -> str:
    """Normalise a name for equality.

    As `published_normalise`, after Unicode compatibility composition (NFKC) and case folding, and
    with every Unicode punctuation character dropped. A name that would become empty keeps its
    folded form, so it equals itself and nothing else.

    >>> strict_normalise("L’Été"), strict_normalise("A"), strict_normalise("!!!")
    ('lété', 'a', '!!!')
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    plain = folded.translate(_ASCII_PUNCTUATION)
    if not plain.isascii():
        plain = "".join(c for c in plain if not unicodedata.category(c).startswith("P"))
    return " ".join(_ARTICLES.sub(" ", plain).split()) or " ".join(folded.split())
