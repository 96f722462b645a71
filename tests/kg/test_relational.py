"""Tables of a graph, and what a model may write over them."""

import re

import pytest
from boats import PARTS, asked, reader_of, tables_of, told
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.queries.rules import refusal
from jaxkg.kg.queries.select_pattern import select_pattern
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.kg.relational import Relational


def test_what_rows_refer_to_stands_in_columns_of_theirs():
    facts = [("Ann", "boss", "Bo"), ("Bo", "boss", "Cy"), ("Ann", "town", "Ely")]
    facts += [(name, "is a", "person") for name in ("Ann", "Bo", "Cy")] + [("Bo", "town", "Rye")]
    sets, reader = reader_of(facts)
    assert told(sets, reader.read("SELECT boss_town FROM person WHERE name = 'Ann'")) == {"Rye"}
    assert told(sets, reader.read("SELECT name FROM person WHERE boss_town = 'Rye'")) == {"Ann"}


def test_kinds_with_the_same_columns_are_one_table_and_rows_without_names_have_their_owner():
    facts = []
    for at, kind in enumerate(("shrub", "bulb", "shrub", "bulb")):
        facts += [(f"P{at}", "is a", kind), (f"P{at}", "height", str(at)), (f"P{at}", "bed", "N1")]
        facts += [(f"P{at}", "order", f"_:o{at}"), (f"_:o{at}", "price", str(at + 2))]
    sets, reader = reader_of(facts)
    tables = reader.tables
    assert set(tables) == {"bulb_or_shrub", "row"}
    assert tables["bulb_or_shrub"].columns["is_a"].values == ("bulb", "shrub")
    assert "name" not in tables["row"].columns
    heights = reader.read("SELECT height FROM bulb_or_shrub WHERE is_a = 'bulb'")
    assert told(sets, heights) == {"1", "3"}
    assert told(sets, reader.read("SELECT bulb_or_shrub FROM row WHERE price > 4")) == {"P3"}
    many = [(f"P{at}", "is a", f"kind {at}") for at in range(4)]
    many += [(f"P{at}", "height", str(at)) for at in range(4)]
    assert list(tables_of(many)) == ["thing"]


def test_only_the_likeliest_columns_are_shown_where_not_all_fit(fleet):
    relational = fleet[2].relational

    def encode(texts):
        import numpy as np

        return np.array([[1.0, 0.0] if "width" in text else [0.0, 1.0] for text in texts])

    [table] = relational.projected("what width", encode, tokens=20)
    assert list(table.columns) == ["name", "width"]
    facts = [(f"{kind}{at}", f"size {kind}", str(at)) for kind in range(90) for at in range(2)]
    facts += [(f"{kind}{at}", "is a", f"kind {kind}") for kind in range(90) for at in range(2)]
    many = reader_of(facts)[1].relational
    assert len(many.tables) == 90
    assert 2 < len(many.projected("what size", None, tokens=150)) < 20
    assert relational.projected("what width", None, tokens=1000) == relational.tables


def test_a_name_is_told_with_the_columns_that_it_stands_in(fleet):
    relational = fleet[2].relational
    kg = relational.kg
    assert relational.places(kg.entity("Ely")) == ("vessel.town",)
    assert relational.places(kg.entity("Boat C")) == ("vessel.name",)


def test_dates_are_told_in_one_form_and_read_in_both():
    cells = [("S1", "20.06.2023", "06:50"), ("S2", "13.07.2023", "09:20"), ("S3", "14.07.2023", "")]
    facts = [(name, "is a", "sample") for name, *_ in cells]
    facts += [(name, "taken", day) for name, day, _ in cells]
    facts += [(name, "hour", time) for name, _, time in cells if time]
    sets, reader = reader_of(facts)
    columns = reader.tables["sample"].columns
    assert columns["taken"].values == ("2023-07-13", "2023-07-14", "2023-06-20")
    assert columns["hour"].values == ("06:50", "09:20")
    for text in ("2023-07-13", "13.07.2023"):
        assert told(sets, reader.read(f"SELECT name FROM sample WHERE taken = '{text}'")) == {"S2"}
        later = reader.read(f"SELECT name FROM sample WHERE taken > '{text}'")
        assert told(sets, later) == {"S3"}
    assert told(sets, reader.read("SELECT name FROM sample WHERE taken LIKE '2023-07%'")) == {
        "S2", "S3"
    }  # fmt: skip
    others = reader.read("SELECT name FROM sample WHERE taken NOT LIKE '2023-07%'")
    assert told(sets, others) == {"S1"}
    assert told(sets, reader.read("SELECT name FROM sample WHERE hour < '08:00'")) == {"S1"}
    with pytest.raises(JaxkgError, match=r"no date '31\.02\.2023'"):
        reader.read("SELECT name FROM sample WHERE taken = '31.02.2023'")


