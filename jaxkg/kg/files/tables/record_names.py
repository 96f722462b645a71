"""What a JSON record is called: its key, its name, and what else says no more."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from jaxkg.kg.files.tables.headers import ROWS_APART, SORT, WORD, are_short, full_name
from jaxkg.kg.files.tables.keys import IDS, KEY, NAMES, is_code, is_key, is_sign, numbered, one_of
from jaxkg.kg.files.tables.layout import are_names
from jaxkg.kg.queries.columns import all_days
from jaxkg.words import relation_words

CALLED = ("id", "name", "label")
"""Keys by which a record that is an entity is called; beside an id the next is its name."""
_TITLES = ("title", "full name", "code", "number")
"""Keys by which a record is called that has none of these."""
RECORD_IDS = frozenset((*IDS, "orcid"))
"""Keys by which others refer to a record, in small letters."""
SHOWN = (
    "displayname", "realname", "name", "label", "title", "preflabel", "fullname", "login",
    "alias",
)  # fmt: skip
"""Keys of what to show for a record that an id calls, in small letters alone, the surest first."""
COMMON = ("commonname", "vernacularname")
"""Ends of keys of what a species is called, rather than in Latin."""
_LOGINS = ("login", "username", "accountname")
"""Keys of names that a full name in parts is surer than."""
_SURE = ("common", "display", "full", "official", "en", "eng", "value", "text")
"""Keys of the name to show, where a record has several, the surest first."""
CODED = frozenset((*KEY, "accession", "ui"))
"""Last words of keys that call records, where the surer ones do not."""
_WORDS = 12
"""Words up to which a summary is a title."""
_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d])[\w./-]{2,24}")
_SENTENCE = re.compile(r"[.!?]$|[.!?] |\n")
_SHARED = 3
"""Parts of a record that end in one word from which on it says nothing: "status module"."""
_SEVERAL = 3
"""Codes that are referred to from which on they call records."""
VERSION = re.compile(
    r"(?:npm:|workspace:|[~^<>=* ]|\d+(?:\.[\dx*]+)+[\w.+-]*$)[^\n]{0,60}|latest|\*"
)
_SLUG = re.compile(r"[^\WA-Z]+(?:-[^\WA-Z]+)*")


class Malformed(Exception):
    """A record that is JSON but neither a triple nor an entity."""


def id_key(records: Sequence[dict[str, Any]], others: frozenset[str]) -> str:
    """The key of the ids by which others refer to records: in each, and different; "" without.

    Args:
        others: what their table calls a record.
    """
    for key in records[0] if records else ():
        if key == CALLED[0] or (key.lower() not in RECORD_IDS and not is_key(key, others)):
            continue
        ids = [record.get(key) for record in records]
        texts = [id for id in ids if isinstance(id, str | int) and not isinstance(id, bool)]
        beside = CALLED[0] in records[0]
        if len(texts) == len(ids) == len(set(texts)) and not beside:
            return key
    return ""


def folded(key: str) -> str:
    """The letters of a key, small: "display_name" and "displayName" are one."""
    return "".join(filter(str.isalpha, key)).lower()


def texts_under(records: Sequence[dict[str, Any]], key: str) -> list[str]:
    """What records say under a key that may call them."""
    said = (record.get(key) for record in records)
    return [str(v) for v in said if isinstance(v, str | int) and not isinstance(v, bool)]


def apart(records: Sequence[dict[str, Any]], key: str) -> bool:
    """Whether each of several records says another thing under a key."""
    return len(set(texts_under(records, key))) == len(records)


def is_coded(records: Sequence[dict[str, Any]], key: str) -> bool:
    """Whether a key is that of codes, a record another one.

    >>> records = [{"kind": "a", "taxonId": 7}, {"kind": "a", "taxonId": 9}]
    >>> is_coded(records, "kind"), is_coded(records, "taxonId")
    (False, True)
    """
    words = relation_words(key).lower().split() or [""]
    return words[-1] in CODED and len(records) > 1 and apart(records, key)


def referred_code(records: Sequence[dict[str, Any]]) -> str:
    """The key of codes, a record another one, to which another key of records refers; "" without.

    >>> pairs = (("ESP", "PRT"), ("PRT", "FRA"), ("FRA", "ESP"))
    >>> referred_code([{"name": a.title(), "cca3": a, "borders": [b]} for a, b in pairs])
    'cca3'
    """
    said: dict[str, list[list[str]]] = {}
    for record in records:
        for key, held in record.items():
            some = held if isinstance(held, list) else [held]
            said.setdefault(key, []).append([item for item in some if isinstance(item, str)])
    for key, cells in said.items():
        codes = {cell[0] for cell in cells if len(cell) == 1 and is_sign(cell[0])}
        if len(codes) < max(len(records), _SEVERAL):
            continue
        for other, held in said.items():
            ends = {item for some in held for item in some}
            if other != key and len(ends) >= _SEVERAL and ends <= codes:
                own = (record.get(key) in some for record, some in zip(records, held))
                if len(held) < len(records) or not any(own):
                    return key
    return ""


def name_beside(records: Sequence[dict[str, Any]], key: str) -> str:
    """The key of names, another in each of many records that codes call; "" without one.

    >>> stations = [{"id": f"st.{n}", "estacion": f"Calle {'ABCDEFGHIJKL'[n]}"} for n in range(12)]
    >>> name_beside(stations, "id"), name_beside(stations[1:], "id")
    ('estacion', '')
    """
    codes = texts_under(records, key)
    coded = len(records) >= ROWS_APART and all(
        any(map(str.isdigit, c)) and " " not in c for c in codes
    )
    for other in records[0] if coded else ():
        said = [record.get(other) for record in records]
        names = [text.strip() for text in said if is_name(text)]
        apart = other != key and len(set(names)) == len(records) and all(map(WORD.search, names))
        if apart and are_short(names) and are_names(names) and not any(map(is_code, names)):
            return other
    return ""


def title_key(record: dict[str, Any]) -> str:
    """The key of a record's title; "" where it has none.

    >>> title_key({"year": 2013, "Title": "Rush"}), title_key({"year": 2013})
    ('Title', '')
    """
    return next((key for key in record if relation_words(key).lower() == "title"), "")


def tells_when(record: dict[str, Any], key: str) -> bool:
    """Whether a record says of something within it when it was, rather than what it is called."""
    inside = any(isinstance(said, dict) and said for said in record.values())
    said = record.get(key)
    return isinstance(said, bool) or (inside and all_days([str(said)]))


def key_within(relation: str, record: dict[str, Any], *, several: bool) -> str:
    """The key by which a record within another is called; "" where there is none.

    Args:
        several: whether it is one of a list: what stands first in it may be its code.
    """
    item = one_of(relation_words(relation).lower())
    alone = (k for k, said in record.items() if not isinstance(said, list))
    called_so = [k for k in alone if relation_words(k).lower().endswith(" name")]
    if not several and any(isinstance(v, dict) or is_list(v) for v in record.values()):
        # A section says on which node something runs, and is no node; a user has a display name.
        shown = (folded(f"{item} name"), *SHOWN[:2])
        called_so = [k for k in called_so if folded(k) in shown]
    own = [key for key in record if is_key(key, frozenset((item,)))]
    own += [key for key in record if relation_words(key).lower() in (item, "ref")]
    own += [key for word in CALLED for key in record if key.lower() == word]
    codes = (key for key in list(record)[: int(several)] if is_code(record[key]))
    keys = (*CALLED[:1], *own, *(full_name(list(record)) or ()), *called_so, *codes)
    key = next((key for key in keys if is_text(record.get(key))), "")
    # Of "player_id" and "player_name" the one is its id, the other its name.
    of = relation_words(key).lower().removesuffix(" name")
    return next((own for own in record if of and is_key(own, frozenset((of,)))), key)


def item_of(relation: str, key: str) -> str:
    """What one of the records that lie under a key is, as what calls it says, or else that key.

    >>> item_of("lineup", "player_id"), item_of("players", "id"), item_of("persons", "name")
    ('player', 'player', 'person')
    """
    *of, last = relation_words(key).lower().split() or [""]
    return " ".join(of) if of and last in KEY else one_of(relation_words(relation).lower())


def listed_too(record: dict[str, Any], key: str) -> str:
    """The key in the plural of a list that has what a record says under another key; or "".

    >>> listed_too({"assignee": "Ann", "assignees": ["Ann", "Bo"]}, "assignee")
    'assignees'
    >>> listed_too({"editor": "Cy", "editors": ["Ann"]}, "editor")
    ''
    """
    several = (f"{key}s", f"{key[:-1]}ies")
    lists = ((word, record[word]) for word in several if isinstance(record.get(word), list))
    said = record[key]
    return next((word for word, held in lists if said is not None and said in held), "")


def is_list(value: Any) -> bool:
    """Whether a value is a list of objects."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def is_name(value: Any) -> TypeGuard[str]:
    """Whether a value is a text that is not blank."""
    return isinstance(value, str) and bool(value.strip())


