"""Tables as they come: ragged rows, lone carriage returns, NULL, arrays, reports."""

import pytest
from named_facts import named_facts

from jaxkg.errors import JaxkgError

ROWS = (
    "supplierID,companyName,city,phone\n1,Exotic,London,555\n2,Pavlova, Ltd.,Melbourne,444\n"
    "3,Tokyo Traders,Tokyo\n4,Lka,Ljubljana,1,2\n"
)


def test_rows_that_a_blank_joins_are_read_and_others_counted(read):
    heard = []
    facts = named_facts(read(ROWS, "suppliers.csv", on_reading=heard.append))
    assert ("Pavlova, Ltd.", "city", "Melbourne") in facts
    assert not {fact for fact in facts if fact[0] in ("Tokyo Traders", "Lka")}
    assert "1 rows with cells that a blank after the separator joins" in heard[0]
    assert "2 rows with more or fewer cells than columns left out" in heard[0]
    with pytest.raises(JaxkgError, match=r"suppliers.csv:3: 5 cells for 4 columns"):
        read(ROWS, "suppliers.csv", strict=True)


def test_a_table_of_which_most_is_ragged_is_refused(read):
    rows = "id,name,city\n1,Ann,Ely\n" + "2,Bo\n3,Cy,Ulm,x\n" * 3
    with pytest.raises(JaxkgError, match="most rows have more or fewer cells"):
        read(rows, "kb.csv")


def test_last_cells_may_be_missing_between_tabs(read):
    rows = "id\tname\tcity\ttaxon\n1\tAnn\tEly\tx\n2\tBo\tUlm\n"
    assert ("Bo", "city", "Ulm") in named_facts(read(rows, "people.tsv"))


def test_lines_may_end_in_carriage_returns_alone(read):
    assert ("Bo", "city", "Ulm") in named_facts(
        read("id,name,city\r1,Ann,Ely\r2,Bo,Ulm\r", "people.csv")
    )


def test_null_says_nothing_and_arrays_are_their_parts(read):
    rows = (
        'id,name,city,tags,boats\n1,Ann,NULL,"[""a"", ""b""]",{gull}\n2,Bo,\\N,[],"{gull,tern}"\n'
    )
    facts = {f for f in named_facts(read(rows, "kb.csv")) if f[1] != "is a"}
    assert facts == {
        ("Ann", "tags", "a"), ("Ann", "tags", "b"), ("Ann", "boats", "{gull}"),
        ("Bo", "boats", "gull"), ("Bo", "boats", "tern"),
    }  # fmt: skip


def test_movies_are_each_a_movie(read):
    rows = "id,year\n0,1999\n1,2003\n"
    graph = read(rows, "movies.csv")
    assert "movie 0" in graph.entity_ids


def test_names_are_shown_for_codes(read):
    rows = "customerID,companyName,city,fax\nBOLID,Comidas,Madrid,1\nFAMIA,Familia,Bonn,2\n"
    assert ("Comidas", "city", "Madrid") in named_facts(read(rows, "customers.csv"))


REPORT = """,,,,
"Power, 2023",,,,
Kind,Plant,Place,Power,Made
,,,MW,GWh
Water,Hub,Ely,210,845
,Pier,Ayr,96,412
Water in all,,,306,1257
Wind,Mill,Ely,75,228
,Vane,Ulm,142,455
Wind in all,,,217,683
All,,,523,1940
,,,,
* Without repairs.,,,,
"""


def test_a_report_is_the_table_in_it(read):
    heard = []
    graph = read(REPORT, "power 2023.csv", on_reading=heard.append)
    facts = named_facts(graph)
    assert facts >= {
        ("Pier", "Kind", "Water"), ("Vane", "Kind", "Wind"), ("Hub", "Power (MW)", "210"),
        ("Mill", "Made (GWh)", "228"), ("Vane", "is a", "plant"),
    }  # fmt: skip
    assert {head for head, _, _ in facts} == {"Hub", "Pier", "Mill", "Vane"}
    assert "1 lines above the columns left out; 1 notes below a table left out" in heard[0]
    assert "3 rows of totals left out" in heard[0]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        # A row without a text is no sum of those above it alone.
        ("name,note,size,cost\nAnn,x,1,5\nBo,,1,5\nCy,y,2,3\nDi,z,4,4\n", ("Bo", "size", "1")),
        ("name,city,size\nAnn,Ely,3\n\nBo,Ayr,4\n", ("Bo", "city", "Ayr")),
    ],
)
def test_rows_that_only_look_like_a_report_stay(read, text, fact):
    assert fact in named_facts(read(text, "rows.csv", format="table"))


def test_a_blank_id_is_told_and_filled_with_no_other(read):
    text = "id,name,city\n1,Ann,Ely\n,Bo,Ulm\n3,Cy,Ayr\n,Di,Ely\n"
    with pytest.raises(JaxkgError, match="no id"):
        read(text, "rows.csv", strict=True)
    heard = []
    graph = read(text, "rows.csv", on_reading=heard.append)
    assert "2 rows have no id" in heard[0]
    (bo,) = (row for row in graph.entity_ids if graph.name(graph.entity(row)) == "Bo")
    assert bo.startswith("_:")
    assert ("Bo", "city", "Ulm") in named_facts(graph)


def test_rows_have_their_names_where_the_first_column_comes_again_or_is_blank(read):
    text = "folder,kind,name,site\nSea,login,Mail,a.org\nSea,login,Bank,b.org\n,note,Boiler,\n"
    facts = named_facts(read(text, "export.csv"))
    assert {
        ("Mail", "folder", "Sea"),
        ("Bank", "site", "b.org"),
        ("Boiler", "kind", "note"),
    } <= facts
    # A blank one calls nothing in a table whose rows have no name.
    visits = (
        "who,where,by,when\nAnn,Ely,car,2020\nAnn,Ayr,car,2021\nAnn,Ulm,bus,2021\n,Pau,bus,2022\n"
    )
    facts = named_facts(read(visits, "visits.csv"))
    (row,) = (head for head, relation, tail in facts if (relation, tail) == ("where", "Pau"))
    assert (row, "when", "2022") in facts
    assert (row, "who") not in {fact[:2] for fact in facts}


def test_a_quoted_title_and_a_total_with_a_share_are_left_out(read):
    heard = []
    rows = '"Poll, May 5, 2024"\n""\nWard,Voters,Cast,Share\n' + "".join(
        f'{ward},"{voters:,}",{cast},{cast / voters:.1%}\n'
        for ward, voters, cast in (("A", 1200, 600), ("B", 300, 100), ("C", 500, 50),
                                   ("All (total)", 2000, 750))
    )  # fmt: skip
    facts = named_facts(read(rows, "poll.csv", on_reading=heard.append))
    assert {head for head, relation, _ in facts if relation == "Cast"} == {"A", "B", "C"}
    assert "1 lines above the columns" in heard[0]
    assert "1 rows of totals" in heard[0]
