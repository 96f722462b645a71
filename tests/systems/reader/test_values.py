"""Values: sums whose addends are no answer, ages, money, what is said to be true or false."""

import pytest
from readers import cited, names_of, reader_of, readings_of
from row_facts import table_facts

from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.language.cues import read_cues
from jaxkg.systems.reader.language.lexicon.units import measures
from jaxkg.systems.reader.language.names import spelt_out
from jaxkg.systems.reader.language.vocabulary import Vocabulary
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.sets.candidate import Candidate
from jaxkg.systems.reader.sets.unfit import contradicted
from jaxkg.systems.reader.views import NAMES, views

FARM = [
    ("Bessie", "type", "cow"), ("Clover", "type", "cow"), ("Daisy", "type", "cow"),
    ("Tom", "type", "worker"), ("Ines", "type", "worker"), ("Raj", "type", "worker"),
    ("Old Red", "type", "tractor"), ("Blue Giant", "type", "tractor"), ("Rusty", "type", "tractor"),
    ("Bessie", "milk yield", "22.5"), ("Clover", "milk yield", "18"), ("Daisy", "milk yield", "30"),
    ("Bessie", "vaccinated", "true"), ("Clover", "vaccinated", "false"),
    ("Daisy", "vaccinated", "false"), ("Bessie", "keeper", "Tom"), ("Clover", "keeper", "Ines"),
    ("Daisy", "keeper", "Tom"), ("Bessie", "stall", "West"), ("Clover", "stall", "West"),
    ("Daisy", "stall", "East"), ("Tom", "drives", "Old Red"), ("Ines", "drives", "Blue Giant"),
    ("Old Red", "bill", "700"), ("Blue Giant", "bill", "250"), ("Old Red", "max kg", "900"),
    ("Blue Giant", "max kg", "3000"), ("Tom", "born on", "1984-03-02"), ("Tom", "wage", "31500"),
    ("Tom", "age", "40"),
]  # fmt: skip


@pytest.fixture(scope="module")
def farm() -> Readings:
    return readings_of(FARM)


def told(readings: Readings, question: str) -> list[tuple[Candidate, set[str]]]:
    """Readings with what they answer."""
    found = readings.of(readings.asked(question))
    return [(one, names_of(readings.kg, one)) for one in found]


def test_addends_are_no_sum_but_a_label_may_say_it(farm):
    asked = farm.asked("What is the total milk yield of the cows?")
    several = [c for c in farm.of(asked) if c.last >= 0 and len(c.ends) > 1 and not c.result]
    values = [c for c in several if farm.vocabulary.ends_kind(c.last) == "number"]
    assert values
    assert all(contradicted(asked, c, farm.find) for c in values)
    alone = [c for c in farm.of(asked) if len(c.ends) == 1 and c.shape != "extreme"]
    assert not any(contradicted(asked, c, farm.find) for c in alone)
    plain = farm.asked("What is the milk yield of the cows?")
    assert not any(contradicted(plain, c, farm.find) for c in farm.of(plain) if c.last >= 0)
    assert not read_cues("How many cows are there altogether?").adds_up
    facts = [("Shop", "Total sales", "3"), ("Shop", "Total sales", "5")]
    shop = readings_of(facts)
    asked = shop.asked("What are the total sales of Shop?")
    assert not any(contradicted(asked, c, shop.find) for c in shop.of(asked))


def test_how_old_is_told_by_a_date_or_an_age_alone(farm):
    asked = farm.asked("How old is Tom?")
    found = farm.of(asked)
    wants = views(asked, found, farm.find)[:, NAMES.index("wants number")]
    of = {
        farm.kg.relation_name(c.last): w
        for c, w in zip(found, wants.tolist())
        if len(c.relations) == 1
    }
    assert (of["born on"], of["age"], of["wage"]) == (1.0, 1.0, -1.0)


def test_true_and_false_of_what_two_topics_share(farm):
    found = told(farm, "Has the cow of Tom in the stall West been vaccinated?")
    both = [(c, some) for c, some in found if len(c.topics) == 2 and c.fit > 0]
    assert ({"yes"}) in [some for c, some in both if c.shape == "yesno"]
    found = told(farm, "Has the cow of Ines in the stall West been vaccinated?")
    sure = [some for c, some in found if c.result and len(c.topics) == 2 and c.last >= 0]
    # Not "yes" because it is said at all that it was not.
    truths = [farm.vocabulary.truths(c.last) for c, some in found if c.result == "yes"]
    assert sure
    assert all(told is None for told in truths)


