import datetime
import gzip
import io
import sys
import zipfile

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph
from jaxkg.kg.files.tables import excel
from jaxkg.kg.queries.values import Values

openpyxl = pytest.importorskip("openpyxl")

STAFF = {
    "People": [
        ("id", "name", "department", "room"),
        ("E1", "Ann Berg", "D1", 7),
        ("E2", "Bob Stone", "D2", None),
    ],
    "Departments": [("id", "name", "head"), ("D1", "Research", "E1"), ("D2", "Sales", "E2")],
    "Rooms": [("id", "floor"), (7, 2.0)],
}


@pytest.fixture
def book(tmp_path):
    """Write a workbook: rows by the sheets' titles."""

    def run(sheets, name="book.xlsx"):
        made = openpyxl.Workbook()
        made.remove(made.active)
        for title, rows in sheets.items():
            sheet = made.create_sheet(title)
            for row in rows:
                sheet.append(row)
        made.save(tmp_path / name)
        return tmp_path / name

    return run


def facts(graph):
    return {graph.triple(row) for row in range(graph.num_triples)}


def test_the_sheets_of_a_workbook_are_one_graph(book):
    heard = []
    graph = read_graph(book(STAFF), on_reading=heard.append)
    assert facts(graph) == {
        ("E1", "department", "D1"),
        ("E2", "department", "D2"),
        ("E1", "room", "room 7"),
        ("D1", "head", "E1"),
        ("D2", "head", "E2"),
        ("room 7", "floor", "2"),
        ("E1", "is a", "people"),
        ("E2", "is a", "people"),
        ("D1", "is a", "departments"),
        ("D2", "is a", "departments"),
        ("room 7", "is a", "rooms"),
    }
    assert [graph.name(graph.entity(id)) for id in ("E1", "D2")] == ["Ann Berg", "Sales"]
    assert graph.provenance is None
    assert "'People' read as a table" in heard[0]
    assert "its class is 'departments'" in heard[0]
    assert heard[0].endswith("11 facts")


def test_a_certificate_has_its_header_below_notes_and_its_units_below_that(book):
    rows = [
        ["Certificate of analysis", None, None, None, None, None, None],
        ["Report: 17", None, None, "Client: Ann", None, None, None],
        ["Sample", None, None, "Field", None, "Metals", None],
        ["Lab ID", "Point", "By", "pH", "Temp", "Pb", "Cu"],
        [None, None, None, "-", "°C", "µg/L", "µg/L"],
        ["L1", "Mill", "KW", 7.1, 10.4, "<0.5", 14],
        ["L2", "Farm", "DM", 6.3, 9.1, 7.8, 212],
        ["L3", "Quay", "KW", 7.4, 10.8, 0.9, 8],
    ]
    heard = []
    graph = read_graph(book({"Results": rows}), on_reading=heard.append)
    assert {("L2", "Temp (°C)", "9.1"), ("L1", "Pb (µg/L)", "<0.5"), ("L3", "Point", "Quay")} <= (
        facts(graph)
    )
    assert "below 'Certificate of analysis Report: 17 Client: Ann" in heard[0]
    values = Values(graph)
    assert values.relation_kinds["Pb (µg/L)"] == "number"
    assert values.number(graph.entity("<0.5")) is None


def test_what_stands_over_columns_tells_those_of_one_name_apart_below_notes(book):
    rows = [["Sales", "2024", None, None, None], [None, "North", None, "South", None],
            ["Shop", "in", "out", "in", "out"],
            ["Ely", 1, 2, 3, 4], ["Rye", 5, 6, 7, 8]]  # fmt: skip
    found = facts(read_graph(book({"Sales": rows})))
    assert {("Ely", "North in", "1"), ("Rye", "South out", "8")} <= found


@pytest.mark.parametrize("told", [{"lines": True}, {"provenance": True}])
def test_a_fact_is_of_a_file_a_sheet_and_a_row(book, told):
    path = book({"Mine": [(), ("from", "type", "to"), ("a", "r", "b")], **STAFF})
    graph = read_graph(path, **told)
    sources = {graph.triple(row): graph.source(row) for row in range(graph.num_triples)}
    assert sources["D2", "head", "E2"] == "book.xlsx:Departments:3"
    assert sources["a", "r", "b"] == "book.xlsx:Mine:3"