def is_text(value: Any) -> bool:
    """Whether a value may call something: a text, a number, or a list of texts."""
    if isinstance(value, list):
        return bool(value) and not isinstance(value[0], dict | list)
    return value is not None and not isinstance(value, dict)


def called_by(record: dict[str, Any], others: frozenset[str], *, by_first: bool = True) -> str:
    """The key by which a record is called; "" where there is none.

    Args:
        others: what its table calls a record.
        by_first: where no key is a name's, the first one that does not say what the record is.
    """
    texts = {key: said for key, said in record.items() if is_text(said) and key[:1] != "$"}
    texts = {key: said for key, said in texts.items() if not isinstance(said, bool)} or texts
    record = texts or record
    own = next(iter(record), "")
    called = own if is_key(own, others) and CALLED[0] not in record else ""
    words = {key.lower(): key for key in reversed(record)}
    if called := called or next((words[word] for word in CALLED if word in words), ""):
        return called
    own = [key for key in record if relation_words(key).lower() not in SORT]
    named = next((key for key in own if relation_words(key).lower() in _TITLES), "")
    if by_first:
        alone = (key for key, said in record.items() if not isinstance(said, list))
        first = next(alone, next(iter(record), ""))
        said = "" if first == "version" else str(record.get(first))
        plain = first in own and said and not VERSION.fullmatch(said)
        return first if plain else named or next(iter(own), first)
    return named or next((key for key in own if relation_words(key).lower().endswith(" name")), "")


