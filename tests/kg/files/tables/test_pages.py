"""Tables in web pages and in Markdown."""

import pytest
from named_facts import named_facts

from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph

PAGE = """<!DOCTYPE html><html><head><script>"<table><tr><td>no"</script></head><body>
<h2>Squad</h2><table><thead><tr><th>Player<th>Team<th>Goals</tr></thead>
<tr><td rowspan=2>Ann Lee</td><td><a href="/reds">Reds</a></td><td>3</td></tr>
<tr><td>Blues</td><td>1</td></tr>
<tr><td>Bo &amp; Co<sup>[1]</sup></td><td colspan="1">Reds</td><td>7</td></table>
<p>Text</p><table><caption>Clubs</caption><tr><td>Team</td><td>City</td></tr>
<tr><td>Reds</td><td>Oslo<br>East</td></tr><tr><td>Blues</td><td>Ely</td></tr></table>
<table><tr><td>menu</td></tr></table></body></html>"""
NOTE = """# Hotels

Some of them:

| **Hotel** | Rooms | City |
|:---|---:|---|
| Bellevue | 42 | [Lugano](https://lugano.example) |
| Post \\| Inn | 20 | Chur |

Not a | table.
"""


def test_the_tables_of_a_web_page_are_read(tmp_path):
    (tmp_path / "squad.html").write_text(PAGE)
    told = []
    kg = read_graph(tmp_path / "squad.html", on_reading=told.append)
    found = named_facts(kg)
    assert {("Reds", "City", "Oslo East"), ("Blues", "is a", "team")} <= found
    rows = {h: [] for h, _, _ in kg.triples.tolist()}
    for head, relation, tail in kg.triples.tolist():
        rows[head].append((kg.relations[relation], kg.name(tail)))
    squad = sorted(sorted(row) for row in rows.values() if any(r == "Goals" for r, _ in row))
    assert squad == [
        [("Goals", "1"), ("Player", "Ann Lee"), ("Team", "Blues")],
        [("Goals", "3"), ("Player", "Ann Lee"), ("Team", "Reds")],
        [("Goals", "7"), ("Player", "Bo & Co"), ("Team", "Reds")],
    ]
    assert "1 tables without a header or rows" in " ".join(told)


def test_the_tables_of_a_note_are_read_alone_and_not_beside_data(tmp_path):
    (tmp_path / "hotels.md").write_text(NOTE)
    found = named_facts(read_graph(tmp_path / "hotels.md"))
    assert found == {
        ("Bellevue", "is a", "hotel"), ("Bellevue", "Rooms", "42"), ("Bellevue", "City", "Lugano"),
        ("Post | Inn", "is a", "hotel"), ("Post | Inn", "Rooms", "20"),
        ("Post | Inn", "City", "Chur"),
    }  # fmt: skip
    (tmp_path / "facts.csv").write_text("head,relation,tail\nAnn,knows,Bo\n")
    assert named_facts(read_graph(tmp_path)) == {("Ann", "knows", "Bo")}


def test_a_page_without_a_table_is_refused(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("<html><body><table><tr><td>a</td></tr></table></body></html>")
    with pytest.raises(JaxkgError, match="no table in it that has a header and rows"):
        read_graph(path)
    many = "<table>" * 5_000 + "<tr><td colspan=999999999 rowspan=999999999>a<td>b<tr><td>c<td>d"
    path.write_text(f"<html>{many}</html>")
    with pytest.raises(JaxkgError):
        read_graph(path)


def test_bars_part_the_cells_of_a_table(tmp_path):
    (tmp_path / "depts.csv").write_text("Code|Name|Budget\n10|Roads|5000\n11|Parks|300\n")
    assert ("Parks", "Budget", "300") in named_facts(read_graph(tmp_path / "depts.csv"))
