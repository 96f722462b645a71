"""Graphs that SELECTs are read over."""

import sqlite3

import pytest
from boats import PARTS, boats, reader_of, vessels


@pytest.fixture(scope="module")
def fleet():
    rows = boats(0)
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE vessel (name, kind, town, length REAL, width REAL, built)")
    base.executemany("INSERT INTO vessel VALUES (?, ?, ?, ?, ?, ?)", rows)
    return base, *reader_of(vessels(rows))


@pytest.fixture(scope="module")
def films():
    """Facts with properties, and a hierarchy."""
    facts = [(name, "is a", "person") for name in ("Ann", "Bo")]
    facts += [(name, "is a", "film") for name in ("Dawn", "Eve")]
    facts += [("Ann", "born", "1970"), ("Bo", "born", "1964"), ("Ann", "seen", "2020-01-05")]
    facts += [("Bo", "seen", "2020-01-02"), ("Dawn", "cost", "8"), ("Eve", "cost", "2"), *PARTS]
    played = [("Ann", "plays in", "Dawn", "Cook"), ("Ann", "plays in", "Eve", "King")]
    played += [("Bo", "plays in", "Eve", "Cook"), ("Bo", "edits", "Eve", "sound")]
    for at, (who, did, film, role) in enumerate(played):
        ends = ("subject", who), ("predicate", did), ("object", film), ("role", role)
        facts += [(who, did, film), *((f"_:{at}", name, end) for name, end in ends)]
    return reader_of(facts)
