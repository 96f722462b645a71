"""Sums and means, and totals of things."""

import pytest
from readers import cited, reader_of
from row_facts import facts_of, table_facts

from jaxkg.cite import check
from jaxkg.query import Count, Domain, Rows, Total
from jaxkg.records import Question
from jaxkg.systems.reader.language.cues import read_cues
from jaxkg.systems.reader.sets.unfit import contradicted
from jaxkg.systems.reader.system import Reader

_ACTS = """
Lantern Kids|River Stage|Friday|18:00|Bergen|Ola Nes|4200
Mud Orchestra|Barn|Friday|20:30|Leeds|Priya Shah|9800
Salt & Vinegar|River Stage|Saturday|19:15|Leeds|Ola Nes|1500
Ines Calder|Tent|Saturday|16:00|Porto|Rob Pike|2100
Night Ferries|Tent|Sunday|17:30|Bergen|Priya Shah|2100
"""
_COLUMNS = ("stage", "day", "starts", "home town", "manager", "fee")


@pytest.fixture(scope="module")
def acts() -> Reader:
    facts = [("Mud Orchestra", "members", "12"), ("Mud Orchestra", "founded", "1994")]
    return reader_of([*facts, *table_facts(_ACTS, *_COLUMNS, kind="act")], threshold=0.0)


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("What is the total fee of all acts?", "19700"),
        ("What is the average fee?", "3940"),
        ("What's the mean fee of acts on the River Stage?", "2850"),
        ("What is the total fee of the acts on Friday?", "14000"),
        ("How much do the acts on Saturday cost altogether?", "3600"),
        ("Sum of the fees of Saturday's acts", "3600"),
        ("What is the average fee of acts in the Tent?", "2100"),  # twice the same is no one number
        ("What is the total fee of Mud Orchestra and Salt & Vinegar?", "11300"),
        ("What is the average fee per act?", "3940"),
        ("What is the fee of Mud Orchestra in total?", "9800"),
    ],
)
def test_numbers_are_added_up(acts, question, meant):
    assert cited(acts, question) == [meant]


@pytest.mark.parametrize(
    "question",
    [
        "What is the average start time?",
        "What is the median fee?",
        "Is the total fee on Friday more than 5000?",
        "How many acts do managers have on average?",
    ],
)
def test_what_cannot_be_added_up_is_offered_at_most(acts, question):
    assert cited(acts, question) == []


@pytest.mark.parametrize(
    ("question", "name", "number"),
    [
        ("Which manager has the highest total fee?", "Priya Shah", "11900"),
        ("Which manager has the lowest average fee?", "Rob Pike", "2100"),
        ("Which stage has the highest total fee?", "Barn", "9800"),
    ],
)
def test_the_first_by_a_sum_is_told_with_it(acts, question, name, number):
    answer = acts.ask(question)
    assert check(acts.kg, answer) == ()
    assert [(entity.name, entity.cells) for entity in answer.entities] == [(name, (number,))]


def test_an_average_per_day_is_told_of_every_day(acts):
    answer = acts.ask("What is the average fee per day?")
    assert check(acts.kg, answer) == ()
    found = {entity.name: entity.cells for entity in answer.entities}
    assert found == {"Friday": ("7000",), "Saturday": ("1800",), "Sunday": ("2100",)}


def test_the_highest_is_not_offered_for_a_total(acts):
    for question in ("What is the average fee per day?", "What is the average fee?"):
        assert all("the first by" not in one.words for one in acts.understand(question).readings)


def test_a_part_that_nothing_is_said_of_is_not_added_up_for_all():
    """Two of three are rented; who asks for all of them does not speak of those."""
    facts = [("A", "rent", "10"), ("B", "rent", "20"), ("C", "rent", "60"), ("A", "rented by", "F")]
    reader = reader_of([*facts, ("B", "rented by", "G")])
    for question, meant in (("What is the average rent?", "30"), ("What is the total rent?", "90")):
        assert cited(reader, question) == [meant]
        over = [one.query for one in reader.look(question).found if isinstance(one.query, Total)]
        assert [q.source for q in over if q.path == ("rent",)].count(Domain(("rented by",))) == 0


def test_a_label_that_says_another_sum_is_added_up():
    facts = [("A", "population total", "10"), ("B", "population total", "20")]
    assert cited(reader_of(facts), "What is the average population total?") == ["15"]


def test_what_a_label_says_itself_is_not_added_up():
    facts = [("Bill 1", "total", "12"), ("Bill 2", "total", "30"), ("Bill 1", "average price", "4")]
    facts += [("Bill 2", "average price", "6"), ("Bill 1", "of", "Ann"), ("Bill 2", "of", "Ann")]
    reader = reader_of(facts)
    for question in ("What is the total of Bill 1?", "What is the average price of Bill 1?"):
        asked = reader.readings.asked(question)
        assert (asked.cues.adds, asked.cues.extreme) == ("", None)
        assert not any(isinstance(one.query, Total) for one in reader.look(question).found)


def test_a_sum_that_a_column_has_of_each_is_added_up_over_several():
    facts = [("Bill 1", "total", "12"), ("Bill 2", "total", "30"), ("Bill 3", "total", "5")]
    facts += [("Bill 1", "of", "Ann"), ("Bill 2", "of", "Ann"), ("Bill 3", "of", "Bo")]
    reader = reader_of(facts)
    several = reader.understand("What is the total of the bills of Ann?").readings
    assert ("42",) in [one.answers for one in several]
    assert cited(reader, "What is the total of Bill 1?") == ["12"]