def test_money_is_not_compared_with_a_weight(farm):
    for question in ("What came to over 600 quid?", "What came to more than £600?"):
        fits = {
            farm.kg.relation_name(c.measure): c.fit
            for c, _ in told(farm, question)
            if c.shape == "filter" and c.measure >= 0
        }
        assert fits["bill"] > 2 * fits["max kg"], question
    assert measures("€", ("monthly fee",))
    assert not measures("€", ("weight",))


@pytest.mark.parametrize(
    ("question", "counts"),
    [
        ("For the board: number of cows?", True), ("number of cows", True),
        ("the inventory number of Bessie", False), ("How many are there?", True),
    ],
)  # fmt: skip
def test_a_number_of_things_is_counted(question, counts):
    assert read_cues(question).count is counts


def test_clipped_labels_are_spelt_out_beside_themselves():
    assert spelt_out("cust dob") == "customer date of birth"
    assert spelt_out("directed by") == "directed by"
    kg = KnowledgeGraph.from_triples([("Ada", "dob", "1815-12-10"), ("Ada", "emp no", "7")])
    words = {r.wordings for r in Vocabulary(kg).relations}
    assert words == {("dob", "date of birth"), ("emp no", "employee number")}


def test_next_to_holds_both_ways():
    readings = readings_of([("North", "next to", "River"), ("River", "next to", "Hill")])
    assert {"North", "Hill"} in [some for _, some in told(readings, "What is next to River?")]


_GYM = [
    *table_facts("Ana|Piet|3|59.00\nBen|Lena|2|39.00\nDev||3|39.00",
                 "trainer", "weekly visits", "monthly fee", kind="member"),
    *table_facts("visit 1|Ana\nvisit 2|Dev", "of", kind="visit"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("Which members have no trainer?", {"Dev"}),
        ("Who has no trainer?", {"Dev"}),
        ("members without a trainer", {"Dev"}),
        ("Which members have a trainer?", {"Ana", "Ben"}),
        ("Which members have no visit?", {"Ben"}),
        ("Which members have 3 weekly visits?", {"Ana", "Dev"}),
        ("Which members have two weekly visits?", {"Ben"}),
        ("Who pays 59 a month?", {"Ana"}),
    ],
)
def test_what_lacks_a_relation_and_numbers_that_stand_alone(question, meant):
    assert set(cited(reader_of(_GYM, threshold=0.0), question)) == meant


def test_numbers_that_grade_or_name_are_no_values():
    readings = readings_of(_GYM)
    none = ("Which members pay 40?", "Who came 3 times?", "Who has the 3 fewest weekly visits?")
    none += ("Who pays 39,000 a month?", "Who pays 000 a month?")
    for question in none:
        assert readings.asked(question).cues.bounds == (), question


def test_a_number_beside_values_in_several_units_is_none_of_them():
    cells = ("0.3 mg", "0.15 mg", "50 mcg", "10 mg", "1 %", "5 mg", "5 mg", "2.5 %", "100 mcg")
    readings = readings_of([(f"RX-{n}", "strength", c) for n, c in enumerate(cells)])
    assert readings.vocabulary.relations[0].tails == "number"
    assert readings.asked("Which drug has the strength 5508?").cues.bounds == ()


def test_what_is_false_is_denied_though_another_label_has_the_word():
    facts = table_facts(
        "web|true|10\nmail|false|1\nsync|false|5", "autostart", "start secs", kind="program"
    )
    readings = readings_of(facts)
    asked = readings.asked("Which programs are not started?")
    sets = [c for c in readings.of(asked) if c.shape == "filter"]
    false = [c for c in sets if {readings.kg.name(end) for end in c.ends} == {"mail", "sync"}]
    assert false
    assert not any(contradicted(asked, c, readings.find) for c in false)


def test_a_set_is_not_answered_without_the_trainer_that_is_denied():
    readings = readings_of(_GYM)
    kg = readings.kg
    asked = readings.asked("Which members have no trainer and pay less than 50?")
    found = readings.of(asked)
    less = [c for c in found if c.shape == "filter" and {kg.name(e) for e in c.ends} == {"Ben"}]
    none = [c for c in found if c.shape == "filter" and c.measure == kg.relation_code("trainer")]
    assert less
    assert none
    assert all(contradicted(asked, c, readings.find) for c in less)
    assert {kg.name(end) for c in none for end in c.ends} == {"Dev"}
    whole = [c for c in none if 9 in c.explained]
    assert whole
    assert not any(contradicted(asked, c, readings.find) for c in whole)
    assert all(contradicted(asked, c, readings.find) for c in none if 9 not in c.explained)
    said = readings.asked("Which members have a trainer and pay less than 50?")
    assert not any(contradicted(said, c, readings.find) for c in less)