def test_values_are_text(book):
    day = datetime.datetime(2024, 3, 1)
    row = (day, day.replace(hour=9, minute=30), datetime.time(8, 15), True, 0.1 + 0.2, 5.0, " x ")
    header = ("id", "day", "start", "opens", "open", "rate", "count", "note", "none", "error")
    graph = read_graph(book({"S": [header, ("k", *row, None, "#N/A")]}))
    assert {relation: tail for _, relation, tail in facts(graph)} == {
        "day": "2024-03-01",
        "start": "2024-03-01T09:30:00",
        "opens": "08:15:00",
        "open": "true",
        "rate": "0.3",
        "count": "5",
        "note": "x",
    }


def test_columns_without_a_heading_titles_and_blank_sheets_are_passed_over(book):
    heard = []
    rows = [(), (None, "Staff of 2024"), (None, "id", None, "full\nname"), (None, "E1", None, "A")]
    graph = read_graph(book({"S": rows, "Blank": [], "T": []}), on_reading=heard.append)
    assert facts(graph) == {("E1", "full name", "A")}
    assert "below 'Staff of 2024'; 1 facts" in heard[0]
    with pytest.raises(JaxkgError, match=r"book.xlsx:S:5: a cell outside the columns of row 3: 'x"):
        read_graph(book({"S": [*rows, (None, "E2", "x", "B")]}))


def test_cells_merged_down_a_column_say_what_the_first_does(tmp_path):
    made = openpyxl.Workbook()
    rows = [("name", "team", "room"), ("Ann", "Red", 7), ("Bob", None, None), ("Cy", None, 9),
            ("Di", "Blue", None), ("Eve", None, None)]  # fmt: skip
    for row in rows:
        made.active.append(row)
    made.active.merge_cells("B2:B4")
    made.active.merge_cells("B5:B6")
    made.active.merge_cells("C2:C3")
    made.save(tmp_path / "teams.xlsx")
    found = facts(read_graph(tmp_path / "teams.xlsx"))
    assert {(h, t) for h, r, t in found if r == "team"} == {
        ("Ann", "Red"), ("Bob", "Red"), ("Cy", "Red"), ("Di", "Blue"), ("Eve", "Blue"),
    }  # fmt: skip
    assert {(h, t) for h, r, t in found if r == "room"} == {("Ann", "7"), ("Bob", "7"), ("Cy", "9")}


def test_triples_in_columns(book):
    header = ("Target", "relation", "source", "page")
    path = book({"S": [header, ("b", "r", "a", 3)], "T": [("c", "s", 4.0)]})
    heard = []
    graph = read_graph(path, on_reading=heard.append)
    assert facts(graph) > {("a", "r", "b"), ("c", "s", "4"), ("_:r_1", "page", "3")}
    assert "source, relation, Target: taken as head, relation, tail" in heard[0]
    path = book({"S": [header, ("b", "r", "a", 3)]})
    graph = read_graph(path, columns=("source", "page", "Target"), provenance="relation")
    assert (facts(graph), graph.source(0)) == ({("a", "3", "b")}, "r")
    assert facts(read_graph(path, columns=(2, 1, 3))) >= {("a", "r", "3")}


def test_sheets_that_are_neither_are_told(book):
    odd = {"Odd": [("Machine", "Maker", "Weight", 2001), ("Lathe", "Hob", 3, 2001)]}
    heard = []
    graph = read_graph(book({**STAFF, **odd, "N": [("a note",)]}), on_reading=heard.append)
    assert graph.num_triples == 11
    assert "left out: 'Odd' starts with 'Machine, Maker, Weight, 2001', which is no" in heard[0]
    assert "left out: 'N' has but one column" in heard[0]
    with pytest.raises(JaxkgError, match=r"'Odd' starts with .* the format 'table' takes every"):
        read_graph(book(odd))
    with pytest.raises(JaxkgError, match="no triples in it"):
        read_graph(book({"Blank": []}))
    graph = read_graph(book({"S": [("id", "on", "at", "id"), ("k", 1, 2, 3)]}))
    assert ("k", "id 4", "3") in facts(graph)
    graph = read_graph(book(odd), format="table")
    assert ("Lathe", "Weight", "3") in facts(graph)


