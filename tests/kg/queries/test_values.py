from decimal import Decimal

import numpy as np
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, read_graph
from jaxkg.kg.queries.literals import as_clock, as_date, as_number
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.kg.queries.values import Values
from jaxkg.kg.queries.windows import NONE
from jaxkg.kg.stats import graph_stats
from jaxkg.query import Domain, Extreme, Match, Total, Value, Where


def graph_of(relation, tails):
    return KnowledgeGraph.from_triples([(f"e{i}", relation, tail) for i, tail in enumerate(tails)])


@pytest.mark.parametrize(
    ("tails", "kind"),
    [
        (["1990", "1991-05", "1991-05-02"], "date"),
        (["90", "1991", "12.5"], "number"),
        (["true", "false"], "boolean"),
        (["1,000 km", "12 km"], "number"),
        (["Alien", "1990"], None),
        ([f"{n}" for n in range(30)] + ["unknown"], "number"),
        ([f"{n}" for n in range(10)] + ["unknown"], None),
        (["1124 Stroobantia", "1125 China", "1126 Otero"], None),
        (["007", "08"], None),
    ],
)
def test_a_column_is_recognised_by_nearly_all_of_its_tails(tails, kind):
    kg = graph_of("r", tails)
    assert Values(kg).relation_kinds.get("r") == kind
    assert graph_stats(kg)["values"] == ({"r": kind} if kind else {})


def test_what_has_facts_of_its_own_is_no_number():
    triples = [("Ann", "sits in", "7"), ("Ben", "sits in", "8"), ("7", "looked after by", "Eve")]
    assert Values(KnowledgeGraph.from_triples(triples)).relation_kinds == {"sits in": "number"}
    triples.append(("8", "looked after by", "Max"))
    assert Values(KnowledgeGraph.from_triples(triples)).relation_kinds == {}


def test_what_is_recognised_can_be_overruled():
    kg = graph_of("seats", ["1990", "2000", "2010"])
    assert Values(kg).relation_kinds == {"seats": "date"}
    assert Values(kg, {"seats": "number"}).relation_kinds == {"seats": "number"}
    assert Values(kg, {"seats": None}).relation_kinds == {}
    with pytest.raises(JaxkgError, match="no kind 'age'"):
        Values(kg, {"seats": "age"})
    with pytest.raises(JaxkgError, match="no relation 'seat'"):
        Values(kg, {"seat": "number"})


def test_numbers_are_ranked_exactly_where_floats_are_not():
    close = ["0.1", "0.10000000000000000001", "1e-1", "9007199254740993", "9007199254740992"]
    kg = graph_of("r", [*close, "3"])
    values = Values(kg)
    key = {text: int(values.keys[0, 0, kg.entity(text)]) for text in close}
    assert key["0.1"] == key["1e-1"] < key["0.10000000000000000001"]
    assert key["9007199254740992"] < key["9007199254740993"]


@pytest.mark.parametrize(
    ("comparison", "value", "kept"),
    [
        ("<", "1990", {"1989", "1989-12-31"}),
        ("<=", "1990", {"1989", "1989-12-31", "1990", "1990-05", "1990-05-02", "1990-06"}),
        (">", "1990-05", {"1990-06", "1991"}),
        (">=", "1990-05", {"1990-05", "1990-05-02", "1990-06", "1991"}),
        ("=", "1990-05", {"1990-05"}),
        ("in", "1990-05", {"1990-05", "1990-05-02"}),
        ("in", "1990", {"1990", "1990-05", "1990-05-02", "1990-06"}),
        ("!=", "1990-05", {"1989", "1989-12-31", "1990-06", "1991"}),
    ],
)
def test_dates_of_every_precision_compare_as_intervals(comparison, value, kept):
    dates = ["1989", "1989-12-31", "1990", "1990-05", "1990-05-02", "1990-06", "1991"]
    kg = graph_of("when", dates)
    values = Values(kg)
    held = values.window("date", comparison, Value("date", value)).holds(*values.keys[1])
    assert {kg.entity_ids[row] for row in np.flatnonzero(held)} == kept