def test_a_name_beside_the_wrong_column_is_looked_up_in_the_one_that_has_it(fleet):
    _, sets, reader = fleet
    meant = reader.read("SELECT length FROM vessel WHERE name = 'Boat D'")
    assert reader.read("SELECT length FROM vessel WHERE kind = 'Boat D'") == meant
    with pytest.raises(JaxkgError, match="nothing of kind is called 'Boat D'"):
        reader.read("SELECT name FROM vessel WHERE kind = 'Boat D'")
    ives = reader.read("SELECT name FROM vessel WHERE town = 'Ives'")
    assert told(sets, ives) == told(
        sets, reader.read("SELECT name FROM vessel WHERE town = 'St Ives'")
    )


def test_classes_that_ids_say_are_tables():
    facts = [("city/waco", "in", "state/texas"), ("city/ely", "in", "state/ohio")]
    facts += [
        ("city/waco", "people", "9"),
        ("state/texas", "area", "5"),
        ("state/ohio", "area", "7"),
    ]
    sets, reader = reader_of(facts)
    assert set(reader.tables) == {"city", "state"}
    assert told(sets, reader.read("SELECT COUNT(*) FROM city")) == {2}
    assert told(sets, reader.read("SELECT in_area FROM city WHERE people > 3")) == {"5"}


def test_things_without_a_class_are_told_apart_by_their_relations():
    facts = [(f"M{at}", "by", f"P{at % 3}") for at in range(6)]
    facts += [(f"M{at}", "year", f"199{at}") for at in range(6)]
    facts += [(f"P{at}", "town", "Ely") for at in range(3)] + [("P0", "award", "Cup")]
    facts += [("M1", "award", "Cup"), ("M2", "award", "Cup"), ("P1", "born", "1950")]
    sets, reader = reader_of(facts)
    tables = reader.tables
    assert {name: table.size for name, table in tables.items()} == {"with_by": 6, "with_town": 3}
    assert list(tables["with_town"].columns) == ["name", "town", "award", "born"]
    assert {"award", "by_town", "by_award"} <= set(tables["with_by"].columns)
    found = reader.read("SELECT name FROM with_by WHERE by_town = 'Ely' AND award IS NOT NULL")
    assert told(sets, found) == {"M1", "M2"}


def test_columns_and_names_may_be_words_of_sql():
    facts = [("S1", "from", "Ely"), ("S2", "from", "Select"), ("S1", "to", "Rye")]
    sets, reader = reader_of(facts)
    assert told(sets, reader.read("SELECT from FROM row WHERE name = 'S1'")) == {"Ely"}
    assert told(sets, reader.read("SELECT name FROM row WHERE from = 'Select'")) == {"S2"}