def test_sheets_are_tables_whatever_their_first_column_is_called(book):
    kilns = [("Kilns of 2024",), (), ("Kiln", "Site", "Built")]
    kilns += [("Ada", "Hill", 1999), ("Bea", "Dale", 2004), ("Cid", "Hill", 2010)]
    tools = [("Machine", "Maker", "Weight", "Glaze"), ("Lathe", "Hob", 3, "honey")]
    tools += [("Wheel", "Hob", 7, "majolica, honey"), ("Mill", "Hob", 5, "majolica")]
    heard = []
    path = book({"Kilns": kilns, "Tools": tools})
    graph = read_graph(path, on_reading=heard.append)
    assert {("Ada", "Site", "Hill"), ("Cid", "Built", "2010")} <= facts(graph)
    assert {("Lathe", "Weight", "3"), ("Wheel", "Glaze", "honey")} <= facts(graph)
    assert "below 'Kilns of 2024'; if each row is a triple, the format 'excel' takes" in heard[0]
    assert "Glaze: several in a cell, told apart at ','" in heard[0]
    graph = read_graph(path, format="excel", on_reading=heard.append)
    assert ("Kiln", "Site", "Built") in facts(graph)
    assert "left out: 'Tools' starts with" in heard[1]
    assert ("Ada", "Site", "Hill") in facts(read_graph(path, format="table"))


def test_ids_on_several_sheets_are_told(book):
    heard = []
    path = book({"A": [("id", "x"), ("k", 2)], "B": [("id", "room", "floor"), ("k", "R", 2)]})
    graph = read_graph(path, on_reading=heard.append)
    assert facts(graph) == {("k", "x", "2"), ("k", "room", "R"), ("k", "floor", "2")}
    assert "1 ids are on several sheets (k): each taken as one thing" in heard[0]
    # Numbers count the rows of either sheet.
    path = book({"A": [("id", "name"), (1, "Ann")], "B": [("id", "name", "floor"), (1, "R", 2)]})
    graph = read_graph(path, on_reading=heard.append)
    assert facts(graph) == {("b 1", "floor", "2")}
    assert "several sheets" not in heard[1]


@pytest.mark.parametrize("chunk", [7, 1 << 20])
def test_formulas_count_by_their_kept_values(book, monkeypatch, chunk):
    path = book({"S": [("id", "sum", "none"), ("k", "=1+1", "=2+2"), ("l", "#REF!", 1)]})
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b"<f>1+1</f><v></v>", b"<f>1+1</f><v>2</v>")
    parts[sheet] = parts[sheet].replace(b"<f>1+1</f><v />", b"<f>1+1</f><v>2</v>")
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    monkeypatch.setattr(excel, "_CHUNK", chunk)
    heard = []
    graph = read_graph(path, on_reading=heard.append)
    assert facts(graph) == {("k", "sum", "2"), ("l", "none", "1")}
    assert "1 cells of errors (#REF!) left out" in heard[0]
    assert "1 formulas without a value left out" in heard[0]


def test_bad_rows(book):
    path = book({"S": [*STAFF["People"], (None, "Nobody", "D1", 7)]})
    with pytest.raises(JaxkgError, match=r"book.xlsx:S:4: no id: ',Nobody,D1,7'; expected id,name"):
        read_graph(path, strict=True)
    heard = []
    assert read_graph(path, on_reading=heard.append).num_triples == 5
    assert "1 rows have no id" in heard[0]
    assert read_graph(path, skip_bad=1).num_triples == 3


def _members(path, **changed):
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, changed.get(name.rpartition("/")[2].partition(".")[0], data))
    return out.getvalue()


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda path: b"id,name\n", "not an Excel workbook, or a damaged one"),
        (lambda path: path.read_bytes()[:-40], "not an Excel workbook, or a damaged one"),
        (lambda path: _members(path, sheet1=b"<worksheet><sheetData><row>"), "a damaged one"),
        (lambda path: _members(path, workbook=b"<nothing/>"), "a damaged one|no triples"),
        (lambda path: b"\xd0\xcf\x11\xe0" + b"\0" * 600, "the old .xls format; save it as .xlsx"),
        (lambda path: b"\xd0\xcf\x11\xe0" + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
    ],
)
def test_what_is_no_workbook_is_told(book, spoil, told):
    path = book(STAFF)
    path.write_bytes(spoil(path))
    with pytest.raises(JaxkgError, match=f"book.xlsx: .*{told}"):
        read_graph(path)


