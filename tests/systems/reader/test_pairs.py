"""Questions of how much two values differ, or how often one is the other."""

import pytest
from readers import cited, reader_of
from row_facts import table_facts

from jaxkg.systems.reader.system import Reader

_TOWERS = """
Gull Tower|120|1931-05-01|1934-05-11|40
Reed Tower|80|1950-02-01|1951-02-02|16
Fern Tower|95|1961-03-04|1965-03-03|10
"""


@pytest.fixture(scope="module")
def towers() -> Reader:
    columns = ("height", "begun", "opened", "rooms")
    return reader_of(table_facts(_TOWERS, *columns, kind="tower"), threshold=0.0)


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("How much higher is Gull Tower than Reed Tower?", "40"),
        ("How much lower is Reed Tower than Gull Tower?", "40"),
        ("How many times higher is Gull Tower than Reed Tower?", "1.5"),
        ("How many days passed between Reed Tower being begun and opened?", "366 days"),
    ],
)
def test_two_values_are_reckoned_with(towers, question, meant):
    assert cited(towers, question) == [meant]
