"""Calendars, vCards, directories and packages: blocks of keys and what they say."""

import pytest
from named_facts import named_facts

from jaxkg.errors import JaxkgError

CALENDAR = r"""BEGIN:VCALENDAR
VERSION:2.0
BEGIN:VEVENT
UID:a1@x.org
DTSTART;TZID=Europe/Oslo:20240304T090000
SUMMARY:Board meeting
LOCATION:Pier 4\, Ely
ATTENDEE;ROLE=REQ-PARTICIPANT;CN=Emil B
 akke:mailto:emil@x.org
CATEGORIES:Work,Sea
END:VEVENT
BEGIN:VEVENT
UID:a2@x.org
DTSTART;VALUE=DATE:20240417
SUMMARY:Spring party
END:VEVENT
END:VCALENDAR
"""
CARDS = """BEGIN:VCARD
VERSION:4.0
FN:Ada Quill
ORG:Lumen
item1.TEL;TYPE=work:+47 1
END:VCARD
BEGIN:VCARD
VERSION:4.0
FN:Bo Marsh
ORG:Lumen
END:VCARD
"""
DIRECTORY = """version: 1

dn: uid=ada,dc=x
objectClass: person
cn: Ada Quill
description:: aGVsbG8=
jpegPhoto:: /9j/4AAQ
manager: uid=bo,dc=x

# a comment
dn: uid=bo,dc=x
objectClass: person
cn: Bo Marsh
"""
PACKAGES = """Package: tide
Version: 1.2
Description: counts
 the tides

Package: gull
Version: 0.4
Section: birds
"""


def test_events_of_a_calendar(read):
    facts = named_facts(read(CALENDAR, "office.ics"))
    assert facts >= {
        ("Board meeting", "start", "2024-03-04T09:00:00"),
        ("Board meeting", "location", "Pier 4, Ely"),
        ("Board meeting", "categories", "Work"),
        ("Board meeting", "categories", "Sea"),
        ("Spring party", "start", "2024-04-17"),
    }
    # A line that begins with a blank goes on where the one above ends.
    assert "Emil Bakke" in {tail for head, _, tail in facts if head == "Board meeting"}


def test_cards_directories_and_packages(read):
    assert ("Ada Quill", "tel work", "+47 1") in named_facts(read(CARDS, "people.vcf"))
    heard = []
    facts = named_facts(read(DIRECTORY, "people.ldif", on_reading=heard.append))
    assert {("Ada Quill", "manager", "Bo Marsh"), ("Ada Quill", "description", "hello")} <= facts
    assert "jpegPhoto" not in {relation for _, relation, _ in facts}
    assert "values that are no text" in heard[0]
    lone = named_facts(read(DIRECTORY.partition("# a")[0], "one.ldif"))
    assert ("Ada Quill", "description", "hello") in lone
    facts = named_facts(read(PACKAGES, "Packages"))
    assert {("tide", "Description", "counts the tides"), ("gull", "Section", "birds")} <= facts


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nEND:VEVENT\nEND:VCALENDAR\nEND:VEVENT\n", ":6"),
        ("BEGIN:VCALENDAR\n" + "BEGIN:VEVENT\n" * 40 + "END:VCALENDAR\n", "out of place"),
        ("BEGIN:VCALENDAR\nVERSION:2.0\n", "a block has no END; is the file whole"),
    ],
)
def test_a_block_out_of_place_is_refused(read, text, told):
    with pytest.raises(JaxkgError, match=told):
        read(text, "office.ics")


def test_settings_are_no_blocks_of_keys(read):
    with pytest.raises(JaxkgError):
        read("Name: a\nSize: 2\n\nOther: b\nSize: 3\n", "notes.txt")


def test_many_versions_above_no_entry_cost_no_time(read):
    with pytest.raises(JaxkgError):
        read("version: 1  " * 60 + "!\n", "people.txt")


def test_a_directory_below_comments_with_what_the_search_said_at_its_end(read):
    people = "".join(
        f"dn: CN={name},OU=Staff,DC=ely\nobjectClass: person\ncn: {name}\nname: {name}\n"
        f"displayName: {name.split()[1]}, {name.split()[0]}\nwhenCreated: {year}1117162223.0Z\n"
        f"manager: CN=Ann Lee,OU=Sta\n ff,DC=ely\n\n"
        for name, year in (("Ann Lee", 2010), ("Bo Ray", 2012))
    )
    graph = read(f"# extended LDIF\n#\n\n{people}# search result\nsearch: 2\nresult: 0\n", "a.ldif")
    facts = named_facts(graph)
    assert ("Bo Ray", "manager", "Ann Lee") in facts
    assert not [head for head, *_ in facts if head == "2"]