def shown_name(
    record: dict[str, Any], key: str, others: frozenset[str]
) -> tuple[str | None, set[str]]:
    """The display name of a record that a key calls, and the keys that say nothing else."""
    called = key == CALLED[0] or is_key(key, others)
    *of, last = relation_words(key).lower().split() or [""]
    called = called or key.lower() in RECORD_IDS or (bool(of) and last in CODED)
    called = called or numbered(key, [str(record.get(key))])
    texts = [name for name, said in record.items() if is_text(said) and said != ""]
    names = {folded(name.rpartition(":")[2]): name for name in texts}
    # Of "name" and "title" the first is the name; a title beside a full name is a part of it.
    items = [folded(item) for item in (" ".join(of), *others) if item]
    whole = ("displayname", "fullname")
    own = [item + word for item in items for word in (*whole, "", *CALLED[1:])]
    own += [word for word in names if _short_name(word, items)]
    common = [word for word in names if word.endswith(COMMON)]
    words = (word for word in (*common, *SHOWN, *own) if word in names and word != "title")
    name = (
        "value"
        if record.keys() - {SORT[1]} == {key, "value"} <= {*texts} and key.lower() in IDS
        else names.get(next(words, ""), "")
    )
    if folded(name).endswith("name") and _shortens(record[name], record.get("title")):
        name = "title"
    if name and is_name(record[name]) and "," in record[name]:  # "Okafor, Ann", who is Ann Okafor
        turned = Counter(record[name].replace(",", " ").split())
        plain = (n for w, n in names.items() if w in SHOWN and is_name(record[n]))
        same = (n for n in plain if "," not in record[n] and Counter(record[n].split()) == turned)
        name = next(same, name)
    told = [record[part] for part in full_name(list(record)) or () if record[part] != ""]
    parted = bool(told) and all(map(is_name, told))
    if called and parted and folded(name) in _LOGINS:
        return " ".join(told), set()
    if called and name and name != key:
        shown = _first_text(record[name], name)
        same = {k for k, v in record.items() if v == shown and folded(k) in (*SHOWN, "caption")}
        return shown, {name} | same
    summary = names.get("summary")
    if called and not name and summary is not None and _heads(record[summary]):
        return record[summary], {summary}
    if called and not parted and _first_text(record.get("title"), ""):
        return _first_text(record["title"], "title"), {"title"}
    code = record.get("code")
    coded = isinstance(code, str) and _CODE.fullmatch(code) is not None
    if called and not parted and coded and numbered(key, [str(record.get(key))]):
        return code, set()  # PR-2017-03 says more than the number of a node
    return (" ".join(told) if parted else None), set()