def test_rdf_literals_say_what_they_are(tmp_path):
    path = tmp_path / "facts.ttl"
    path.write_text(
        """@prefix : <http://e/> . @prefix x: <http://www.w3.org/2001/XMLSchema#> .
        :a :born "1941-05-02"^^x:date ; :size 12.50 ; :alive true ; :motto "Hej"@sv, "1990" .
        :b :born "1941"^^x:gYear ; :size "125e-1"^^x:double ; :alive "0"^^x:boolean ; :code "7" .
        """
    )
    kg = read_graph(path)
    values = Values(kg)
    assert values.relation_kinds["born"] == "date"
    assert values.relation_kinds["size"] == "number"
    assert values.relation_kinds["alive"] == "boolean"
    rows = {kg.name(row): row for row in range(kg.num_entities)}
    assert values.keys[0, 0, rows["12.50"]] == values.keys[0, 0, rows["125e-1"]] != NONE
    assert values.keys[1, :, rows["1941"]].tolist() == [19410101, 19411231]
    assert values.keys[2, 0, rows["0"]] == 0
    assert values.text(rows["Hej"]) == ("Hej", "sv")
    held = values.window("text", "=", Value("text", "Hej", language="en")).holds(*values.texts)
    assert not held.any()
    held = values.window("text", "=", Value("text", "Hej")).holds(*values.texts)
    assert np.flatnonzero(held).tolist() == [rows["Hej"]]


@pytest.mark.parametrize(
    ("comparison", "value", "kept"),
    [
        ("<", "16:30", {"6 am", "09:05:30"}),
        ("<=", "4:30 pm", {"6 am", "09:05:30", "16:30"}),
        (">", "9:05 am", {"09:05:30", "16:30", "21 Uhr"}),
        ("=", "06:00", {"6 am"}),
        ("in", "21:00", {"21 Uhr"}),
        ("!=", "16:30", {"6 am", "09:05:30", "21 Uhr", "1990"}),
        ("<", "1991", {"1990"}),
        (">", "1989", {"1990"}),
        (">=", "1991", set()),
    ],
)
def test_times_of_day_compare_with_times_alone(comparison, value, kept):
    kg = KnowledgeGraph.from_triples(
        [("x", "starts", time) for time in ("6 am", "09:05:30", "16:30", "21 Uhr")]
        + [("x", "since", "1990")]
    )
    values = Values(kg)
    assert values.relation_kinds == {"starts": "date", "since": "date"}
    assert values.clocks == {"starts"}
    held = values.window("date", comparison, Value("date", value)).holds(*values.keys[1])
    assert {kg.entity_ids[row] for row in np.flatnonzero(held)} == kept


@pytest.mark.parametrize(
    "text", ["25:00", "24:01", "13 pm", "0 am", "9", "9.50", "2:1", "10:60", "7 h"]
)
def test_what_is_no_time_of_day(text):
    assert as_clock(text) is None


def test_noon_and_midnight_by_halves_of_the_day():
    assert as_clock("12 pm") == as_clock("12:00")
    assert as_clock("12:30 a.m.") == as_clock("00:30")
    assert as_clock("24:00") > as_clock("11:59 pm")
    assert as_clock("25:10:00") > as_clock("23:50:00")
    assert as_clock("25:10") is None


@pytest.mark.parametrize("text", ["1990-00", "1990-13", "1990-02-30", "12", "1990T10", "May 1990"])
def test_what_is_no_date(text):
    assert as_date(text) is None


@pytest.mark.parametrize("text", ["", "km", "1,23", "--3", "1 2", "$3 km", "0x10", "nan", "inf"])
def test_what_is_no_number(text):
    assert as_number(text) is None


