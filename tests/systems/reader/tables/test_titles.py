"""Rows that codes call, answered by the column that a question asks for."""

import pytest
from readers import cited, reader_of
from row_facts import table_facts

from jaxkg.cite import check

_LOANS = """
L2021-001,Bronze Head of a Youth,Holmwood Trust,City Gallery,12000,returned
L2021-002,View of the Estuary,R. Pemberton,City Gallery,8500,returned
L2021-003,Delft Tile Panel,Holmwood Trust,Ashby Museum,2300,returned
L2021-004,Silver Porringer,Margaret Soames,Ashby Museum,6400,overdue
L2021-005,Portrait of Anne Lyle,R. Pemberton,Weston Hall,27500,out
L2021-006,Marble Relief,Ada Brook,City Gallery,45000,overdue
"""
_COLUMNS = ("object title", "lender", "borrower", "insured value", "status")


def rows_of(text, columns, kind):
    return reader_of(table_facts(text, *columns, kind=kind, cut=","), threshold=0.0)


@pytest.fixture(scope="module")
def loans():
    return rows_of(_LOANS, _COLUMNS, "loan")


def told(reader, question):
    answer = reader.ask(question)
    assert check(reader.kg, answer) == ()
    return sorted(" ".join((entity.name, *entity.cells)) for entity in answer.entities)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which objects are overdue?", ["Marble Relief", "Silver Porringer"]),
        ("Which object has the highest insured value?", ["Marble Relief"]),
        ("What did Ada Brook lend to City Gallery?", ["L2021-006 Marble Relief"]),
        ("Which loans are overdue?", ["L2021-004 Silver Porringer", "L2021-006 Marble Relief"]),
        ("Which loan has the highest insured value?", ["L2021-006 Marble Relief"]),
        ("Which loan number has the highest insured value?", ["L2021-006"]),
        ("Which object number has the highest insured value?", ["L2021-006"]),
        ("What is the status of Marble Relief?", ["overdue"]),
        ("Does Silver Porringer have more insured value than Delft Tile Panel?", ["yes"]),
        (
            "Which has more insured value, Delft Tile Panel or Silver Porringer?",
            ["Silver Porringer"],
        ),
    ],
)
def test_rows_are_answered_by_what_is_asked_for(loans, question, answers):
    assert told(loans, question) == answers


def test_no_row_is_lost_that_lacks_the_column():
    text = _LOANS.replace("L2021-004,Silver Porringer,", "L2021-004,,")
    reader = rows_of(text, _COLUMNS, "loan")
    assert cited(reader, "Which objects are overdue?") == ["L2021-004", "L2021-006"]


def test_rows_with_names_are_what_is_asked_for():
    named = _LOANS
    for place in range(1, 7):
        named = named.replace(f"L2021-00{place}", f"loan {'abcdef'[place - 1]}")
    reader = rows_of(named, _COLUMNS, "loan")
    assert told(reader, "What is overdue?") == ["loan d", "loan f"]


def test_rows_of_several_classes_have_the_title_that_all_have():
    facts = table_facts(_LOANS, *_COLUMNS, cut=",")
    facts += [(f"L2021-00{n}", "type", "deposit" if n % 2 else "loan") for n in range(1, 7)]
    reader = reader_of(facts, threshold=0.0)
    expected = ["L2021-001 Bronze Head of a Youth", "L2021-002 View of the Estuary"]
    assert told(reader, "What has the borrower City Gallery and is returned?") == expected


def test_a_column_of_codes_or_of_few_values_titles_nothing():
    columns = ("shelf code", "keeper", "condition")
    text = "\n".join(f"B{n}00,S{n}1,{'Ann' if n % 2 else 'Bo'},good" for n in range(1, 7))
    reader = rows_of(text, columns, "box")
    assert told(reader, "What is kept by Bo?") == ["B200", "B400", "B600"]
    assert told(reader, "Which boxes have the keeper Bo?") == ["B200", "B400", "B600"]


_JOBS = """
J-1|12 Mill Lane|roof new slates|roof|ann@works.test|open
J-2|3 Canal Road|drains cleared|drains|bo@works.test|open
J-3|9 Mill Lane|front door hung|doors|cy@works.test|done
J-4|1 High Street|back wall painted|walls|di@works.test|done
J-5|7 High Street|back wall painted|walls|ed@works.test|done
J-6|5 Canal Road|gate mended|doors|flo@works.test|done
"""


def jobs_of(*columns):
    every = ("address", "work text", "work sort", "mail", "state")
    facts = table_facts(_JOBS, *every, kind="job")
    return reader_of([fact for fact in facts if fact[1] in (*columns, "type")], threshold=0.0)


def test_words_title_rows_rather_than_numbers_and_addresses():
    every = jobs_of("mail", "address", "work text", "state")
    assert told(every, "Which jobs are open?") == ["J-1 roof new slates", "J-2 drains cleared"]
    assert told(jobs_of("mail", "state"), "Which jobs are open?") == ["J-1", "J-2"]


def test_a_column_that_many_rows_lack_titles_none():
    facts = [(f"J-{n}", "type", "job") for n in range(6)]
    facts += [(f"J-{n}", "state", "open" if n < 2 else "done") for n in range(6)]
    facts += [
        ("J-0", "remark", "late again"),
        ("J-4", "remark", "key lost"),
        ("J-5", "remark", "x y"),
    ]
    assert told(reader_of(facts, threshold=0.0), "Which jobs are open?") == ["J-0", "J-1"]


def test_a_noun_that_names_a_column_of_rows_with_names_asks_for_it():
    text = (
        "Ann & Bo,Bo Lee,Ann May,Leeds\nCy & Di,Cy Fox,Di Ray,York\nEd & Flo,Ed Oak,Flo Ash,York\n"
    )
    weddings = rows_of(text, ("groom", "bride", "town"), "wedding")
    assert told(weddings, "Which grooms have the town York?") == ["Cy Fox", "Ed Oak"]
    assert told(weddings, "Which weddings have the town York?") == ["Cy & Di", "Ed & Flo"]


def test_who_is_the_person_whose_names_rows_have():
    text = "L1,Ann Lee,Hamnet,out\nL2,Bo Ray,Hamnet,back\nL3,Ann Lee,Circe,out\n"
    loans = rows_of(text, ("full name", "title", "state"), "loan")
    assert told(loans, "Who has Circe?") == ["Ann Lee"]
