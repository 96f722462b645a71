"""A graph as another engine reads it, in the terms of `jaxkg.kg.queries.sparql`."""

from __future__ import annotations

from collections.abc import Iterator

from jaxkg.kg.queries.literals import CLOCK, XSD, as_date, clock_text
from jaxkg.kg.queries.sparql import Terms, _quoted
from jaxkg.kg.queries.values import Values
from jaxkg.kg.queries.windows import NONE


def to_ntriples(values: Values) -> Iterator[str]:
    """The lines of a graph as N-Triples, in the terms that `to_sparql` uses."""
    kg, terms = values.kg, Terms(values.kg)
    for head, relation, tail in kg.triples.tolist():
        link = terms.relation(kg.relations[relation])
        yield f"{terms.entity(head)} {link} {terms.entity(tail)} ."
    for row in range(kg.num_entities):
        term = terms.entity(row)
        if term.startswith('"'):
            continue
        name = kg.name(row)
        yield f"{term} <urn:jaxkg:text> {_quoted(values.text(row)[0])} ."
        if number := values.number(row):
            yield f'{term} <urn:jaxkg:number> "{number[1]:f}"^^<{XSD}decimal> .'
            yield f"{term} <urn:jaxkg:unit> {_quoted(number[0])} ."
        if (day := int(values.keys[1, 0, row])) != NONE:
            yield f"{term} <urn:jaxkg:date> {_quoted(_iso(name, day))} ."
        if (truth := values.keys[2, 0, row]) != NONE:
            yield f'{term} <urn:jaxkg:boolean> "{str(bool(truth)).lower()}"^^<{XSD}boolean> .'


def _iso(name: str, day: int) -> str:
    """ISO 8601, which another engine reads, of a date however it is written."""
    if day >= CLOCK:
        return clock_text(day)
    if as_date(name):
        return name.strip()
    return f"{day // 10000:04}-{day // 100 % 100:02}-{day % 100:02}"
