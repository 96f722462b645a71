"""References: entries of BibTeX, and lines of tags."""

import pytest
from named_facts import named_facts

from jaxkg.errors import JaxkgError

BIB = r"""Saved by hand.
@comment{ kept }
@string{gp = "Gannet"}
@book{okoye, author = {Okoye, Chidi and {Sea, Salt and Sons} and others}, publisher = gp # " Press",
  title = "{S}alt \& {\"O}l", keywords = {salt; sea}, year = 2015, crossref = {tide}, month = mar}
@article(tide,
  author = {King, Jr., Martin},
  title = {Tides \emph{(and) more}},
)
"""
RIS = """TY  - BOOK
AU  - Okoye, Chidi
AU  - World Herring Board
TI  - Salt
PY  - 2015/03/09/
AB  - Of salt
and of the sea.
ER  -

TY  - CHAP
ID  - c7
T1  - Nets
AU  - Lee, Ann, Jr.
ER  -
"""


def test_entries_of_bibtex(read):
    heard = []
    facts = named_facts(read(BIB, "refs.bib", on_reading=heard.append))
    title = "Salt & Öl"
    assert {(r, t) for h, r, t in facts if h == title} == {
        ("is a", "references"), ("type", "book"),
        ("author", "Chidi Okoye"), ("author", "Sea, Salt and Sons"),
        ("publisher", "Gannet Press"), ("keywords", "salt"), ("keywords", "sea"),
        ("year", "2015"), ("crossref", "Tides (and) more"), ("month", "March"),
    }  # fmt: skip
    assert ("Tides (and) more", "author", "Martin King Jr.") in facts
    assert "'and others' of an author left out" in heard[0]
    assert "1 @comment left out" in heard[0]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("@book{a, title = {B}", "nothing closes it"),
        ("@book{a, title {B}}", "'title {B}' is no field"),
        ("@book{a, title = B} C}", "nothing closes it|no value|no field"),
        ("@book{, title = {B}}", "no key"),
    ],
)
def test_what_is_no_entry_is_told_and_the_next_ones_are_read(read, entry, told):
    text = f"@misc{{m, title = {{M}}}}\n{entry}\n@misc{{n, title = {{N}}, note = x}}\n"
    if told != "nothing closes it|no value|no field":
        with pytest.raises(JaxkgError, match=f":2: {told}"):
            read(text, "refs.bib")
    heard = []
    facts = named_facts(read(text, "refs.bib", skip_bad=1, on_reading=heard.append))
    assert {("M", "type", "misc"), ("N", "note", "x")} <= facts
    assert "macro 'x' means, which is not defined" in heard[0]


def test_records_of_tags(read):
    facts = named_facts(read(RIS, "refs.ris"))
    assert {(r, t) for h, r, t in facts if h == "Salt"} == {
        ("is a", "references"), ("type", "book"),
        ("author", "Chidi Okoye"), ("author", "World Herring Board"),
        ("year", "2015"), ("date", "2015-03-09"), ("abstract", "Of salt and of the sea."),
    }  # fmt: skip
    assert {("Nets", "type", "chapter"), ("Nets", "author", "Ann Lee Jr.")} <= facts
    enw = "%0 Journal Article\n%A Lee, Ann\n%T Nets\n%D 2020\n\n%0 Book\n%T Salt\n"
    facts = named_facts(read(enw, "refs.enw"))
    assert {("Nets", "author", "Ann Lee"), ("Salt", "type", "Book")} <= facts
    nbib = "PMID- 77\nTI  - Nets of\n      the sea\nFAU - Lee, Ann\nJT  - Sea\n\nPMID- 78\n"
    facts = named_facts(read(nbib, "refs.nbib"))
    assert {
        ("Nets of the sea", "author", "Ann Lee"),
        ("Nets of the sea", "journal", "Sea"),
    } <= facts
    with pytest.raises(JaxkgError, match=":1: no record begins so"):
        read("AU  - Lee, Ann\n", "refs.ris", format="tags")


def test_logins_and_addresses_stand_for_the_rows_that_have_them(folder):
    heard = []
    graph = folder({
        "staff.csv": "id,name,email,town\n7,Ann Berg,ann@x.org,Ely\n8,Bo Lund,bo@x.org,Ulm\n",
        "tickets.csv": "ticket,title,assignee,town\nT1,Leak,ann@x.org,Ely\nT2,Rust,bo@x.org,Ulm\n"
        "T3,Dust,ann@x.org,Ely\n",
    }, on_reading=heard.append)  # fmt: skip
    facts = named_facts(graph)
    assert {("Leak", "assignee", "Ann Berg"), ("Rust", "assignee", "Bo Lund")} <= facts
    assert {("Ann Berg", "email", "ann@x.org"), ("Leak", "town", "Ely")} <= facts
    assert "assignee means rows by their email" in heard[0]


def test_addresses_that_two_share_stand_for_neither(folder):
    graph = folder({
        "staff.csv": "id,name,email\n7,Ann,desk@x.org\n8,Bo,desk@x.org\n9,Cy,cy@x.org\n",
        "tickets.csv": "ticket,title,by,days\nT1,Leak,desk@x.org,4\nT2,Rust,cy@x.org,5\n",
    })  # fmt: skip
    assert ("Leak", "by", "desk@x.org") in named_facts(graph)


def test_a_login_that_is_the_address_stays_what_it_is(folder):
    facts = named_facts(folder({
        "staff.csv": "id,name,email,username\n7,Ann,a@x.org,a@x.org\n8,Bo,b@x.org,b@x.org\n",
        "tickets.csv": "ticket,title,email,boss\nT1,Leak,a@x.org,7\nT2,Rust,b@x.org,8\n",
    }))  # fmt: skip
    assert {("Ann", "username", "a@x.org"), ("Bo", "email", "b@x.org")} <= facts


def test_columns_of_addresses_that_are_each_of_one_row_mean_no_other(folder):
    facts = named_facts(folder({
        "staff.csv": "id,name,email,town\n7,Ann,a@x.org,Ely\n8,Bo,b@x.org,Ulm\n",
        "tickets.csv": "ticket,title,assignee_email,days\nT1,Leak,a@x.org,4\nT2,Rust,b@x.org,5\n",
    }))  # fmt: skip
    assert {("Leak", "assignee_email", "a@x.org"), ("Ann", "email", "a@x.org")} <= facts
