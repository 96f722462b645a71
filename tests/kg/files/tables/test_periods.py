"""Tables with a column a year: a cell is of its row and its year."""

import pytest

from jaxkg.kg import read_graph
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader
from jaxkg.text.hashing import HashingEncoder

CITIES = (
    "City,Country,2000,2010,2020\nBergen,Norway,229496,256600,283929\n"
    "Oslo,Norway,507467,586860,693494\nMalmo,Sweden,259579,298963,\n"
)
SERIES = (
    "Country,Series,2019,2020\nChad,Births,41,40\nChad,Deaths,12,13\n"
    "Mali,Births,43,42\nMali,Deaths,10,\n"
)


def facts(graph):
    names = map(graph.name, range(graph.num_entities))
    known = dict(enumerate(names))
    rows = [(known[h], graph.relations[r], known[t]) for h, r, t in graph.triples.tolist()]
    return {(relation, tail) for _, relation, tail in rows}, rows


def test_a_cell_is_of_its_row_and_its_year(read):
    heard = []
    graph = read(CITIES, "population.csv", on_reading=heard.append)
    said, rows = facts(graph)
    assert ("Bergen", "Country", "Norway") in rows
    assert {("population", "586860"), ("year", "2010"), ("City", "Oslo")} <= said
    assert not {"2000", "2010", "2020"} & set(graph.relations)
    # An empty cell says nothing, of no year.
    assert sum(relation == "population" for _, relation, _ in rows) == 8
    assert sum(relation == "year" for _, relation, _ in rows) == 8
    assert "2000 to 2020 are periods" in heard[0]


def test_rows_that_no_column_calls_are_told_by_all_of_theirs(read):
    _, rows = facts(read(SERIES, "indicators.csv"))
    assert [relation for _, relation, _ in rows].count("indicators") == 7
    assert [relation for _, relation, _ in rows].count("Series") == 7
    graph = read(SERIES, "indicators.csv")
    heads = {graph.relations[r]: set[int]() for r in range(graph.num_relations)}
    for head, relation, _ in graph.triples.tolist():
        heads[graph.relations[relation]].add(head)
    assert heads["is a"] == heads["year"]


def test_rows_of_two_files_of_one_title_stay_apart(tmp_path):
    for name, count in (("north", "9"), ("south", "4")):
        (tmp_path / name).mkdir()
        text = f"City,2000,2010\n{name} town,{count},7\n{name} port,3,1\n"
        (tmp_path / name / f"{name}.csv").write_text(text)
        (tmp_path / name / "people.csv").write_text(text)
    _, rows = facts(read_graph(tmp_path))
    assert sum(relation == "year" for _, relation, _ in rows) == 16


def test_two_columns_of_one_form_are_periods(read):
    months = "Shop,2024-01,2024-02\nAyr,9,7\nEly,4,8\n"
    assert ("month", "2024-02") in facts(read(months, "sales.csv", format="table"))[0]
    for text in ("Shop,2024,Owner\nAyr,9,Bo\nEly,4,Cy\n", "Run,100,200\nAyr,9,Bo\nEly,4,Cy\n"):
        assert not {"year", "month"} & set(read(text, "sales.csv", format="table").relations)


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("What was the population of Bergen in 2010?", ["256600"]),
        ("What was the population of Malmo in 2000?", ["259579"]),
    ],
)
def test_years_are_asked_for(read, question, meant):
    reader = Reader.build(
        read(CITIES, "population.csv"), HashingEncoder(), settings=ReaderSettings(threshold=0.0)
    )
    assert [entity.name for entity in reader.ask(question).entities] == meant
