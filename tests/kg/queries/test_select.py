"""SELECTs over the tables of a graph, beside SQLite's answers."""

import random
import re

import pytest
from boats import COLUMNS, KINDS, TOWNS, asked, reader_of, told

from jaxkg import query as q
from jaxkg.errors import JaxkgError
from jaxkg.kg.queries.rules import refusal
from jaxkg.kg.queries.select_pattern import select_pattern


def condition(rng, kinds=11):
    kind = rng.randrange(kinds)
    if kind == 0:
        return f"kind {rng.choice(['=', '!='])} '{rng.choice(KINDS)}'"
    if kind == 1:
        return f"length {rng.choice(['<', '<=', '>', '>=', '=', '!='])} {rng.randint(3, 9)}"
    if kind == 2:
        return f"length {rng.choice(['<', '<=', '>', '>=', '='])} width"
    if kind == 3:
        return f"{rng.choice(COLUMNS[1:])} IS {rng.choice(['', 'NOT '])}NULL"
    if kind == 4:
        return f"town LIKE '%{rng.choice(['e', 'ly', 'St I'])}%'"
    if kind == 5:
        return f"town IN ('{rng.choice(TOWNS)}', '{rng.choice(TOWNS)}')"
    if kind == 6:
        return f"built {rng.choice(['<', '>'])} '199{rng.randint(1, 8)}-05-05'"
    if kind == 7:
        inner = f"SELECT town FROM vessel WHERE town IS NOT NULL AND {condition(rng)}"
        return f"town {rng.choice(['', 'NOT '])}IN ({inner})"
    if kind == 8:
        inner = f"SELECT {rng.choice(['AVG', 'MAX', 'MIN'])}(width) FROM vessel"
        return f"length {rng.choice(['<', '<=', '>', '>=', '=', '!='])} ({inner})"
    if kind == 9:
        inner = f"SELECT built FROM vessel WHERE name = 'Boat {rng.choice('ADK')}'"
        return f"built {rng.choice(['<', '>='])} ({inner})"
    return f"width BETWEEN {rng.randint(3, 5)} AND {rng.randint(5, 9)}"


def where(rng, kinds=11):
    parts = [condition(rng, kinds) for _ in range(rng.randint(0, 3))]
    if not parts:
        return ""
    text = parts[0]
    for part in parts[1:]:
        text = f"{text} {rng.choice(['AND', 'OR'])} {part}"
    return f" WHERE {text}"


@pytest.mark.parametrize("seed", range(4))
def test_sqlite_answers_the_same(fleet, seed):
    base, sets, reader = fleet
    rng = random.Random(seed)
    for _ in range(60):
        clause = where(rng)
        for item in ("name", "COUNT(*)", "COUNT(*) > 0", "COUNT(DISTINCT town)", "COUNT(length)"):
            text = f"SELECT {item} FROM vessel{clause}"
            assert told(sets, reader.read(text)) == asked(base, text), text


@pytest.mark.parametrize(
    "text",
    [
        "SELECT SUM(length) FROM vessel WHERE town = 'Ely'",
        "SELECT AVG(width) FROM vessel WHERE kind = 'punt' OR kind = 'barge'",
        "SELECT town FROM vessel WHERE name = 'Boat C'",
        "SELECT DISTINCT kind FROM vessel WHERE length > 5 AND kind IS NOT NULL",
        "SELECT name FROM vessel WHERE NOT (town = 'Ely' OR town = 'Rye')",
    ],
)
def test_single_values_are_those_of_sqlite(fleet, text):
    base, sets, reader = fleet
    plain = text.replace("NOT (", "(town IS NULL) OR NOT (") if "NOT (" in text else text
    wanted = {str(cell) if not isinstance(cell, float) else cell for cell in asked(base, plain)}
    assert told(sets, reader.read(text)) == wanted


def test_first_rows_groups_and_several_columns(fleet):
    base, sets, reader = fleet
    longest = "SELECT name FROM vessel WHERE length = (SELECT MAX(length) FROM vessel)"
    first = reader.read("SELECT name FROM vessel ORDER BY length DESC LIMIT 1")
    assert told(sets, first) == asked(base, longest)
    assert told(sets, reader.read("SELECT MAX(length) FROM vessel")) == {"9"}
    query = reader.read("SELECT town, COUNT(*) FROM vessel GROUP BY town ORDER BY COUNT(*) DESC")
    counts = dict(base.execute("SELECT town, COUNT(*) FROM vessel WHERE town NOT NULL GROUP BY 1"))
    rows = sets.execute(query).table
    assert isinstance(query, q.Rows)
    assert query.per == ("town",)
    assert len(rows) == len(counts)
    both = reader.read("SELECT name, town FROM vessel WHERE length > 6")
    assert isinstance(both, q.Rows)
    assert [c.path for c in both.columns] == [(), ("town",)]