def _heads(summary: Any) -> bool:
    """Whether a summary is short enough to call what it is of, as that of an issue does.

    >>> _heads("Disk full on db01"), _heads("A long one. It goes on.")
    (True, False)
    """
    return is_name(summary) and len(summary.split()) <= _WORDS and not _SENTENCE.search(summary)


def _short_name(word: str, items: Sequence[str]) -> bool:
    """Whether a key is that of names of things, by the beginning of what they are.

    >>> _short_name("persname", ["person"]), _short_name("petname", ["person"])
    (True, False)
    """
    start = word.removesuffix("name")
    return len(start) > 2 and start != word and any(item.startswith(start) for item in items)


def _shortens(name: Any, title: Any) -> bool:
    """Whether a name is a title as addresses have it.

    >>> _shortens("bus-stops", "Stopping places"), _shortens("ann", "Manager")
    (True, False)
    """
    if not isinstance(title, str) or not isinstance(name, str) or not _SLUG.fullmatch(name):
        return False
    parts = {part[:4] for part in re.split("[-_]", name)}
    return not parts.isdisjoint(word[:4] for word in re.findall(r"\w+", title.lower()))


def in_latin(record: dict[str, Any]) -> dict[str, Any]:
    """A record of a species that has a common name, too, with its name as the scientific one.

    >>> in_latin({"name": "Lutra lutra", "preferred_common_name": "Otter"})
    {'scientific name': 'Lutra lutra', 'preferred_common_name': 'Otter'}
    """
    if "name" not in record or not any(folded(key).endswith(COMMON) for key in record):
        return record
    return {"scientific name" if key == "name" else key: said for key, said in record.items()}


def titled(record: dict[str, Any], part: tuple[str, ...] = ()) -> dict[str, Any]:
    """A record with the title of what lies in it, where that is called so and the record has none;
    of several names the common one.

    Args:
        part: keys of the part whose title is the record's; see `titled_by_part`.

    >>> titled({"name": {"official": "Republic of Malta", "common": "Malta"}, "area": 316})
    {'name': 'Malta', 'area': 316, 'official name': 'Republic of Malta'}
    >>> titled({"pmid": "7", "Article": {"ArticleTitle": "On clay", "Year": "2019"}})
    {'pmid': '7', 'Article': {'Year': '2019'}, 'title': 'On clay'}
    """
    if (latin := in_latin(record)) is not record:
        return latin
    if any(folded(key) in SHOWN and is_text(said) for key, said in record.items()):
        return record
    if part and (title := _title_within(record, part)):
        return _without_title(record, part) | {"title": title}
    for key, held in record.items():
        # "name": {"common": "Aruba", "official": "Aruba", "native": {...}}
        inside = held if isinstance(held, dict) and folded(key) in SHOWN else {}
        called = next((word for word in _SURE if is_name(inside.get(word))), "")
        if called:
            others = {f"{k} {key}": v for k, v in inside.items() if v != inside[called]}
            return record | {key: inside[called]} | others
    if not any(key.lower() in RECORD_IDS for key in record) and (named := _named_within(record)):
        return named
    for key, held in record.items():
        parts: list[Any] = held if isinstance(held, list) and held else [held]
        first, *others = parts
        for name, said in first.items() if isinstance(first, dict) else ():
            titles = name.lower().endswith("title") and is_name(said)
            of, last = relation_words(key).lower(), relation_words(name).lower()
            if titles and (last == f"{of} title" or (last == "title" and of.startswith("title "))):
                rest = {other: said for other, said in first.items() if other != name}
                return record | {key: [rest, *others] if others else rest, "title": said}
    return record


