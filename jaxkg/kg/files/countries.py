"""Names of countries and languages for their codes: players born in LVA are asked for by Latvia."""

from __future__ import annotations

import functools

from jaxkg.kg.encode import TripleEncoder
from jaxkg.kg.files.textfile import toml_beside
from jaxkg.kg.names import NameCollector
from jaxkg.words import relation_words

_COUNTRY = frozenset(("country", "countries", "nation", "nationality", "citizenship", "land"))
"""Last words of relations that lead to countries, but for words that say of what kind a code is."""
_KIND = frozenset(("code", "codes", "id", "iso", "iso2", "iso3", "alpha2", "alpha3"))


@functools.cache
def _names() -> dict[str, tuple[str, ...]]:
    """Names by codes of two and of three letters."""
    by_code: dict[str, tuple[str, ...]] = {}
    for line in toml_beside(__file__)["countries"].splitlines():
        two, _, rest = line.partition(" ")
        three, _, names = rest.partition(" ")
        by_code |= dict.fromkeys(filter(None, (two, three)), tuple(names.split(";")))
    return by_code


def language_name(code: str) -> str:
    """What a language is called in English; its code where that is not known.

    >>> language_name("fi"), language_name("pt-BR"), language_name("xx")
    ('Finnish', 'Portuguese', 'xx')
    """
    return _languages().get(code.lower().partition("-")[0], code)


@functools.cache
def _languages() -> dict[str, str]:
    """Names by codes."""
    lines = toml_beside(__file__)["languages"].splitlines()
    return {code: name for code, _, name in (line.partition(" ") for line in lines) if code}


def name_countries(encoder: TripleEncoder, names: NameCollector) -> str:
    """Give codes of countries the names of these as other names.

    Returns:
        Of what relations, in words; "" where none leads to codes alone.

    >>> encoder, names = TripleEncoder(), NameCollector()
    >>> encoder.add(["Ann", "Bo"], ["birthCountry"] * 2, ["LVA", "SWE"])
    >>> name_countries(encoder, names), list(names.aliases["LVA"])
    ('codes of birthCountry called as the countries, too', ['Latvia', 'Lettland'])
    """
    relations = []
    for relation, tails in encoder.tails():
        words = [w for w in relation_words(relation).lower().split() if w not in _KIND]
        codes = [tail for tail in tails if tail not in names.display]
        if words[-1:] and words[-1] in _COUNTRY and codes and _names().keys() >= {*codes}:
            relations.append(relation)
            for code in codes:
                for name in _names()[code]:
                    names.alias(code, name)
    return f"codes of {', '.join(relations)} called as the countries, too" if relations else ""