def test_inner_selects_join_by_names_where_things_differ():
    """Two tables write one name each for themselves."""
    facts = [("c1", "is a", "club"), ("c1", "hall", "h1"), ("c2", "is a", "club")]
    facts += [("c2", "hall", "h2"), ("f1", "is a", "fee"), ("f2", "is a", "fee")]
    facts += [("f1", "payer", "n1"), ("f2", "payer", "n2"), ("f1", "sum", "7"), ("f2", "sum", "9")]
    names = {"c1": "Rovers", "c2": "United", "n1": "Rovers", "n2": "United"}
    sets, reader = reader_of(facts, names=names)
    text = "SELECT hall FROM club WHERE name IN (SELECT payer FROM fee WHERE sum > 8)"
    assert told(sets, reader.read(text)) == {"h2"}
    denied = text.replace("IN", "NOT IN")
    assert told(sets, reader.read(denied)) == {"h1"}


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("name FROM vessel WHERE LOWER(town) = 'ely'", "name FROM vessel WHERE town = 'Ely'"),
        (
            "kind FROM vessel WHERE town IN (SELECT town FROM vessel GROUP BY town "
            "ORDER BY COUNT(*) DESC LIMIT 1)",
            "kind FROM vessel WHERE town = (SELECT town FROM vessel WHERE town NOT NULL "
            "GROUP BY town ORDER BY COUNT(*) DESC LIMIT 1)",
        ),
        (
            "name FROM vessel ORDER BY length DESC LIMIT 1 OFFSET 4",
            "name FROM vessel WHERE length = (SELECT length FROM vessel ORDER BY length DESC "
            "LIMIT 1 OFFSET 4)",
        ),
        (
            "name FROM vessel WHERE width IS NOT NULL ORDER BY length DESC, width LIMIT 1",
            "name FROM vessel WHERE width IS NOT NULL AND length = (SELECT MAX(length) FROM vessel "
            "WHERE width IS NOT NULL) ORDER BY width LIMIT 1",
        ),
    ],
)
def test_selects_that_mean_the_same(fleet, text, same):
    base, sets, reader = fleet
    found = told(sets, reader.read(f"SELECT {text}"))
    assert found
    assert found >= asked(base, f"SELECT {same}")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("town = 'York' OR town = 'Ely'", "town = 'Ely'"),
        ("NOT kind LIKE '%x%' AND town = 'Ely'", "kind NOT NULL AND town = 'Ely'"),
        ("kind NOT LIKE '%x%' AND town = 'Ely'", "kind NOT NULL AND town = 'Ely'"),
        ("(town = 'York' AND length > 3) OR width > 8", "width > 8"),
        ("town = 'York' OR NOT kind LIKE '%x%' AND town = 'Ely'", "town = 'Ely'"),
        ("town = 'York' UNION SELECT name FROM vessel WHERE width > 8", "width > 8"),
        ("width > 8 UNION SELECT name FROM vessel WHERE kind LIKE '%x%'", "width > 8"),
        ("width > 8 EXCEPT SELECT name FROM vessel WHERE kind LIKE '%x%'", "width > 8"),
        ("width > 8 LIMIT 30", "width > 8"),
    ],
)
def test_what_finds_nothing_beside_others_leaves_these(fleet, text, same):
    base, sets, reader = fleet
    found = told(sets, reader.read(f"SELECT name FROM vessel WHERE {text}"))
    if "NOT kind" in text:
        same = "town = 'Ely'"  # a row without a kind is not like anything
    assert found == asked(base, f"SELECT name FROM vessel WHERE {same}")


