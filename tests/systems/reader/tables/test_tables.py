"""Questions whose answers are tables: several columns, numbers per group, places of an order."""

import pytest
from readers import reader_of
from row_facts import table_facts

from jaxkg.cite import check
from jaxkg.systems.reader.system import Reader

_VENUES = """
Coldbrook|Leeds|1998|Ann Moss
Harbour Grill|Hull|2005|Bo Lind
Sea Salt|Leeds|2011|Cy Park
Pine Hut|York|2003|Di Ross
"""
_DISHES = """
Soup|Coldbrook|starter|4.5|210
Toast|Coldbrook|starter|3.5|180
Cake|Coldbrook|dessert|5|320
Cod|Harbour Grill|main|16|480
Steak|Harbour Grill|main|22|700
Crumble|Harbour Grill|dessert|7|420
Mussels|Sea Salt|main|14|390
Oysters|Sea Salt|starter|12|150
Nuts|Pine Hut|starter|3|250
"""


@pytest.fixture(scope="module")
def menu() -> Reader:
    facts = []
    for line in _VENUES.strip().splitlines():
        name, city, year, owner = line.split("|")
        facts += [(name, "type", "venue"), (name, "city", city), (name, "founded", year)]
        facts += [(name, "owner", owner), (owner, "type", "person"), (owner, "phone", "+44" + year)]
        facts += [(owner, "email", f"{owner.split()[0].lower()}@example.org")]
    columns = ("served at", "course", "price", "calories")
    return reader_of([*facts, *table_facts(_DISHES, *columns, kind="dish")], threshold=0.0)


def rows(reader: Reader, question: str) -> dict[str, tuple[str, ...]]:
    """Cells of the best reading by what each row is of; checked and cited."""
    (best, *_) = reader.understand(question).readings
    answer = reader.ask(question)
    assert check(reader.kg, answer) == ()
    assert answer.abstained or answer.reading == best.words
    return {entity.name: entity.cells for entity in answer.entities}


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        (
            "How many venues are there per founded year?",
            dict.fromkeys(("1998", "2003", "2005", "2011"), ("1",)),
        ),
        (
            "List each venue with its city and owner.",
            {"Coldbrook": ("Leeds", "Ann Moss"), "Pine Hut": ("York", "Di Ross")},
        ),
        ("Give me the price and calories of every dish.", {"Cod": ("16", "480")}),
        ("List all venues with their owner.", {"Sea Salt": ("Cy Park",)}),
        (
            "I need a contact list: phone and email of each person.",
            {"Bo Lind": ("+442005", "bo@example.org")},
        ),
        (
            "How many dishes are served at each venue?",
            {"Coldbrook": ("3",), "Harbour Grill": ("3",), "Sea Salt": ("2",), "Pine Hut": ("1",)},
        ),
        ("Per course, how many dishes are there?", {"starter": ("4",), "dessert": ("2",)}),
        ("What is the average price of the dishes per venue?", {"Harbour Grill": ("15",)}),
        (
            "What are the cheapest and the dearest price per venue?",
            {"Coldbrook": ("3.5", "5"), "Sea Salt": ("12", "14")},
        ),
    ],
)
def test_a_table_tells_of_each_what_is_asked(menu, question, meant):
    found = rows(menu, question)
    assert meant.items() <= found.items(), found


def test_the_cheapest_of_each_group_has_a_row_for_every_group(menu):
    found = rows(menu, "What is the cheapest dish of each venue?")
    assert found == {
        "Toast": ("Coldbrook", "3.5"),
        "Crumble": ("Harbour Grill", "7"),
        "Oysters": ("Sea Salt", "12"),
        "Nuts": ("Pine Hut", "3"),
    }


def test_places_of_an_order_are_told_from_the_first_to_the_last(menu):
    found = rows(menu, "What are the 2nd to 4th most expensive dishes?")
    assert list(found.items()) == [("Cod", ("16",)), ("Mussels", ("14",)), ("Oysters", ("12",))]


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("What is the price of Cod?", {"16"}),
        ("How many dishes are there?", {"9"}),
        ("What is the average price per dish?", {"9.667"}),
        ("Which dish has the most calories?", {"Steak"}),
    ],
)
def test_a_single_value_is_no_table(menu, question, meant):
    answer = menu.ask(question)
    assert {entity.name for entity in answer.entities} == meant
    assert answer.columns == ()
