"""Questions about facts that hold at a time, or of which something else is told."""

import itertools

import pytest
from readers import cited, reader_of

from jaxkg.errors import JaxkgError
from jaxkg.systems.reader.system import Reader

_PLAYED = """
Ida Holm|Larch Rovers|2001|2004|winger|88
Ida Holm|Elm City|2004|2010|captain|212
Ida Holm|Ash Town|2011||coach|9
Ole Berg|Larch Rovers|1999|2006|keeper|120
Ole Berg|Elm City|2007|2009|keeper|31
Una Vik|Elm City|2010||winger|55
"""


def stated(number, head, relation, tail, **told):
    """A fact and what is said of it."""
    node = f"_:{number}"
    about = (("subject", head), ("predicate", relation), ("object", tail))
    more = ((name.replace("_", " "), value) for name, value in told.items() if value)
    return [(head, relation, tail), *((node, *pair) for pair in itertools.chain(about, more))]


def reader(**settings) -> Reader:
    facts = []
    for number, line in enumerate(_PLAYED.strip().splitlines()):
        player, club, start, end, position, matches = line.split("|")
        told = {"start_time": start, "end_time": end, "position": position, "matches": matches}
        facts += [(player, "type", "player"), (club, "type", "club")]
        facts += stated(number, player, "played for", club, **told)
    return reader_of(facts, threshold=0.0, **settings)


@pytest.fixture(scope="module")
def clubs() -> Reader:
    return reader(today="2009-06-01")


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("Which club did Ida Holm play for in 2002?", {"Larch Rovers"}),
        ("Which club did Ida Holm play for in 2008?", {"Elm City"}),
        ("Who played for Elm City in 2008?", {"Ida Holm", "Ole Berg"}),
        ("How many clubs did Ida Holm play for in 2004?", {"2"}),
        ("Which club does Ida Holm play for now?", {"Elm City"}),
        ("Which clubs did Ida Holm play for before 2003?", {"Larch Rovers"}),
        ("Which clubs did Ida Holm play for?", {"Larch Rovers", "Elm City", "Ash Town"}),
        ("Which position did Ole Berg have at Elm City?", {"keeper"}),
        ("For which club did Ida Holm play 212 matches?", {"Elm City"}),
    ],
)
def test_a_fact_is_asked_for_by_its_time_or_by_what_is_said_of_it(clubs, question, meant):
    assert set(cited(clubs, question)) == meant


def test_now_is_the_date_that_is_set(clubs):
    later = reader(today="2012-01-01")
    assert cited(later, "Which club does Ida Holm play for now?") == ["Ash Town"]
    with pytest.raises(JaxkgError, match="today=soon: no date"):
        reader(today="soon")