def test_what_several_selects_find_is_counted(fleet):
    base, sets, reader = fleet
    union = "SELECT name FROM vessel WHERE width > 6 UNION SELECT name FROM vessel WHERE length > 6"
    for text in (
        f"SELECT COUNT(*) FROM ({union})",
        f"SELECT COUNT(*) FROM ({union}) AS both",
        "SELECT COUNT(*) FROM (SELECT DISTINCT town FROM vessel WHERE town IS NOT NULL)",
        "SELECT COUNT(*) FROM (SELECT name, town FROM vessel WHERE length > 4) WHERE town = 'Ely'",
    ):
        assert told(sets, reader.read(text)) == asked(base, text) != {0}


def test_rows_of_two_tables_are_grouped_and_ordered_together():
    facts = [(f"b{i}", "is a", "boat") for i in range(3)] + [("p1", "is a", "plane")]
    facts += [("b0", "maker", "Ann"), ("b1", "maker", "Ann"), ("b2", "maker", "Bo")]
    facts += [("p1", "maker", "Bo"), ("p2", "maker", "Bo"), ("p2", "is a", "plane")]
    facts += [(f"b{i}", "crew", str(i)) for i in range(3)] + [
        ("p1", "wings", "2"),
        ("p2", "year", "7"),
    ]
    facts += [
        ("p1", "engine", "x"),
        ("p2", "engine", "y"),
        ("b0", "sail", "s"),
        ("b1", "sail", "t"),
    ]
    sets, reader = reader_of(facts)
    assert len(reader.tables) == 2
    both = "(SELECT name, maker FROM boat UNION ALL SELECT name, maker FROM plane)"
    text = f"SELECT maker FROM {both} AS x GROUP BY maker ORDER BY COUNT(*) DESC LIMIT 1"
    assert told(sets, reader.read(text)) == {"Bo"}
    assert told(sets, reader.read(f"SELECT COUNT(*) FROM {both}")) == {5}
    assert told(sets, reader.read(f"SELECT name FROM {both} WHERE maker = 'Ann'")) == {"b0", "b1"}
    for text, why in (
        ("(SELECT name, maker FROM boat UNION SELECT name, engine FROM plane)", "are the same"),
        ("(SELECT COUNT(*) FROM boat)", "columns of rows, WHERE and UNION alone"),
        ("(SELECT name FROM boat ORDER BY crew LIMIT 1)", "WHERE and UNION alone"),
        ("(SELECT name FROM boat WHERE maker LIKE '%q%')", "behind FROM finds nothing"),
        ("(SELECT name FROM boat", "is not closed"),
    ):
        with pytest.raises(JaxkgError, match=re.escape(why)):
            reader.read(f"SELECT name FROM {text}")


def test_groups_by_their_numbers(fleet):
    base, sets, reader = fleet
    most = (
        "SELECT kind FROM vessel WHERE kind NOT NULL GROUP BY kind ORDER BY COUNT(*) DESC LIMIT 1"
    )
    [top] = asked(base, most)
    text = "SELECT name FROM vessel WHERE kind = (SELECT kind FROM vessel GROUP BY kind "
    found = reader.read(f"{text}ORDER BY COUNT(*) DESC LIMIT 1)")
    assert told(sets, found) == asked(base, f"SELECT name FROM vessel WHERE kind = '{top}'")
    text = "SELECT kind FROM vessel GROUP BY kind HAVING COUNT(*) = (SELECT COUNT(*) FROM vessel "
    found = reader.read(f"{text}GROUP BY kind ORDER BY COUNT(*) DESC LIMIT 1)")
    assert told(sets, found) == {top}
    query = reader.read("SELECT town, name, MAX(length) FROM vessel GROUP BY town")
    rows = sets.execute(query).table
    best = base.execute("SELECT town, MAX(length) FROM vessel WHERE town NOT NULL GROUP BY town")
    assert {(sets.kg.name(r.key), sets.kg.name(int(r.cells[1].ends[0]))) for r in rows} == {
        (town, f"{length:g}") for town, length in best
    }
    one = "SELECT town, name, MAX(length) FROM vessel GROUP BY town ORDER BY MAX(length) "
    rows = sets.execute(reader.read(f"{one} LIMIT 1")).table
    least = base.execute(f"{one} LIMIT 1").fetchone()
    assert float(sets.kg.name(int(rows[0].cells[1].ends[0]))) == least[2]
    assert len(rows) < len(sets.execute(reader.read(one)).table)
    query = reader.read("SELECT name, SUM(length) FROM vessel GROUP BY name HAVING SUM(length) > 8")
    assert {sets.kg.name(row.key) for row in sets.execute(query).table} == asked(
        base, "SELECT name FROM vessel WHERE length > 8"
    )