def test_a_value_may_stand_before_its_column(fleet):
    _, sets, reader = fleet
    for text, other in (("6 < length", "length > 6"), ("6 >= length", "length <= 6")):
        one, two = (reader.read(f"SELECT name FROM vessel WHERE {each}") for each in (text, other))
        assert told(sets, one) == told(sets, two) != set()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("SELECT role FROM plays_in WHERE person = 'Ann' AND film = 'Eve'", {"King"}),
        ("SELECT COUNT(*) FROM plays_in WHERE role = 'Cook'", {2.0}),
        ("SELECT film FROM plays_in WHERE film_cost > 5", {"Dawn"}),
        ("SELECT role FROM edits", {"sound"}),
        ("SELECT name FROM row WHERE all_part_of = 'Fleet'", {"Wheel", "Axle", "Car"}),
        ("SELECT name FROM row WHERE all_part_of != 'Car'", {"Car"}),
        ("SELECT name FROM row WHERE all_part_of IN ('Axle', 'Fleet')", {"Wheel", "Axle", "Car"}),
        ("SELECT all_part_of FROM row WHERE name = 'Axle'", {"Car", "Fleet"}),
        ("SELECT COUNT(*) FROM row WHERE all_part_of IS NULL", {0.0}),
        ("SELECT plays_in FROM person INTERSECT SELECT name FROM film WHERE cost < 5", {"Eve"}),
        ("SELECT name FROM film EXCEPT SELECT edits FROM person", {"Dawn"}),
        ("SELECT name FROM film UNION SELECT name FROM person WHERE born > 1965",
         {"Dawn", "Eve", "Ann"}),
        ("SELECT (SELECT cost FROM film WHERE name = 'Dawn') - "
         "(SELECT cost FROM film WHERE name = 'Eve')", {6.0}),
        ("SELECT (SELECT cost FROM film WHERE name = 'Dawn') / "
         "(SELECT cost FROM film WHERE name = 'Eve')", {4.0}),
        ("SELECT (SELECT born FROM person WHERE name = 'Ann') - "
         "(SELECT born FROM person WHERE name = 'Bo')", {6.0}),
        ("SELECT (SELECT seen FROM person WHERE name = 'Ann') - "
         "(SELECT seen FROM person WHERE name = 'Bo')", {3.0}),
        ("select (select born from person where name = 'Ann') < "
         "(select born from person where name = 'Bo')", {0.0}),
        ("SELECT (SELECT COUNT(*) FROM plays_in) - (SELECT COUNT(*) FROM edits)", {2.0}),
        ("SELECT (SELECT COUNT(*) FROM plays_in) + (SELECT COUNT(*) FROM edits)", {4.0}),
        ("SELECT (SELECT COUNT(DISTINCT seen) FROM person) - "
         "(SELECT COUNT(DISTINCT seen) FROM person WHERE name = 'Ann')", {1.0}),
        ("SELECT (SELECT COUNT(*) FROM film WHERE (cost > 1) AND (cost < 9)) - "
         "(SELECT COUNT(*) FROM edits)", {1.0}),
        ("SELECT (SELECT person_seen FROM edits) - (SELECT seen FROM person WHERE name = 'Ann')",
         {-3.0}),
        ("SELECT name FROM film UNION ALL SELECT name FROM person UNION SELECT name FROM film",
         {"Ann", "Bo", "Dawn", "Eve"}),
        ("SELECT COUNT(DISTINCT all_part_of) FROM row", {3.0}),
        ("SELECT name FROM row WHERE all_part_of LIKE '%leet%'", {"Wheel", "Axle", "Car"}),
        ("SELECT name FROM row WHERE all_part_of NOT IN ('Axle', 'Car')", {"Car"}),
    ],
)  # fmt: skip
def test_facts_with_properties_hierarchies_and_several_selects(films, text, wanted):
    sets, reader = films
    query = reader.read(text)
    assert refusal(sets.values, query) is None
    assert told(sets, query) == wanted


def test_tables_of_facts_are_shown_with_the_classes_of_their_ends(films):
    tables = films[1].tables
    assert set(tables) == {"person", "film", "row", "plays_in", "edits"}
    assert set(tables["plays_in"].columns) >= {"person", "film", "role", "film_cost"}
    assert tables["row"].columns["all_part_of"].line == "all_part_of TEXT -- at any depth"
    assert "all_plays_in" not in tables["person"].columns


def test_what_only_says_a_name_again_is_no_column():
    facts = [(f"e{at}", "label", f"Name {at}") for at in range(3)]
    facts += [(f"e{at}", "boss", f"e{(at + 1) % 3}") for at in range(3)]
    names = {f"e{at}": f"Name {at}" for at in range(3)}
    [table] = reader_of(facts, names=names)[1].tables.values()
    assert list(table.columns) == ["name", "boss", "boss_boss"]


@pytest.mark.parametrize("first", ["part_of", "all_part_of"])
def test_a_column_of_any_depth_has_values_of_its_own(first):
    sets, reader = reader_of([*PARTS, ("Wheel", "is", "old")])
    for column in (first, *({"part_of", "all_part_of"} - {first})):
        text = f"SELECT name FROM row WHERE {column} = 'Car'"
        assert told(sets, reader.read(text)) == ({"Axle"} if column == "part_of" else
                                                 {"Wheel", "Axle"})  # fmt: skip


