"""Entities of Wikidata and other Wikibases, as their dumps and `Special:EntityData` write them.

A statement of the best rank is a fact; what qualifies it is said of the fact, as in
`jaxkg.kg.qualifiers`. Of a property that has preferred statements the others are kept as what is
said of no fact: a former population is found by its date. Deprecated statements are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from jaxkg.kg.files.json.stream import pieces
from jaxkg.kg.files.protocol import Format, Intake, begins

_DEEPEST = 3
_DAYS, _MONTHS, _YEARS = 11, 10, 9


def read(path: Path, intake: Intake) -> None:
    """Read entities, whose ids are theirs, and tell how; see `jaxkg.kg.read_graph`."""
    options, count = intake.options, 0
    how = {"encoding": options.encoding, "on_progress": options.on_progress}
    for _, piece in pieces(path, "", [], **how):
        for entity in _entities(piece, 0):
            _take(entity, intake, path.name if options.by_line else "")
            count += 1
    intake.tell(f"taken as {count:,} entities of a Wikibase")


def _entities(piece: Any, depth: int) -> Iterator[dict[str, Any]]:
    if not isinstance(piece, dict) or depth > _DEEPEST:
        return
    if isinstance(piece.get("id"), str) and ("claims" in piece or "labels" in piece):
        yield piece
    else:
        for inner in piece.values():
            yield from _entities(inner, depth + 1)


def _take(entity: Mapping[str, Any], intake: Intake, source: str) -> None:
    """Take the names of an entity and what is stated of it."""
    id = entity["id"]
    texts = list(_texts(entity, intake.options.language))
    if entity.get("type") == "property":
        if texts:
            intake.names.relations[id] = texts
    else:
        for text in texts:
            intake.name(id, text)
        described = _by_language(entity.get("descriptions"), intake.options.language)
        for text in described[:1]:
            intake.fact(id, "description", text, source)
    claims = entity.get("claims")
    for relation, statements in claims.items() if isinstance(claims, dict) else ():
        ranks = [one.get("rank") for one in statements]
        for statement, rank in zip(statements, ranks):
            if rank == "deprecated":
                intake.leave_out("deprecated statements")
                continue
            best = rank == "preferred" or "preferred" not in ranks
            _state(id, relation, statement, intake, source, best=best)


def _state(
    id: str, relation: str, statement: Mapping[str, Any], intake: Intake, source: str, *, best: bool
) -> None:
    value = _value(statement.get("mainsnak"))
    if value is None:
        intake.leave_out("statements that a value is unknown, or none")
        return
    said: dict[str, list[str]] = {}
    amount = _held(statement.get("mainsnak"))
    unit = str(amount.get("unit", "1") if isinstance(amount, dict) else "1")
    if unit != "1" and (unit := unit.rpartition("/")[2]):
        said["unit"] = [unit]
    for name, snaks in (statement.get("qualifiers") or {}).items():
        said[name] = [one for one in map(_value, snaks) if one is not None]
    if best:
        intake.qualified(id, relation, value, said, source)
    else:
        pairs = ((name, end) for name, ends in said.items() for end in ends)
        intake.describe((id, relation, value), pairs, source)


def _texts(entity: Mapping[str, Any], language: str) -> Iterable[str]:
    """Labels and other names, the one in the language first."""
    others = (entity.get("aliases") or {}).values()
    aliases = [one["value"] for some in others for one in some if "value" in one]
    labels = _by_language(entity.get("labels"), language)
    return dict.fromkeys(text for text in (*labels, *aliases) if text.strip())


def _by_language(texts: Any, language: str) -> list[str]:
    """Texts of several languages, the wanted one first, then the one for all of them."""
    if not isinstance(texts, dict):
        return []
    rank = {language: 0, "mul": 1, "en": 2}
    ordered = sorted(texts, key=lambda code: rank.get(code, 3))
    return [texts[code]["value"] for code in ordered if "value" in texts[code]]


def _held(snak: Any) -> Any:
    held = snak.get("datavalue") if isinstance(snak, dict) else None
    return held.get("value") if isinstance(held, dict) else None


def _value(snak: Any) -> str | None:
    """What a snak says, as an id or a text; None where it says that nothing is known."""
    value = _held(snak)
    if isinstance(value, str):
        return value.strip() or None
    if not isinstance(value, dict):
        return None
    if "time" in value:
        return _time(str(value["time"]), value.get("precision"))
    if "amount" in value:
        return str(value["amount"]).removeprefix("+")
    if "latitude" in value:
        return f"{value['latitude']} {value.get('longitude')}"
    if "text" in value:
        return str(value["text"]).strip() or None
    if "id" in value:
        return str(value["id"])
    return f"Q{value['numeric-id']}" if "numeric-id" in value else None


def _time(text: str, precision: Any) -> str:
    """A time as far as it is told: a day, a month, a year.

    >>> _time("+1952-03-11T00:00:00Z", 11), _time("+1987-00-00T00:00:00Z", 9)
    ('1952-03-11', '1987')
    >>> _time("-0044-03-15T00:00:00Z", 10)
    '-0044-03'
    """
    sign = "-" if text.startswith("-") else ""
    year, *rest = text.lstrip("+-").partition("T")[0].split("-")
    year = f"{int(year):04d}" if year.isdecimal() else year
    parts = {_DAYS: 2, _MONTHS: 1}.get(precision, 0 if isinstance(precision, int) else 2)
    kept = rest[: parts if precision != _YEARS else 0]
    return sign + "-".join([year, *(part for part in kept if part != "00")])


FORMATS = (
    Format("wikidata", "entities of Wikidata: statements, ranks, qualifiers",
           begins(r'(?s)\A\s*[{\[](?:.*"mainsnak"|(?=.*"claims").*"labels")', 0.95,
                  "it is JSON with snaks, as of Wikidata"), read),
)  # fmt: skip
