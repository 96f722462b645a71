"""Questions of which two relations lead to the same, or one to nothing else."""

import pytest
from readers import cited, reader_of

from jaxkg.systems.reader.system import Reader

_FILMS = """
Tide|Mo Rey|Mo Rey;Al Dun|120|90
Fog|Al Dun|Ina Orr|80|95
Rust|Ina Orr|Ina Orr|40|70
Dew|Mo Rey|Al Dun|55|20
"""


@pytest.fixture(scope="module")
def films() -> Reader:
    facts = []
    for line in _FILMS.strip().splitlines():
        name, director, actors, earned, cost = line.split("|")
        facts += [(name, "type", "film"), (name, "directed by", director)]
        facts += [(name, "acted in by", actor) for actor in actors.split(";")]
        facts += [(name, "revenue", earned), (name, "budget", cost)]
    facts += [(name, "type", "actor") for name in ("Mo Rey", "Al Dun", "Ina Orr")]
    facts += [("Mo Rey", "born in", "Ulm"), ("Al Dun", "born in", "Ulm")]
    return reader_of(facts, threshold=0.0)


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("Which films were directed by someone who also acted in them?", {"Tide", "Rust"}),
        ("Which films have a revenue larger than their budget?", {"Tide", "Dew"}),
        ("Which films have exactly two actors born in Ulm?", {"Tide"}),
        ("Which films did all actors born in Ulm act in?", {"Tide"}),
        ("Which films had only actors born in Ulm?", {"Tide", "Dew"}),
        ("Which films have only Ina Orr acting in them?", {"Fog", "Rust"}),
    ],
)
def test_two_relations_are_compared(films, question, meant):
    assert set(cited(films, question)) == meant


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("Which orders were shipped after their required date?", {"O2"}),
        ("Which orders were required before they were shipped?", {"O2"}),
        ("Which orders were shipped before they were required?", {"O1", "O3"}),
    ],
)
def test_dates_are_compared_by_what_tells_their_labels_apart(question, meant):
    dates = {
        "O1": ("2024-01-05 10:00:00", "2024-01-03 09:00:00"),
        "O2": ("2024-02-05 10:00:00", "2024-02-09 09:00:00"),
        "O3": ("2024-03-05 10:00:00", "2024-03-01 09:00:00"),
    }
    facts = [(order, "type", "order") for order in dates]
    for order, (required, shipped) in dates.items():
        facts += [(order, "required date", required), (order, "shipped date", shipped)]
        facts += [(order, "order date", "2024-01-01 08:00:00")]
    assert set(reader_of(facts).understand(question).readings[0].answers) == meant