def test_years_are_told_apart_from_days_behind_a_relation():
    facts = [("L1", "by", "Ann"), ("L2", "by", "Bo"), ("Ann", "born", "1999-04-01")]
    facts += [("Bo", "born", "2001-07-03"), ("Ann", "since", "2010"), ("Bo", "since", "2014")]
    facts += [("L1", "is a", "loan"), ("L2", "is a", "loan")]
    sets, reader = reader_of(facts)
    read = reader.read
    for column, wanted in (("by_born", "824 days"), ("by_since", "4 years")):
        one, two = (f"(SELECT {column} FROM loan WHERE name = 'L{at}')" for at in (2, 1))
        assert sets.execute(read(f"SELECT {one} - {two}")).words == wanted


def test_words_that_combine_selects_may_be_columns_and_tables():
    facts = [(f"U{at}", "is a", "union") for at in range(2)]
    facts += [(f"U{at}", "except", f"day {at}") for at in range(2)]
    sets, reader = reader_of(facts)
    read = reader.read
    assert told(sets, read("SELECT except FROM union WHERE name = 'U1'")) == {"day 1"}
    assert told(sets, read("SELECT name FROM union UNION SELECT except FROM union")) == {
        "U0", "U1", "day 0", "day 1"
    }  # fmt: skip


def test_rows_are_as_many_as_a_table_says_where_statements_have_classes():
    facts = [("Ann", "plays in", "Eve"), ("Bo", "plays in", "Eve")]
    for at, who in enumerate(("Ann", "Bo", "Cy")):
        ends = ("subject", who), ("predicate", "plays in"), ("object", "Eve"), ("role", f"R{at}")
        facts += [(f"_:{at}", name, end) for name, end in ends]
    facts += [("_:0", "is a", "casting"), ("_:2", "subject", "Dot"), ("C1", "is a", "casting")]
    facts += [("C1", "fee", "5")]
    sets, reader = reader_of(facts)
    assert reader.tables.keys() >= {"plays_in", "casting"}
    for table in reader.tables.values():
        assert len(sets.execute(table.source).rows) == table.size, table


def test_an_end_of_facts_is_called_as_a_table_that_has_most_of_it():
    facts = [("Ann", "is a", "person"), ("Ann", "born", "1970")]
    for at, (who, what) in enumerate([("Ann", "Tea"), ("Bo", "Rum"), ("Cy", "Gin")]):
        ends = ("subject", who), ("predicate", "drinks"), ("object", what), ("cups", str(at))
        facts += [(who, "drinks", what), *((f"_:{at}", name, end) for name, end in ends)]
    assert {"subject", "object", "cups"} <= set(tables_of(facts)["drinks"].columns)


def test_a_relation_to_things_stays_a_column_where_they_are_called_alike():
    facts = [(name, "likes", name) for name in ("Ann", "Bo")]
    [table] = tables_of(facts).values()
    assert "likes" in table.columns


def test_a_pattern_of_no_tables_takes_nothing():
    assert re.fullmatch(select_pattern([]), "")
    assert not re.fullmatch(select_pattern([]), "SELECT () - ()")


def test_what_a_pattern_takes_of_a_column_of_any_depth_is_read(films):
    _, reader = films
    pattern = select_pattern(reader.relational.tables)
    for text, takes in (
        ("SELECT all_part_of FROM row WHERE name = 'Axle'", True),
        ("SELECT name FROM row WHERE all_part_of = 'Car'", True),
        ("SELECT name, all_part_of FROM row", False),
        ("SELECT name FROM row GROUP BY all_part_of", False),
        ("SELECT name FROM row WHERE all_part_of > 5", False),
    ):
        assert (re.fullmatch(pattern, text) is not None) == takes, text
        assert not takes or reader.read(text)


@pytest.mark.parametrize("owl", ["http://www.w3.org/2002/07/owl#", "http://x.org/"])
def test_classes_of_rows_are_no_rows_where_a_vocabulary_declares_them(owl):
    facts = [(name, "type", kind) for name, kind in (("Ann", "Person"), ("Sea", "Water"))]
    facts += [("Ann", "age", "5"), ("Sea", "depth", "7")]
    for kind in ("Person", "Water"):
        facts += [(kind, "type", owl + "Class"), (kind, "depiction", f"{kind}.svg")]
    names = tables_of(facts).keys()
    assert len(names) == (2 if "owl" in owl else 3)
    assert {"person", "water"} <= names