def test_numbers_of_another_unit_do_not_compare():
    kg = graph_of("r", ["5 km", "7 km", "300 kg", "3 kg", "1 km"])
    values = Values(kg)
    assert values.units == {"r": ("kg", "km")}
    held = values.window("number", ">", Value("number", "4", "KM"), along="r").holds(
        *values.keys[0]
    )
    assert {kg.entity_ids[row] for row in np.flatnonzero(held)} == {"5 km", "7 km"}
    with pytest.raises(JaxkgError, match="in units 'kg', 'km'"):
        values.window("number", ">", Value("number", "4"), along="r")


def test_numbers_compare_in_units_that_convert():
    kg = KnowledgeGraph.from_triples(
        [
            *(
                ("a", "long", "5 km"),
                ("b", "long", "300 m"),
                ("c", "long", "4000 m"),
                ("d", "long", "20 m"),
            ),
            *(("a", "wide", "9 ft"), ("b", "wide", "7 ft"), ("a", "full", "2.5 kg")),
        ]
    )
    sets = QuerySets(kg)
    assert sets.values.units == {"long": ("m",), "wide": ("m",), "full": ("kg",)}
    everything = Domain(("long",))
    longest = sets.execute(Extreme(everything, ("long",), largest=True))
    assert [kg.entity_ids[row] for row in longest.rows.tolist()] == ["a"]
    for comparison, text, unit, meant in (
        (">", "3.9", "km", {"a", "c"}),
        ("=", "4", "km", {"c"}),
        ("<", "40000", "cm", {"b", "d"}),
        ("<=", "300", "m", {"b", "d"}),
    ):
        query = Where(everything, ("long",), comparison, Value("number", text, unit))
        found = sets.execute(query).rows.tolist()
        assert {kg.entity_ids[row] for row in found} == meant, (comparison, text)
    # Feet and metres, across two relations.
    beyond = sets.execute(Match(everything, ("long",), ">", ("wide",)))
    assert [kg.entity_ids[row] for row in beyond.rows.tolist()] == ["a", "b"]
    assert sets.execute(Total(everything, ("long",))).words == "9320 m"
    grams = Where(Domain(("full",)), ("full",), ">", Value("number", "2400", "g"))
    assert len(sets.execute(grams).rows) == 1
    with pytest.raises(JaxkgError, match=r"in unit '' does not compare .* in units 'km', 'm'"):
        sets.execute(Where(everything, ("long",), ">", Value("number", "4")))
    with pytest.raises(JaxkgError, match="in unit 'kg' does not compare"):
        sets.execute(Where(everything, ("long",), ">", Value("number", "4", "kg")))


def number_of(values, text):
    return values.number(values.kg.entity(text))


@pytest.mark.parametrize(
    ("tails", "days"),
    [
        (["14.06.1987", "03.04.1990"], {"03.04.1990": 19900403}),
        (["14/06/1987", "3/4/1990"], {"3/4/1990": 19900403}),
        (["06/14/1987", "3/4/1990"], {"3/4/1990": 19900304}),
        (["3/4/1990", "5/6/1991"], {"3/4/1990": 19900403}),
        (
            ["3 March 1987", "1st Sept. 1990"],
            {"3 March 1987": 19870303, "1st Sept. 1990": 19900901},
        ),
        (["March 3, 1987", "Oct 12 1990"], {"March 3, 1987": 19870303, "Oct 12 1990": 19901012}),
        (["3. März 1987", "1990-05-02"], {"3. März 1987": 19870303, "1990-05-02": 19900502}),
        (["3. März 1987", "n/a", "k.A.", "–"], {"3. März 1987": 19870303}),
        (
            ["2024-01-22 11:11:05", "2024-01-23 09:00:00+0000", "2024-01-24 09:00:00.25 UTC"],
            {"2024-01-22 11:11:05": 20240122, "2024-01-24 09:00:00.25 UTC": 20240124},
        ),
        (
            ["22/Jan/24 11:11 AM", "3-FEB-1999", "3-Feb-70"],
            {"22/Jan/24 11:11 AM": 20240122, "3-FEB-1999": 19990203, "3-Feb-70": 19700203},
        ),
        (["1/22/2024 11:11 PM", "2/3/2024 1:05 AM"], {"2/3/2024 1:05 AM": 20240203}),
        (["2024/01/22", "2024.1.23"], {"2024/01/22": 20240122, "2024.1.23": 20240123}),
        (["22.01.24", "03.02.99 12:30"], {"22.01.24": 20240122, "03.02.99 12:30": 19990203}),
        (
            ["Mon, 22 Jan 2024 11:11:05 GMT", "Tuesday, 6 February 2024"],
            {"Mon, 22 Jan 2024 11:11:05 GMT": 20240122, "Tuesday, 6 February 2024": 20240206},
        ),
    ],
)
def test_dates_as_people_write_them(tails, days):
    kg = graph_of("opened", tails)
    values = Values(kg)
    assert values.relation_kinds == {"opened": "date"}
    assert {text: int(values.keys[1, 0, kg.entity(text)]) for text in days} == days


