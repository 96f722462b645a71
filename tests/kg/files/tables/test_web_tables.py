"""Tables as pages of the web have them: counted rows, odd headers, headers that come again."""

import pytest
from named_facts import named_facts

from jaxkg.errors import JaxkgError


def test_the_first_column_may_be_a_hash(read):
    text = '"#","Film","Gross"\n"1","Ink and Ash","1.65"\n"2","The Long List","1.48"\n'
    facts = named_facts(read(text, "films.csv"))
    assert {("Ink and Ash", "Gross", "1.65"), ("The Long List", "#", "2")} <= facts


def test_what_is_counted_is_called_by_its_name(read):
    rows = "1,Anna Holm,Norway,9.1\n,Bea Rossi,Italy,9.4\n3=,Cleo,Italy,9.9\n"
    facts = named_facts(read(f"Rank,Athlete,Nation,Time\n{rows}", "final.csv"))
    assert {
        ("Anna Holm", "Rank", "1"),
        ("Bea Rossi", "Time", "9.4"),
        ("Cleo", "Rank", "3="),
    } <= facts


@pytest.mark.parametrize(
    ("header", "rows", "fact"),
    [
        ("Cup,2004,2005,Won", ["Ely Open,A,1R,1", "Ulm Open,2R,F,3"], ("Ulm Open", "Won", "3")),
        ("Team,1,2,3,Total", ["Ayr,4,0,2,6", "Pau,1,1,0,2"], ("Ayr", "Total", "6")),
        ("Date,Date,,Goals", ["May 1,Mon,a,3", "May 2,Tue,b,3"], ("May 2", "Date 2", "Tue")),
        ("Year,Film,Role,Year", ["1985,Lear,Ann,x", "1991,Year,Role,y"], ("1985", "Film", "Lear")),
        ("Site,Type,Made,Note", ["Hill,Mill,1901,", "Site,Type,Made,Note", "Quay,Dam,1911,"],
         ("Quay", "Type", "Dam")),
    ],
)  # fmt: skip
def test_columns_are_named_by_the_first_line(read, header, rows, fact):
    facts = named_facts(read("\n".join([header, *rows]) + "\n", "t.csv"))
    assert fact in facts
    assert "Site" not in {head for head, _, _ in facts}


def test_rows_of_many_columns_that_nothing_names_are_refused(read):
    with pytest.raises(JaxkgError, match="6 columns without a header"):
        read("1985,Lear,Ann,7,2,3\n1991,Hamlet,Bo,8,1,4\n", "t.csv")


def test_quotes_within_quotes_may_be_escaped(read):
    text = r""""Player","Height","Town","Age"
"Jo Wills","6'6\"","Carson, CA","18"
"Al \"Bud\" Roe","5'9\"","Ely","19"
"""
    facts = named_facts(read(text, "players.csv"))
    assert {("Jo Wills", "Height", "6'6\""), ('Al "Bud" Roe', "Town", "Ely")} <= facts


def test_a_header_may_come_again_far_below(read):
    rows = [f"Mill {n},Ely,{1800 + n % 200},x{n}" for n in range(3_000)]
    heard = []
    text = "\n".join(["Site,Town,Made,Note", *rows, "Site,Town,Made,Note"])
    facts = named_facts(read(text, "mills.csv", on_reading=heard.append))
    assert "Site" not in {head for head, _, _ in facts}
    assert "1 headers that come again left out" in heard[0]