def priced(units, extra=()):
    """Tables of tools with prices of these units, and of shelves."""
    facts, names = [*extra], {}
    for at, (price, unit) in enumerate(zip(("4.50", "12.00", "7.25"), units)):
        facts += [(f"P{at}", "is a", "tool"), (f"P{at}", "price", f"_:p{at}")]
        facts += [(f"_:p{at}", "amount", price), (f"_:p{at}", "currency", unit)]
        facts += [(f"P{at}", "shelf", f"S{at}"), (f"S{at}", "no", str(at)), (f"S{at}", "hall", "A")]
        names |= {f"_:p{at}": f"{price} {unit}".replace(".", ","), f"S{at}": f"Shelf {at}"}
    return reader_of(facts, names=names)


def test_amounts_are_the_numbers_of_what_they_belong_to():
    sets, reader = priced(("EUR",) * 3)
    columns = reader.tables["tool"].columns
    assert {name: column.kind for name, column in columns.items()} == {
        "name": "text", "price": "number", "price_currency": "text", "shelf": "text",
        "shelf_no": "number", "shelf_hall": "text",
    }  # fmt: skip
    assert set(reader.tables) == {"tool", "row"}
    dearest = reader.read("SELECT name FROM tool ORDER BY price DESC LIMIT 1")
    assert told(sets, dearest) == {"P1"}
    assert sets.execute(reader.read("SELECT SUM(price) FROM tool")).number == 23.75


@pytest.mark.parametrize(
    ("units", "extra"),
    [
        (("EUR", "JPY", "EUR"), ()),
        (("EUR",) * 3, (("P9", "is a", "tool"), ("P9", "price", "on request"))),
        (("EUR",) * 3, (("P0", "price", "_:p1"),)),
    ],
)
def test_amounts_of_two_units_beside_texts_or_of_two_of_a_kind_stay_things(units, extra):
    _, reader = priced(units, extra)
    columns = reader.tables["tool"].columns
    assert columns["price"].kind == "text"
    assert columns["price_amount"].kind == "number"


def test_lines_of_orders_are_no_amounts():
    facts = []
    for at, (order, product, quantity) in enumerate((("O1", "Lamp", "3"), ("O2", "Lamp", "2"))):
        facts += [(order, "line", f"_:l{at}"), (f"_:l{at}", "is a", "line item")]
        facts += [(f"_:l{at}", "product", product), (f"_:l{at}", "quantity", quantity)]
    tables = tables_of(facts)
    assert set(tables["line_item"].columns) == {"row", "product", "quantity"}
    assert tables["line_item"].columns["quantity"].kind == "number"


def test_rows_are_counted_by_what_is_selected_where_no_group_is_said(fleet):
    reader = fleet[2]
    ordered = "SELECT town FROM vessel {}ORDER BY COUNT(*) DESC LIMIT 1"
    queries = [reader.read(ordered.format(group)) for group in ("", "GROUP BY town ")]
    assert queries[0] == queries[1]
    with pytest.raises(JaxkgError, match="without GROUP BY"):
        reader.read("SELECT COUNT(*) FROM vessel ORDER BY COUNT(*) DESC LIMIT 1")
    facts = [("A", "part", "x"), ("A", "part", "y"), ("B", "part", "x"), ("B", "size", "1")]
    parts, reader = reader_of(facts)
    most = reader.read("SELECT name FROM row GROUP BY name ORDER BY COUNT(part) DESC LIMIT 1")
    assert [parts.kg.name(row) for row in parts.execute(most).rows] == ["A"]


def test_a_pattern_offers_what_a_question_names(fleet):
    relational = fleet[2].relational
    [table] = relational.tables
    town = table.columns["town"]
    names = [relational.kg.name(end) for end in relational.cells.ends(town, table)]
    longest = max(names, key=len)
    assert relational.cells.named(town, table, f"boats at {longest}?")[0] == longest
    assert relational.cells.named(town, table, "boats at sea?") == ()
    pattern = select_pattern(
        relational.tables, lambda _, column: (longest, 'odd"') if column is town else ()
    )
    for text, takes in (
        (f"SELECT name FROM vessel WHERE town = '{longest}'", True),
        ("SELECT name FROM vessel WHERE town = 'Atlantis'", False),
        ("SELECT name FROM vessel WHERE town LIKE '%Atlantis%'", True),
        ("SELECT name FROM vessel WHERE name = 'x'", False),
        ("SELECT SUM(town) FROM vessel", False),
        ("SELECT name FROM vessel WHERE town > 5", False),
        ("SELECT name FROM vessel WHERE length > width", True),
    ):
        assert (re.fullmatch(pattern, text) is not None) == takes, text


