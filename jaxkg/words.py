"""Names of entities and relations as a reader, or a model, may see them."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from jaxkg.limits import shortened

TOPIC_WORD = "\x02topic"
"""Stands for a masked topic; a control character is no word, so no question contains it."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_JOINT = re.compile(r"\.(?=/)")
_SEPARATORS = re.compile(r"[/#.:]+")
_EITHER = re.compile(r"[^\W\d]\w?/\w+|\w+/\w{1,2}|[A-Z]\w*/\w+")
"""Two words, or short forms of them, with a stroke between: M/F, km/h, Price/unit."""
_DOUBLED = re.compile(r"__+")
_DASHES = re.compile(r"[_-]+")
_JOINERS = "\u200c\u200d"
_OPAQUE_ID = re.compile(r"/?(?:m[./]0|g[./]1)[0-9a-z_]+|_:.+")
"""Freebase machine ids (m.0..., g.1...) and RDF blank nodes: ids that tell a reader nothing."""
_PLURAL_FORMS = """
children:child men:man women:woman people:person mice:mouse geese:goose feet:foot teeth:tooth
loaves:loaf leaves:leaf shelves:shelf knives:knife wolves:wolf halves:half wives:wife lives:life
thieves:thief calves:calf species:species series:series movies:movie cookies:cookie
zombies:zombie calories:calorie brownies:brownie rookies:rookie ties:tie pies:pie prairies:prairie
"""
_PLURALS: dict[str, str] = {
    many: one for many, _, one in (pair.partition(":") for pair in _PLURAL_FORMS.split())
}
PLURALS: dict[str, str] = {one: many for many, one in _PLURALS.items()}
"""Plural forms that no ending makes, by their singular."""
_NO_CHARACTERS = "\ufffe\uffff"  # XML has no way to write them


def one_line(text: str) -> str:
    r"""Text of a graph as it may be shown: white space as spaces, no control or direction marks.

    A terminal would act on escape sequences, and direction marks can make a name read as another.
    Controls become U+FFFD, invisible format characters go; joiners, which many scripts need, stay.

    >>> one_line("Heat\n\x1b[31mRonin").encode()
    b'Heat \xef\xbf\xbd[31mRonin'
    """
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(char: str) -> str:
    if char.isspace():
        return " "
    category = unicodedata.category(char)
    if category in ("Cc", "Cs") or char in _NO_CHARACTERS:
        return "\ufffd"
    return "" if category == "Cf" and char not in _JOINERS else char


def below(value: float, least: float) -> str:
    """That a number is below another, with as many digits as tell them apart.

    >>> below(0.5, 0.6), below(0.1483, 0.15)
    ('0.50, below the threshold of 0.60', '0.148, below the threshold of 0.150')
    """
    digits = next((n for n in range(2, 17) if f"{value:.{n}f}" != f"{least:.{n}f}"), 17)
    return f"{value:.{digits}f}, below the threshold of {least:.{digits}f}"


def is_name(text: str) -> bool:
    """False of a display name that is but a Freebase machine id or an RDF blank node.

    >>> is_name("Alien"), is_name("m.0k3p"), is_name("_:b0")
    (True, False, False)
    """
    return not _OPAQUE_ID.fullmatch(text)


def is_blank(entity: str) -> bool:
    """Whether an id is a blank node's: it stands for no thing of its own, whatever it is called.

    >>> is_blank("_:order_17"), is_blank("order 17")
    (True, False)
    """
    return entity.startswith("_:")