def test_having_counts_what_a_row_has():
    facts = [("p1", "is a", "paper"), ("p2", "is a", "paper"), ("p1", "author", "Ann")]
    facts += [("p2", "author", "Ann"), ("p2", "author", "Bo")]
    sets, reader = reader_of(facts)
    text = "SELECT name FROM paper GROUP BY name HAVING COUNT(author) = 1"
    assert told(sets, reader.read(text)) == {"p1"}


def test_values_of_a_group_are_counted_where_a_row_has_several():
    facts = [(f"p{i}", "is a", "paper") for i in range(3)] + [("p0", "in", "A"), ("p1", "in", "B")]
    facts += [("p2", "in", "B"), ("p1", "author", "Cy"), ("p2", "author", "Di")]
    facts += [("p0", "author", name) for name in ("Ann", "Bo", "Cy")]
    sets, reader = reader_of(facts)
    text = "SELECT in FROM paper GROUP BY in ORDER BY COUNT({}) DESC LIMIT 1"
    assert told(sets, reader.read(text.format("author"))) == {"A"}
    assert told(sets, reader.read(text.format("*"))) == {"B"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("DROP TABLE vessel", "no SELECT"),
        ("SELECT name FROM ships", "no table 'ships'; there are vessel"),
        ("SELECT weight FROM vessel", "no column 'weight'"),
        ("SELECT lenght FROM vessel", "no column 'lenght'; nearest: 'length'"),
        ("SELECT name FROM vessel WHERE town = 'St Ive'", "called 'St Ive'; nearest: 'St Ives'"),
        ("SELECT name FROM vessel WHERE town = 'York'", "nothing of town is called 'York'"),
        ("SELECT name FROM vessel JOIN town ON 1 = 1", "a join"),
        ("SELECT name FROM vessel WHERE length = (SELECT 1)", "no SELECT ... FROM a table"),
        ("SELECT name FROM vessel WHERE length > (3)", "stands one SELECT"),
        ("SELECT name FROM vessel WHERE length > (SELECT length FROM vessel", "stands one SELECT"),
        ("SELECT name FROM vessel WHERE length > (SELECT width FROM vessel)", "finds 7 values"),
        ("SELECT name FROM vessel WHERE town IN (SELECT COUNT(*) FROM vessel)", "not of a number"),
        ("SELECT name FROM vessel WHERE town IN (SELECT name, town FROM vessel)", "one column"),
        ("SELECT name FROM vessel WHERE town IN (SELECT name FROM vessel)", "the inner SELECT"),
        ("SELECT COUNT(*) FROM (SELECT COUNT(DISTINCT town) FROM vessel)", "not of numbers"),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT name FROM vessel", "one SELECT in brackets"),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT name FROM vessel) WHERE 1", "one SELECT in"),
        (f"{'SELECT name FROM vessel UNION ' * 30}SELECT name FROM vessel", "more than 30 SELECTs"),
        ("SELECT name FROM vessel WHERE NOT town = 'York'", "nothing of town is called"),
        ("SELECT name FROM vessel WHERE town != 'York'", "nothing of town is called"),
        (
            "SELECT name FROM vessel WHERE town = 'York' UNION SELECT name FROM vessel "
            "WHERE kind LIKE '%x%'",
            "nothing of kind is like",
        ),
        (
            "SELECT name FROM vessel INTERSECT SELECT name FROM vessel WHERE kind LIKE '%x%'",
            "nothing of kind is like",
        ),
        (
            "SELECT name FROM vessel WHERE kind LIKE '%x%' INTERSECT SELECT name FROM vessel",
            "nothing of kind is like",
        ),
        ("SELECT name FROM vessel WHERE town > 'Ely'", "compare by = and != alone"),
        ("SELECT name FROM vessel ORDER BY kind LIMIT 1", "holds texts"),
        ("SELECT name FROM vessel WHERE", "ends too early"),
        ("SELECT name FROM vessel; DROP TABLE vessel", "'DROP' is not read"),
        ("SELECT name FROM vessel WHERE kind LIKE '%x%'", "nothing of kind is like"),
        ("", "no SELECT"),
        ("SELECT name FROM vessel LIMIT 3", "LIMIT without ORDER BY"),
        ("SELECT name FROM vessel ORDER BY length LIMIT 1.5", "LIMIT 1.5"),
        ("SELECT name FROM vessel ORDER BY length, width LIMIT 2", "ORDER BY several"),
        ("SELECT town FROM vessel GROUP BY town, kind", "GROUP BY several"),
        ("SELECT name, COUNT(*) > 0 FROM vessel", "stands alone"),
        ("SELECT name FROM vessel ORDER BY length LIMIT 00", "LIMIT 00"),
        ("SELECT AVG(length), MAX(length) FROM vessel", "several totals"),
        ("SELECT name FROM vessel GROUP BY name HAVING COUNT(*) > 1", "HAVING is of what a row"),
        ("SELECT name FROM vessel WHERE town = ''", "nothing of town"),
        ("SELECT name FROM vessel WHERE kind LIKE 'oat'", "nothing of kind is like"),
        (f"SELECT name FROM vessel WHERE kind LIKE '{'%a' * 9}'", "8 % at most"),
        (f"SELECT name FROM vessel WHERE {'(' * 60}length > 3{')' * 60}", "within one another"),
        ("SELECT name, all_part_of FROM row", "all_part_of is of any depth"),
        ("SELECT part_of FROM row GROUP BY all_part_of", "all_part_of is of any depth"),
        ("SELECT name FROM row WHERE part_of = all_part_of", "all_part_of is of any depth"),
        ("SELECT COUNT(*) FROM film UNION SELECT name FROM film", "UNION stands between"),
        ("SELECT (SELECT name FROM film)", "of two SELECTs in brackets"),
        ("SELECT (SELECT name FROM film) - (SELECT name FROM film) FROM row", "two SELECTs"),
        ("SELECT (SELECT cost FROM film) * (SELECT cost FROM film)", "with '*' between them"),
        ("SELECT (SELECT SUM(cost) FROM film) - (SELECT cost FROM film)", "only values and counts"),
        ("SELECT name FROM film UNION", "what stands at 'UNION' is not read"),
        (
            "SELECT name FROM film UNION SELECT name FROM row EXCEPT SELECT name FROM film",
            "one at a",
        ),
        ("SELECT name FROM film UNION SELECT name FROM film ORDER BY cost LIMIT 1", "behind UNION"),
        ("SELECT part_of, all_part_of FROM row GROUP BY part_of", "all_part_of is of any depth"),
        (
            "SELECT (SELECT cost FROM film) - (SELECT cost FROM film) - (SELECT cost FROM film)",
            "of two SELECTs in brackets",
        ),
    ],
)
def test_what_is_not_read_is_said(fleet, films, text, why):
    reader = fleet[2] if "vessel" in text or "ships" in text or not text else films[1]
    with pytest.raises(JaxkgError, match=re.escape(why)):
        reader.read(text)