@pytest.mark.parametrize("id", ["_:work_", "work "])
def test_how_many_hours_rows_have(id):
    rows = [("Atlas", "60", "7"), ("Atlas", "45", "8"), ("Pine", "9", "9")]
    facts = facts_of(rows, "project", "hours", "week", head=id)
    reader = reader_of(facts)
    found = reader.understand("How many hours were spent on Atlas?").readings
    assert ["105"] in [sorted(one.answers) for one in found]
    weeks = reader.understand("Which weeks have hours on Atlas?").readings
    assert not any(isinstance(one.candidate.query, Total) for one in weeks)


def test_ratings_are_counted_and_not_added_up():
    rows = [("Gulls", "4"), ("Gulls", "5"), ("Tides", "3")]
    facts = facts_of(rows, "film", "rating")
    reader = reader_of(facts)
    found = [one.answers for one in reader.understand("How many ratings does Gulls have?").readings]
    assert ("2",) in found
    assert ("9",) not in found
    assert ("4", "5") not in found
    plain = [one.answers for one in reader.understand("What ratings does Gulls have?").readings]
    assert ("4", "5") in plain


@pytest.mark.parametrize(
    ("question", "meant", "by"),
    [
        ("Which chemist has the highest average yield?", "Ann", "mean"),
        ("Which chemist has the lowest average yield?", "Bo", "mean"),
        ("Which chemist has the highest total yield?", "Bo", "sum"),
        ("Which chemist has the highest yield?", "Bo", ""),
    ],
)
def test_the_first_by_the_mean_of_what_each_has(question, meant, by):
    rows = [("Ann", "80"), ("Ann", "70"), ("Bo", "90"), ("Bo", "50"), ("Bo", "60"), ("Cy", "72")]
    facts = facts_of(rows, "chemist", "yield", head="S")
    reader = reader_of(facts, threshold=0.0)
    best = reader.understand(question).readings[0]
    query = best.candidate.query
    assert best.answers == (meant,)
    assert isinstance(query, Rows) == bool(by)
    assert not by or (isinstance(query, Rows) and query.columns[0].by == by)


def test_words_that_ask_for_a_sum_or_a_mean():
    assert read_cues("What is the mean age?").adds == "mean"
    assert read_cues("What does it mean?").adds == ""
    assert read_cues("Wie hoch ist der durchschnittliche Preis?").adds == "mean"
    total = read_cues("How many cows are there altogether?")
    assert (total.adds, total.adds_up, total.extreme) == ("sum", False, None)
    assert read_cues("How many cows are there on average?").adds_up
    for text in ("Who has the highest total?", "Who has overall the highest fee?"):
        highest = read_cues(text).extreme
        assert highest.adds == ""
    named = read_cues("What is the price of Total Recall?", frozenset([5]))
    assert (named.adds, named.extreme) == ("", None)


def test_a_correction_may_choose_a_total(acts, tmp_path, monkeypatch):
    monkeypatch.setenv("JAXKG_CACHE", str(tmp_path))
    kept = acts.corrections
    acts.correct(Question("q", "What is the average fee?"), 0)
    assert isinstance(acts.corrections[-1].query, Total)
    assert cited(acts, "What is the average fee?") == ["3940"]
    acts.corrections = kept


def test_an_amount_in_a_unit_is_the_sum_of_the_column_in_it():
    rows = [("F1", "12.5", "0.8"), ("F1", "2", "1.1"), ("F2", "9", "0.9")]
    facts = facts_of(rows, "shelf", "Stock [L]", "density", head="Solvent ")
    reader = reader_of(facts)
    assert reader.understand("How many litres are on F1?").readings[0].answers == ("14.5",)
    assert not reader.understand("How many tonnes are on F1?").sure


_SALES = """
Sale 0|Ely|Rook|12.5|2024-03-01|A-1
Sale 1|Ely|Gull|7.25|2024-03-02|A-2
Sale 2|Ulm|Rook|3.75|2024-03-09|A-3
"""


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When was the batch of Sale 1?", "batch"),
        ("Which sellers have the weight of Sale 1?", "weight"),
        ("How many sellers of Sale 1 are there?", "weight"),
    ],
)
def test_what_is_of_another_kind_than_is_asked_for_is_not_answered(question, kind):
    reader = reader_of(table_facts(_SALES, "shop", "item", "weight", "sold on", "batch"))
    asked = reader.readings.asked(question)
    code = reader.kg.relation_code(kind)
    seen = reader.look(question)
    best = next(one for one in seen.found if one.relations == (code,))
    assert contradicted(asked, best, reader.readings.find)
    plain = reader.readings.asked(f"What is the {kind} of Sale 1?")
    assert not contradicted(plain, best, reader.readings.find)


_SHOWINGS = """
0|Salt Roads|Mint|388
1|Salt Roads|Tide|112
2|Glass Mother|Mint|250
"""


def test_amounts_of_several_rows_are_added_up_where_it_is_asked_how_many():
    reader = reader_of(table_facts(_SHOWINGS, "film", "venue", "sold"), threshold=0.0)
    assert cited(reader, "How many tickets were sold for Salt Roads?") == ["500"]
    assert cited(reader, "How much was sold for Salt Roads?") == ["500"]
    assert cited(reader, "How much was sold for Glass Mother?") == ["250"]


def test_rows_are_not_counted_for_what_nothing_speaks_of():
    rows = [("mice", "Lotus"), ("flies", "Lotus"), ("dirt", "Lotus"), ("mice", "Owl")]
    reader = reader_of(facts_of(rows, "violation", "café"))
    find = reader.readings.find
    for question, denied in (
        ("How many seats does Lotus have?", True),
        ("How many violations does Lotus have?", False),
    ):
        asked = reader.readings.asked(question)
        counts = (one for one in reader.look(question).found if isinstance(one.query, Count))
        best = next(one for one in counts if len(one.ends) == 3)
        assert contradicted(asked, best, find) == denied