@functools.lru_cache(4096)
def relation_words(relation: str) -> str:
    """A relation's name in words; the mark of an inverse relation is dropped.

    Of a schema's long name only the last part is kept, and the one before it where the last is but
    one word. A name with spaces in it is words already.

    >>> relation_words("people.person.place_of_birth"), relation_words("film.actor.film")
    ('place of birth', 'actor film')
    >>> relation_words("http://dbpedia.org/ontology/birthPlace"), relation_words("^DIRECTED_BY")
    ('birth place', 'directed by')
    >>> relation_words("__film__film__country"), relation_words("has__part")
    ('film country', 'has part')
    >>> relation_words("M/F"), relation_words("G/house"), relation_words("person/born")
    ('m/f', 'g/house', 'born')
    """
    name = relation.removeprefix("^")
    if not any(map(str.isspace, name)):
        # Some sets chain two relations of a schema into one name: "/a/b/c./d/e/f".
        name = ", ".join(map(_schema_words, _JOINT.split(name)))
    return one_line(name)


def _schema_words(name: str) -> str:
    if _EITHER.fullmatch(name):
        return _opened(name)
    dotted = _DOUBLED.sub(".", name) if name.count("__") > 1 else name
    parts = [part for part in _SEPARATORS.split(dotted) if part]
    if not parts or not any(map(str.isalpha, parts[-1])):
        return name
    words = _opened(parts[-1])
    if len(parts) > 2 and "://" not in name and " " not in words and words != _opened(parts[-2]):
        words = f"{_opened(parts[-2])} {words}"
    return words


def _opened(part: str) -> str:
    return " ".join(_DASHES.sub(" ", _CAMEL.sub(" ", part)).lower().split())


def relation_path_words(relations: Iterable[str]) -> str:
    """A relation path for printing; the arrows show which way each relation is walked.

    >>> relation_path_words(("directed_by", "^directed_by", "release_year"))
    '→ directed by ← directed by → release year'
    """
    return " ".join(f"{'←' if r.startswith('^') else '→'} {relation_words(r)}" for r in relations)


def told_apart(nodes: Sequence[tuple[str, str]]) -> list[str]:
    """What to call each node; the id stands beside a name that two of them bear.

    >>> told_apart([("m.1", "Kismet"), ("m.9", "William Dieterle"), ("m.2", "Kismet")])
    ['Kismet [m.1]', 'William Dieterle', 'Kismet [m.2]']
    """
    shown = [(entity, one_line(shortened(name))) for entity, name in nodes]
    bearers = Counter(name for _, name in set(shown))
    return [
        name if bearers[name] == 1 else f"{name} [{one_line(shortened(entity))}]"
        for entity, name in shown
    ]


@functools.lru_cache(65_536)
def singular(word: str) -> str:
    """A folded word without accents and without a plural's ending.

    >>> singular("mysteries"), singular("boxes"), singular("stops"), singular("movies")
    ('mystery', 'box', 'stop', 'movie')
    """
    if not word.isascii():
        word = "".join(c for c in unicodedata.normalize("NFKD", word) if c.isascii()) or word
    if word in _PLURALS:
        return _PLURALS[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("xes", "ches", "shes", "sses", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def mask_mentions(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Replace topic mentions, so that a planner learns wordings and not names.

    >>> mask_mentions("who wrote Alien", [(10, 15)]).encode()
    b'who wrote \\x02topic'
    """
    masked, done = "", 0
    for start, end in sorted(set(spans)):
        # A mention inside or across another one is part of the same mark.
        if start >= done:
            masked += text[done:start] + TOPIC_WORD
        done = max(done, end)
    return masked + text[done:]


def mention_of(text: str, name: str) -> tuple[int, int] | None:
    """Where a text mentions a name, or the longest run of its words; None where it does not.

    >>> mention_of("What did Tupac star in?", "Tupac Shakur")
    (9, 14)
    """
    folded = text.lower()
    bare = re.sub(r"\s*\(.*?\)", "", name.lower()).strip()
    words = bare.split()
    runs = (
        " ".join(words[first : first + size])
        for size in range(len(words) - 1, 0, -1)
        for first in range(len(words) - size + 1)
    )
    whole = (name.lower(), bare, bare.removeprefix("the "), bare.split(",")[0])
    for wanted in (*whole, *(run for run in runs if len(run) > 4)):
        if len(wanted) > 2 and (first := folded.find(wanted)) >= 0:
            return first, first + len(wanted)
    return None
