"""What synthetic graphs are about: kinds of entities, relations, and how questions say them."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of entity; its names are made of syllables, in one or two words, between two affixes.

    Two kinds with one pattern of names could share a name, so no two have the same.
    """

    share: float
    """Of all entities."""
    prefix: str = ""
    words: int = 1
    suffix: str = ""


KINDS: dict[str, Kind] = {
    "person": Kind(0.44, words=2),
    "work": Kind(0.26, prefix="The ", words=2),
    "company": Kind(0.10, suffix=" Works"),
    "city": Kind(0.06),
    "event": Kind(0.06, suffix=" Fair"),
    "school": Kind(0.03, suffix=" College"),
    "subject": Kind(0.03, suffix=" Studies"),
    "award": Kind(0.015, suffix=" Prize"),
    "country": Kind(0.005, suffix=" Republic"),
}


@dataclasses.dataclass(frozen=True)
class Relation:
    """A relation and how questions speak of it.

    Attributes:
        name: of the relation.
        head, tail: kinds of its ends.
        forward: noun phrases for its tails, `{x}` standing for the head.
        inverse: noun phrases for its heads, `{x}` standing for the tail.
    """

    name: str
    head: str
    tail: str
    forward: tuple[str, ...] = ()
    inverse: tuple[str, ...] = ()


def _told(table: str) -> tuple[Relation, ...]:
    """Relations of a table: `name: head tail`, then phrases of tails and of heads, if any."""
    rows: list[list[str]] = []
    for line in table.strip().splitlines():
        if ":" in line:
            rows.append(line.replace(":", "").split())
        else:
            rows[-1].append(line)
    return tuple(
        Relation(name, head, tail, *(tuple(map(str.strip, line.split("|"))) for line in phrases))
        for name, head, tail, *phrases in rows
    )


ASKED = _told("""
born_in: person city
the birthplace of {x} | the city where {x} was born | the place of birth of {x}
the people born in {x} | those whose birthplace is {x} | the natives of {x}
lives_in: person city
the home of {x} | the city where {x} lives | the place of residence of {x}
the people living in {x} | the residents of {x} | those who live in {x}
works_for: person company
the employer of {x} | the company that employs {x} | the firm {x} works for
the employees of {x} | the people working for {x} | the staff of {x}
studied_at: person school
the school of {x} | the college where {x} studied | the alma mater of {x}
the graduates of {x} | the people who studied at {x} | the alumni of {x}
married_to: person person
the spouse of {x} | the person {x} married | the partner in marriage of {x}
the people who married {x} | those whose spouse is {x}
taught_by: person person
the teacher of {x} | the person who taught {x} | the mentor of {x}
the pupils of {x} | the people taught by {x} | the students of {x}
won: person award
the prizes won by {x} | the awards of {x} | the honours {x} received
the winners of {x} | the people who won {x} | the laureates of {x}
written_by: work person
the writer of {x} | the author of {x} | the person who wrote {x}
the works written by {x} | the books of the author {x} | what {x} wrote
illustrated_by: work person
the illustrator of {x} | the person who drew the pictures of {x}
the works illustrated by {x} | the books with pictures by {x}
translated_by: work person
the translator of {x} | the person who translated {x}
the works translated by {x} | the translations made by {x}
published_by: work company
the publisher of {x} | the house that published {x}
the works published by {x} | the titles in the catalogue of {x}
about: work subject
the subject of {x} | the topic of {x} | what {x} is about
the works about {x} | the books on the topic {x}
inspired_by: work work
the work that inspired {x} | the inspiration for {x}
the works inspired by {x} | the works that take after {x}
based_in: company city
the headquarters of {x} | the city where {x} is based | the seat of {x}
the companies based in {x} | the firms with their seat in {x}
founded_by: company person
the founder of {x} | the person who founded {x} | the one who started {x}
the companies founded by {x} | the firms that {x} started
led_by: company person
the head of {x} | the director of {x} | the person who leads {x}
the companies led by {x} | the firms directed by {x}
owned_by: company company
the owner of {x} | the parent company of {x} | the company that owns {x}
the companies owned by {x} | the subsidiaries of {x}
school_in: school city
the city of the school {x} | the town where the campus of {x} is
the schools of {x} | the colleges with a campus in {x}
located_in: city country
the country of {x} | the country where {x} lies | the nation that {x} belongs to
the cities of {x} | the cities located in {x} | the towns that lie in {x}
twinned_with: city city
the twin city of {x} | the city twinned with {x}
the cities twinned with {x} | the cities whose twin is {x}
held_in: event city
the venue of {x} | the city where {x} is held
the events held in {x} | the fairs that take place in {x}
hosted_by: event company
the host of {x} | the company that organises {x}
the events hosted by {x} | the fairs organised by {x}
opened_by: event person
the person who opened {x} | the opening speaker of {x}
the events opened by {x} | the fairs where {x} spoke first
sponsored_by: award company
the sponsor of {x} | the company that pays for {x}
the awards sponsored by {x} | the prizes paid for by {x}
""")
"""Relations that questions ask about."""

DISTRACTORS = _told("""
visited: person city
reviewed_by: work person
met: person person
printed_by: work company
invested_in: person company
mentions: work subject
advised_by: company person
supplied_by: company company
lectured_at: person school
shortlisted_for: person award
near: city city
covered_by: event company
""")
"""Relations between the same kinds as asked ones that no question asks about."""

OPENERS: dict[str, tuple[str, ...]] = {
    "person": ("who is {p}?", "who are {p}?", "name {p}", "which person is {p}?"),
    "work": ("what are {p}?", "which works are {p}?", "name {p}", "list {p}"),
    "company": ("what is {p}?", "which company is {p}?", "name {p}"),
    "city": ("what is {p}?", "which city is {p}?", "name {p}", "tell me {p}"),
    "event": ("what are {p}?", "which events are {p}?", "name {p}"),
    "school": ("what is {p}?", "which school is {p}?", "name {p}"),
    "subject": ("what is {p}?", "which field is {p}?", "name {p}"),
    "award": ("what are {p}?", "which awards are {p}?", "name {p}"),
    "country": ("what is {p}?", "which country is {p}?", "name {p}"),
}
"""Questions for something of a kind, `{p}` standing for a noun phrase."""

NARY: dict[str, tuple[str, ...]] = {
    "appointment": ("person", "company", "city"),
    "award ceremony": ("award", "person", "work", "city"),
    "joint work": ("work", "person", "person", "company", "subject"),
    "company sale": ("company", "company", "person"),
    "guest lecture": ("person", "school", "subject", "city", "event"),
    "touring show": ("work", "event", "company", "city", "city", "country"),
}
"""Facts of more than two entities, and the kind of each of their places."""


def relations(distractors: int) -> tuple[Relation, ...]:
    """The asked relations and so many others, numbered ones once the named ones are used up."""
    kinds = list(KINDS)
    numbered = (
        Relation(f"related_{n:03d}", kinds[n % len(kinds)], kinds[(n * 5 + 2) % len(kinds)])
        for n in range(len(DISTRACTORS), distractors)
    )
    return (*ASKED, *DISTRACTORS[:distractors], *numbered)