@pytest.mark.parametrize(
    ("tails", "numbers"),
    [
        (["32,50 €", "1.200 €", "7 €"],
         {"32,50 €": ("€", "32.5"), "1.200 €": ("€", "1200"), "7 €": ("€", "7")}),
        (["32.50 €", "1,200.00 €"], {"32.50 €": ("€", "32.5"), "1,200.00 €": ("€", "1200")}),
        (["$1.2M", "$850k"], {"$1.2M": ("$", "1200000"), "$850k": ("$", "850000")}),
        (["1,5 Mio. €", "850k €"], {"1,5 Mio. €": ("€", "1500000"), "850k €": ("€", "850000")}),
        (["CHF 1'200", "CHF 900"], {"CHF 1'200": ("CHF", "1200"), "CHF 900": ("CHF", "900")}),
        (["1.200 m", "2.100 m", "900 m", "1.000 m"],
         {"1.200 m": ("m", "1200"), "900 m": ("m", "900"), "1.000 m": ("m", "1000")}),
        (["1.125", "2.375", "5"], {"1.125": ("", "1.125"), "5": ("", "5")}),
        (["1.234 kg", "2.345 kg"], {"1.234 kg": ("kg", "1.234")}),
        (["1.200", "0.125", "900"], {"1.200": ("", "1.2")}),
        (["1,200", "2,100", "900"], {"1,200": ("", "1200")}),
        (["965,00-", "12,50"], {"965,00-": ("", "-965"), "12,50": ("", "12.5")}),
        (["(1,200.00)", "12.50"], {"(1,200.00)": ("", "-1200")}),
        (["20101", "20102"], {"20101": ("", "20101")}),
        (["12", "7.5", "n/a", "k.A.", "-", "–", "#N/A", "nan", "null"], {"7.5": ("", "7.5")}),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(tails, numbers):
    values = Values(graph_of("worth", tails))
    assert values.relation_kinds == {"worth": "number"}
    for text, (unit, size) in numbers.items():
        assert number_of(values, text) == (unit, Decimal(size))
    assert values.kg.name(values.kg.entity(tails[0])) == tails[0]


@pytest.mark.parametrize(
    "tails",
    [["31/31/1987", "1/2/1990"], ["192.168.1.1", "10.0.0.1"], ["n/a", "-"], ["3 Marsh 1987"],
     ["22/foo/24", "23/bar/24"], ["2010 11:11", "2011 12:00"], ["1.2.24", "1.3.0"],
     ["k.A.", "Ann", "Bob"], ["12,50 €", "12.50 €", "1.200 €"]],
)  # fmt: skip
def test_what_is_no_column_of_values(tails):
    assert Values(graph_of("note", tails)).relation_kinds == {}


@pytest.mark.parametrize(
    ("relation", "kind"),
    [("Max temp (°C)", "number"), ("max_temp_c", "number"), ("Elevation", "number"),
     ("Costs [€]", "number"), ("Founded", "date"), ("Opened (year)", "date"),
     ("came to power", "date")],
)  # fmt: skip
def test_what_is_measured_is_no_year(relation, kind):
    assert Values(graph_of(relation, ["1300", "1350", "1260"])).relation_kinds == {relation: kind}
