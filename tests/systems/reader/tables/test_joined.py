"""Tables joined by rows that have no name of their own: orders, and who played what in a play."""

import pytest
from readers import answers_of, tables_read

from jaxkg.systems.reader.language.cues import read_cues
from jaxkg.systems.reader.reading import Readings

FILES = {
    "customers.csv": "id,name,town\n1,Oak Farm,Leeds\n2,Elm Kennels,York\n",
    "products.csv": "id,name,price,discontinued,height (m),length (km),pack\n"
    "1,Brush,4,0,2,3,1\n2,Collar,9,1,4,1,1\n3,Drops,7,0,1,2,1\n",
    "orders.csv": "id,customer_id,product_id,ordered,quantity\n1,1,1,2021-03-04,2\n"
    "2,1,2,2023-05-06,1\n3,2,3,2023-07-08,3\n4,2,1,2020-01-01,4\n",
    "members.csv": "member,job,department\nAnn,vet,People\nBo,cook,Finance\nCy,vet,Finance\n"
    "Di,cook,Sales\n",
    "cast.csv": "play,member,role,lines\nLear,Ann,Regan,90\nLear,Bo,Fool,40\nEmma,Ann,Emma,40\n"
    "Emma,Cy,Weston,7\nHamlet,Cy,Ghost,50\n",
}


@pytest.fixture(scope="module")
def joined(tmp_path_factory) -> Readings:
    return tables_read(tmp_path_factory.mktemp("tables"), FILES)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What role did Ann play in Lear?", {"Regan"}),
        ("How many lines did Ann have in Lear?", {"90"}),
        ("What did Oak Farm order?", {"Brush", "Collar"}),
        ("What did Elm Kennels order in 2023?", {"Drops"}),
        ("Which roles have more than 45 lines?", {"Regan", "Ghost"}),
        ("Who is in the Finance or the People department?", {"Ann", "Bo", "Cy"}),
        ("What did Elm Kennels order last?", {"Drops"}),
        ("Which orders did Elm Kennels place in 2023?", {"order 3"}),
    ],
)
def test_a_row_leads_to_what_it_joins(joined, question, wanted):
    assert wanted in answers_of(joined, question)


@pytest.mark.parametrize(
    "question",
    ["What role did Ann play in Lear?", "Which roles have more than 45 lines?"],
)  # fmt: skip
def test_rows_answer_nothing_that_does_not_name_them(joined, question):
    told = frozenset().union(*answers_of(joined, question))
    assert told
    assert not [name for name in told if name.startswith(("order ", "_:"))]
    through = [c for c in joined.of(joined.asked(question)) if c.shape == "path" and c.through]
    assert through or "lines" in question or "Lear" in question
    counts = joined.of(joined.asked("How many orders has Elm Kennels placed?"))
    assert "2" in {c.result for c in counts}


def test_one_and_nought_are_true_and_false(joined):
    (code,) = [joined.kg.relation_code(n) for n in joined.kg.relations if n == "discontinued"]
    true, false = joined.vocabulary.truths(code)
    assert (joined.kg.name(true), joined.kg.name(false)) == ("1", "0")
    assert joined.vocabulary.truths(joined.kg.relation_code("quantity")) is None
    assert joined.vocabulary.truths(joined.kg.relation_code("pack")) is None
    assert {"Collar"} in answers_of(joined, "Which products are discontinued?")


def test_true_and_false_are_yes_and_no_in_any_words(joined):
    for product, result in (("Collar", "yes"), ("Brush", "no")):
        found = joined.of(joined.asked(f"Can I still buy the {product}?"))
        told = [c for c in found if c.shape == "yesno" and joined.vocabulary.truths(c.last)]
        assert {c.result for c in told} == {result}
    found = joined.of(joined.asked("Isn't the Collar sold?"))
    assert not any(joined.vocabulary.truths(c.last) for c in found if c.shape == "yesno")


@pytest.mark.parametrize(
    ("question", "extreme"),
    [("Who joined last in 2021?", True), ("Who joined before 2021?", False),
     ("Who joined first, Ann or Bo?", False), ("Which are larger than 20?", False)],
)  # fmt: skip
def test_the_last_in_a_year_is_the_last_of_all_of_it(question, extreme):
    cues = read_cues(question)
    assert (cues.extreme is not None) == extreme
    assert (cues.bounds != ()) == any(letter.isdigit() for letter in question)