def titled_by_part(records: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Keys of the part of each of several records whose title tells it from the others; none where
    there is none, or they have a name of their own.

    >>> trials = [{"seen": n, "about": {"title": t}} for n, t in enumerate(("Pain", "Rest"))]
    >>> titled_by_part(trials), titled_by_part([{"trial": trial} for trial in trials])
    (('about',), ('trial', 'about'))
    """
    first = records[0] if len(records) > 1 else {}
    if any(folded(key) in SHOWN or key.lower() in RECORD_IDS for key in first):
        return ()
    parts = [((key,), held) for key, held in first.items() if isinstance(held, dict)]
    for keys, part in parts:
        called = not RECORD_IDS.isdisjoint(map(str.lower, part))
        texts = {_title_within(record, keys) for record in records} - {""}
        if len(texts) == len(records) and not called:
            return keys
        inner = ((key, held) for key, held in part.items() if isinstance(held, dict))
        parts += [((*keys, key), held) for key, held in inner if not called]
    return ()


def _title_within(record: dict[str, Any], part: tuple[str, ...]) -> str:
    """The title of a part of a record; "" where it has none."""
    inside: Any = record
    for key in part:
        inside = inside.get(key) if isinstance(inside, dict) else None
    title = inside.get("title") if isinstance(inside, dict) else None
    return title if is_name(title) else ""


def _without_title(record: dict[str, Any], part: tuple[str, ...]) -> dict[str, Any]:
    if not part:
        return {key: said for key, said in record.items() if key != "title"}
    return record | {part[0]: _without_title(record[part[0]], part[1:])}


def _named_within(record: dict[str, Any]) -> dict[str, Any]:
    """A record with id and title of a part of it that has both, and is no thing itself; nothing
    where none has.

    >>> _named_within({"ident": {"nctId": "N1", "briefTitle": "Pain", "phase": 3}, "done": True})
    {'id': 'N1', 'title': 'Pain', 'ident': {'phase': 3}, 'done': True}
    """
    for key, within in record.items():
        pairs = within.items() if isinstance(within, dict) else ()
        texts = {name: said for name, said in pairs if is_name(said)}
        last = {
            (relation_words(name).lower().split() or [""])[-1]: name for name in reversed(texts)
        }
        id = next((last[word] for word in ("id", "identifier", "number") if word in last), "")
        title, *of = last.get("title", ""), *relation_words(id).lower().split()[:-1]
        if title and of and " ".join(of) != relation_words(key).lower():
            rest = {name: said for name, said in within.items() if name not in (id, title)}
            return {"id": texts[id], "title": texts[title]} | record | {key: rest}
    return {}


def last_parts(
    chains: Mapping[str, tuple[str, ...]], known: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Relations deep within a record, or in one of several parts that are called alike, each with
    the last keys that no other ends in, in words: two words at least, but for a title.

    Args:
        chains: keys that lead to each.
        known: relations that are there.

    >>> chains = {" ".join(keys): tuple(keys) for keys in ("abc", "adc", ("a", "e", "name"))}
    >>> list(last_parts(chains, chains))
    [('a b c', 'b c'), ('a d c', 'd c'), ('a e name', 'name')]
    """
    there = {name: chain for name, chain in chains.items() if name in known}
    around = {key for chain in there.values() for key in chain[:-1]}
    shared = Counter(relation_words(key).split()[-1] for key in around)
    ends = Counter(chain[-n:] for chain in there.values() for n in range(1, len(chain) + 1))
    for name, chain in there.items():
        first, words = relation_words(chain[0]).split(), relation_words(chain[-1]).lower()
        least = 1 if words in NAMES or " " in words else 2
        last = next((n for n in range(least, len(chain)) if ends[chain[-n:]] == 1), len(chain))
        word = " ".join(dict.fromkeys(" ".join(map(relation_words, chain[-last:])).split()))
        says_little = len(chain) > 2 or shared[first[-1]] >= _SHARED
        if last < len(chain) and says_little and word not in known:
            yield name, word


def text_of(value: Any, key: str) -> str:
    """A string, a number or a truth value as text.

    Raises:
        Malformed: it is none, or blank.
    """
    if isinstance(value, bool | int | float):
        value = json.dumps(value)
    if not isinstance(value, str) or not value.strip():
        raise Malformed(f"{key!r} is not a non-blank string")
    return value.strip()


def _first_text(value: Any, key: str) -> str:
    """A text, or the first of a list of them; "" of a `key` of "" that is none.

    Raises:
        Malformed: it is none, and has a key.
    """
    if isinstance(value, list) and value and isinstance(value[0], str):
        value = value[0]
    return "" if not key and not isinstance(value, str) else text_of(value, key)