@pytest.mark.parametrize("truth", [True, False, None])
def test_a_pattern_of_yes_or_no_takes_nothing_else(fleet, truth):
    pattern = select_pattern(fleet[2].relational.tables, truth=truth)
    for text, takes in (
        ("SELECT COUNT(*) > 0 FROM vessel WHERE town = 'Ely'", truth is not False),
        ("SELECT town FROM vessel", truth is not True),
        ("SELECT COUNT(*) FROM vessel", truth is not True),
        ("", True),
    ):
        assert (re.fullmatch(pattern, text) is not None) == takes, text


def test_having_is_read_with_any_sign_and_of_no_rows(fleet):
    base, sets, reader = fleet
    for sign in (">", ">=", "=", "<"):
        text = f"SELECT town FROM vessel GROUP BY town HAVING COUNT(*) {sign} 6"
        wanted = {town for (town,) in base.execute(text.replace("vessel", "(SELECT * FROM vessel "
                  "WHERE town IS NOT NULL)"))}  # fmt: skip
        rows = sets.execute(reader.read(text)).table
        assert {sets.kg.name(row.key) for row in rows} == wanted, sign
    none = "SELECT town FROM vessel WHERE length > 999 GROUP BY town HAVING COUNT(*) >= 2"
    assert sets.execute(reader.read(none)).empty


@pytest.mark.parametrize("like", ["B%", "boat%", "%oat C", "Boat _", "%", "Boat A"])
def test_like_is_anchored_as_in_sql(fleet, like):
    text = f"SELECT name FROM vessel WHERE name LIKE '{like}'"
    assert asked(fleet[0], text) == told(fleet[1], fleet[2].read(text))


def fault(reader, text):
    """Why a SELECT cannot be read; "" where it can."""
    try:
        reader.read(text)
    except JaxkgError as error:
        return str(error)
    return ""


@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_a_pattern_takes_is_read(films, fleet, data):
    reader = data.draw(st.sampled_from([films[1], fleet[2]]))
    relational = reader.relational

    def values(table, column):
        return [relational.kg.name(end) for end in sorted(relational.cells.ends(column, table))[:3]]

    text = data.draw(st.from_regex(select_pattern(relational.tables, values), fullmatch=True))
    assert not text or not (why := fault(reader, text)) or "is like" in why, (text, why)


def test_a_text_names_what_is_called_so_its_singular_and_by_a_rare_word():
    facts = [(name, "kind", kind) for name, kind in (("Sabrina Geiger", "coil"), ("Bo", "fan"))]
    facts += [(f"Thing {at}", "kind", "fan") for at in range(5)]
    cells = Relational(QuerySets(KnowledgeGraph.from_triples(facts))).cells
    [table] = Relational(cells.sets).tables
    name, kind = table.columns["name"], table.columns["kind"]
    assert cells.named(kind, table, "who has the coils?") == ("coil",)
    assert cells.named(name, table, "where is Sabrina, and which thing?") == ("Sabrina",)
    assert cells.named(name, table, "where is sabrina geiger") == (
        "sabrina",
        "Sabrina Geiger",
        "geiger",
    )


def test_columns_that_are_named_go_first_and_more_values_are_shown_where_there_is_room():
    letters = "abcdefghijklmnopqrst"
    facts = [(f"t{letter}", "is a", "thing") for letter in letters]
    facts += [(f"t{letter}", "hue", f"hue {letter}") for letter in letters]
    facts += [(f"t{letter}", "size", str(place)) for place, letter in enumerate(letters)]
    _, reader = reader_of(facts)
    relational = reader.relational
    [table] = relational.tables
    for wanted, other in (("hue", "size"), ("size", "hue")):
        [shown] = relational.projected("x", None, tokens=32, first={f"{table.name}.{wanted}"})
        assert wanted in shown.columns
        assert other not in shown.columns
    [full] = relational.fuller([table], tokens=400)
    assert len(full.columns["hue"].values) == 15 > len(table.columns["hue"].values) == 3
    assert full.columns["size"] == table.columns["size"]
    assert relational.fuller([table], tokens=60) == (table,)