def test_a_pattern_lets_what_can_be_read_pass(fleet):
    _, _, reader = fleet
    pattern = select_pattern(reader.relational.tables)
    rng = random.Random(7)
    for _ in range(100):
        clause = where(rng, kinds=7)
        if "BETWEEN" in clause or " IN " in clause:
            continue
        assert re.fullmatch(pattern, f"SELECT name FROM vessel{clause}"), clause
    assert not re.fullmatch(pattern, "SELECT weight FROM vessel")
    assert not re.fullmatch(pattern, "DROP TABLE vessel")


def test_whatever_is_written_is_read_or_refused(fleet):
    _, sets, reader = fleet
    rng = random.Random(11)
    text = (
        "SELECT FROM vessel WHERE AND OR NOT NULL IS IN LIKE BETWEEN GROUP BY HAVING ORDER LIMIT "
        "COUNT SUM MAX DISTINCT AS DESC ( ) , * . = < > != 'Ely' 'x' 5 -1.5 1.5 name kind town "
        "length width built vessel_2 ; ''"
    )
    words = text.split()
    read = 0
    for _ in range(3000):
        parts = f"SELECT {rng.choice(COLUMNS)} FROM vessel{where(rng)}".split()
        for _ in range(rng.randint(0, 4)):
            place = rng.randrange(len(parts))
            parts[place : place + rng.randint(0, 1)] = [rng.choice(words)]
        try:
            query = reader.read(" ".join(parts))
        except JaxkgError:
            continue
        if refusal(sets.values, query) is None:
            sets.execute(query)
            read += 1
    assert read > 300