def test_old_workbooks_by_their_name(tmp_path):
    (tmp_path / "b.xls").write_bytes(b"\xd0\xcf\x11\xe0" + b"\0" * 600)
    with pytest.raises(JaxkgError, match=r"b.xls: a workbook of the old .xls format"):
        read_graph(tmp_path / "b.xls")


def test_nothing_is_printed_of_damaged_styles(book, capsys):
    path = book(STAFF)
    with zipfile.ZipFile(path) as archive:
        styles = archive.read("xl/styles.xml")
    path.write_bytes(_members(path, styles=styles.replace(b'xfId="0"', b'xfId="77"')))
    try:  # the first releases of openpyxl 3.1 read it
        read_graph(path)
    except JaxkgError as error:
        assert "a damaged one" in str(error)  # noqa: PT017
    assert capsys.readouterr() == ("", "")


def test_packed_and_progress(book, tmp_path):
    path, told = book(STAFF), []
    packed = tmp_path / "book.xlsx.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    graph = read_graph(packed, on_progress=lambda *now: told.append(now))
    assert facts(graph) == facts(read_graph(path))
    assert told[-1] == (packed.stat().st_size, packed.stat().st_size)


def test_without_openpyxl_the_extra_is_named(book, monkeypatch):
    path = book(STAFF)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(JaxkgError, match=r"pip install 'jaxkg\[excel\]'"):
        read_graph(path)


def test_names_of_rows_join_sheets(book):
    people = [("id", "name", "department"), ("E1", "Ann Berg", "Research")]
    departments = [("id", "name", "head"), ("D1", "Research", "Ann Berg")]
    graph = read_graph(book({"People": people, "Departments": departments}))
    told = {("D1", "head", "E1"), ("E1", "department", "D1")}
    assert facts(graph) == told | {("D1", "is a", "departments"), ("E1", "is a", "people")}


def test_a_sheet_of_two_columns_is_a_table_where_another_has_a_column_of_its_rows(book):
    products = [("product", "origin", "price", "supplier")]
    products += [("Kenya AA", "Kenya", 24, "Afri"), ("Blend", "Brazil", 14, "Santos")]
    suppliers = [("Supplier", "country"), ("Afri", "Kenya"), ("Santos", "Brazil")]
    graph = read_graph(book({"Suppliers": suppliers, "Products": products}))
    assert ("Santos", "country", "Brazil") in facts(graph)
    assert ("Santos", "is a", "supplier") in facts(graph)
    heard = []
    other = [("Maker", "Country"), *suppliers[1:]]
    graph = read_graph(book({"Makers": other, "Products": products}), on_reading=heard.append)
    assert not any(relation == "Country" for _, relation, _ in facts(graph))
    assert "left out: 'Makers' starts with 'Maker, Country'" in heard[0]


def test_headings_above_several_columns_and_above_groups(book):
    over = [("Stores 2024",), ("Thing", None, "Size", None), ("No", "Title", "H", "W"),
            ("a1", "Bowl", 3, 4), ("a2", "Jug", 5, None)]  # fmt: skip
    grouped = [("Sales",), (None, "Date", "Num", "Qty"), ("Ann", None, None, None),
               (None, "2024-01-02", "7", 1), (None, "2024-01-05", "8", 2),
               ("Total for Ann", None, None, 3), ("Bo", None, None, None),
               (None, "2024-02-02", "9", 5), (None, "2024-02-03", "10", 4),
               ("Total for Bo", None, None, 9)]  # fmt: skip
    heard = []
    graph = read_graph(book({"Objects": over, "Sales": grouped}), on_reading=heard.append)
    found = facts(graph)
    assert {("a1", "H", "3"), ("a2", "H", "5")} <= found
    of = {head: tail for head, relation, tail in found if relation == "name"}
    sold = {(of[head], tail) for head, relation, tail in found if relation == "Qty"}
    assert sold == {("Ann", "1"), ("Ann", "2"), ("Bo", "5"), ("Bo", "4")}
    assert "2 rows of totals" in heard[0]
