"""Family trees in GEDCOM 5.5.1 and 7.

A person is called by its record's id and named by the first of its names, the slashes around the
surname dropped. A family becomes facts between people: husband, wife and spouse, with the day and
place of the marriage; father, mother, parent and child; siblings. What is said of an event is
"birth date", "birth place". Source: https://gedcom.io/specifications/FamilySearchGEDCOMv7.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from jaxkg.kg.files.foreign.lines import numbered_lines, source_of
from jaxkg.kg.files.protocol import Format, Intake, begins
from jaxkg.kg.files.textfile import toml_beside

_LINE = re.compile(r"\s*(\d{1,2})\s+(?:@([^@\s][^@]*)@\s+)?([A-Za-z0-9_]+)(?: (.*))?")
_POINTER = re.compile(r"@([^@\s][^@]*)@")
_ASPECTS = {"DATE": "date", "PLAC": "place", "AGE": "age", "CAUS": "cause", "TYPE": "type"}
_SEXES = {"M": "male", "F": "female", "X": "other"}
_EVENTS = toml_beside(__file__)["events"]
"""What tags of events are called."""
_HEADER = {"HEAD", "TRLR", "SUBM", "SUBN"}


class _Record(NamedTuple):
    """A line and those below it."""

    number: int
    id: str
    tag: str
    texts: list[str]
    below: list[_Record]

    @property
    def text(self) -> str:
        """Its value in one line."""
        return " ".join("".join(self.texts).split())

    def of(self, *tags: str) -> list[_Record]:
        """The records right below it that have one of these tags."""
        return [one for one in self.below if one.tag in tags]


def read_gedcom(path: Path, intake: Intake) -> None:
    """Take the people and families of a GEDCOM file.

    Raises:
        JaxkgError: a line that is none of GEDCOM's, more than are tolerated.
    """
    for word, back in (("parent", "child"), ("child", "parent")):
        intake.mean(word, says_back=back)
    for word in ("spouse", "sibling"):
        intake.mean(word, symmetric=True)
    ended, people, families = False, set[str](), list[_Record]()
    for record in _records(path, intake):
        ended |= record.tag == "TRLR"
        if record.tag == "INDI" and record.id:
            people.add(record.id)
            _person(record, intake, source_of(path, record.number, intake))
        elif record.tag == "FAM":
            families.append(record)
        elif record.tag not in _HEADER:
            intake.leave_out(f"{record.tag[:40]} records")
    for record in families:
        _family(record, people, intake, source_of(path, record.number, intake))
    if not ended:
        intake.tell("it breaks off: its last line, TRLR, is missing")


def _records(path: Path, intake: Intake) -> Iterator[_Record]:
    """The records of level 0, with all that is below each."""
    open_ones: list[_Record] = []
    for number, line in numbered_lines(path, intake):
        found = _LINE.fullmatch(line)
        level = int(found[1]) if found else 0
        if found is None or level > len(open_ones) or (level and not open_ones):
            if line.strip():
                why = "not a line of GEDCOM" if found is None else "its level skips one"
                intake.bad.note(
                    path, number, line, why, "LEVEL TAG value, as in '1 NAME Ann /Lee/'"
                )
            continue
        value = (found[4] or "").replace("@@", "@")
        if level and found[3] in ("CONC", "CONT"):
            open_ones[level - 1].texts.append(value if found[3] == "CONC" else f" {value}")
            record = _Record(number, "", found[3], [], [])
            open_ones[level:] = [record]
            continue
        if not level and open_ones:
            yield open_ones[0]
        record = _Record(number, found[2] or "", found[3].upper(), [value], [])
        if level:
            open_ones[level - 1].below.append(record)
        open_ones[level:] = [record]
    if open_ones:
        yield open_ones[0]


def _person(record: _Record, intake: Intake, source: str) -> None:
    intake.sort(record.id, "person")
    names = [" ".join(one.text.replace("/", " ").split()) for one in record.of("NAME")]
    names = [name for name in names if name]
    for name in names:
        intake.name(record.id, name)
    if not names:
        intake.leave_out("names of people, who have none")
        intake.name(record.id, f"person {record.id}")
    for title in (one.text for one in record.of("TITL") if one.text and names):
        # As people say it: "Queen Victoria" of the Queen of England.
        intake.names.alias(record.id, f"{title.split()[0]} {names[0].split()[0]}")
    for one in record.below:
        if one.tag in _EVENTS:
            for word, value in _said(one):
                intake.fact(record.id, word, value, source)
        elif one.tag == "SEX" and one.text in _SEXES:
            intake.fact(record.id, "sex", _SEXES[one.text], source)
        elif one.tag == "NAME":
            for alias in (part.text for part in one.of("NICK") if part.text):
                intake.names.alias(record.id, alias)
        elif one.tag not in ("FAMS", "FAMC", "SEX"):  # families say it themselves
            intake.leave_out(f"{one.tag[:40]} of people")


def _said(record: _Record) -> Iterator[tuple[str, str]]:
    """What an event or attribute says: what it is, when, where."""
    called = next((one.text for one in record.of("TYPE") if one.text), "")
    own = called.lower() if record.tag in ("EVEN", "FACT") and called else _EVENTS[record.tag]
    if record.text and record.text != "Y":
        yield own, record.text
    for one in record.below:
        if one.tag in _ASPECTS and one.text and not (one.tag == "TYPE" and own == called.lower()):
            yield f"{own} {_ASPECTS[one.tag]}", one.text


def _family(record: _Record, people: set[str], intake: Intake, source: str) -> None:
    def called(*tags: str) -> list[str]:
        found = (_POINTER.fullmatch(one.text) for one in record.of(*tags))
        ids = [pointer[1] for pointer in found if pointer and pointer[1] != "VOID"]
        known = [id for id in ids if id in people]
        intake.leave_out("references of families to nobody", len(ids) - len(known))
        return known

    husbands, wives, children = called("HUSB"), called("WIFE"), called("CHIL")
    partners = [*husbands, *wives]
    said: dict[str, list[str]] = {}
    for one in record.below:
        if one.tag in _EVENTS:
            for word, value in _said(one):
                said.setdefault(word, []).append(value)
        elif one.tag not in ("HUSB", "WIFE", "CHIL"):
            intake.leave_out(f"{one.tag[:40]} of families")
    if len(partners) == 2:
        (one, other), wife = partners, "wife" if wives else "husband"
        intake.qualified(one, "spouse", other, said, source)
        intake.fact(other, "spouse", one, source)
        intake.fact(one, wife, other, source)
        intake.fact(other, "husband" if husbands else "wife", one, source)
    for id in partners if len(partners) != 2 else ():
        for word, value in ((word, value) for word, values in said.items() for value in values):
            intake.fact(id, word, value, source)
    for child in children:
        for parents, word in ((husbands, "father"), (wives, "mother")):
            for parent in parents:
                intake.fact(child, word, parent, source)
                intake.fact(child, "parent", parent, source)
                intake.fact(parent, "child", child, source)
        for other in children:
            if other != child:
                intake.fact(child, "sibling", other, source)


FORMATS = (
    Format("gedcom", "a family tree in GEDCOM 5.5.1 or 7",
           begins(r"\A\s*0\s+HEAD\s*$", 1.0, "it starts with '0 HEAD'"), read_gedcom),
)  # fmt: skip
