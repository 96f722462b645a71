"""Boats as a graph and as a table of SQLite."""

import random

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.queries.select import SelectReader
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.kg.relational import Relational

PARTS = [("Wheel", "part of", "Axle"), ("Axle", "part of", "Car"), ("Car", "part of", "Fleet")]
TOWNS = ("Ely", "Rye", "Deal", "St Ives")
KINDS = ("boat", "barge", "punt")


def boats(seed):
    """Rows of boats, some cells empty: name, kind, town, length, width, built."""
    rng = random.Random(seed)
    rows = []
    for at in range(24):
        built = f"{rng.randint(1990, 1999)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}"
        cells = [rng.choice(KINDS), rng.choice(TOWNS), rng.randint(3, 9), rng.randint(3, 9), built]
        cells = [cell if rng.random() < 0.85 else None for cell in cells]
        rows.append((f"Boat {chr(65 + at)}", *cells))
    return rows


COLUMNS = ("name", "kind", "town", "length", "width", "built")


def vessels(rows):
    facts = [(row[0], "is a", "vessel") for row in rows]
    facts += [
        (row[0], column, str(cell))
        for row in rows
        for column, cell in zip(COLUMNS[1:], row[1:])
        if cell is not None
    ]
    return facts


def reader_of(facts, **named):
    """Sets over facts, and what reads SELECTs over their tables."""
    sets = QuerySets(KnowledgeGraph.from_triples(facts, **named))
    return sets, SelectReader(Relational(sets))


def tables_of(facts):
    return reader_of(facts)[1].tables


def told(sets, query):
    """What a query graph answers as SQL would, in any order."""
    result = sets.execute(query)
    if result.kind in ("number", "boolean"):
        number = result.truth if result.kind == "boolean" else result.number
        return set() if number is None else {round(float(number), 2)}
    return {sets.kg.name(row) for row in result.rows.tolist()}


def asked(base, text):
    cells = {row[0] for row in base.execute(text)} - {None}
    return {round(float(c), 2) if isinstance(c, int | float) else c for c in cells}
