"""Who does what to whom, and what the things of a graph without classes are."""

import numpy as np
import pytest
from readers import readings_of

from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.language.cues import read_cues
from jaxkg.systems.reader.language.vocabulary import Vocabulary
from jaxkg.systems.reader.reading import Readings, Senses
from jaxkg.systems.reader.sets.direction import directions
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.views import NAMES, views

FIRM = [
    ("Anna", "reports to", "Bruno"), ("Bruno", "reports to", "Clara"), ("Anna", "age", "31"),
    ("Bruno", "age", "44"), ("Clara", "age", "58"), ("Handels", "account manager", "Anna"),
    ("Nordbau", "account manager", "Anna"), ("Suter", "account manager", "Bruno"),
    ("Handels", "bought", "Pump"), ("Handels", "bought", "Valve"), ("Nordbau", "bought", "Valve"),
    ("Suter", "bought", "Seal"), ("Pump", "weight", "12"), ("Valve", "weight", "3"),
    ("Seal", "weight", "1"),
]  # fmt: skip


@pytest.fixture(scope="module")
def firm() -> Readings:
    return readings_of(FIRM)


def seen(firm: Readings, question: str, view: str) -> dict[tuple[tuple[str, ...], str], float]:
    """A view of each reading, by the relations it walks and how it is counted."""
    asked = firm.asked(question)
    found = firm.of(asked)
    of = views(asked, found, firm.find)[:, NAMES.index(view)].tolist()
    walked = [tuple(map(firm.kg.relation_name, one.relations)) for one in found]
    counted = ["".join(getattr(one.query, "path", ())) for one in found]
    return dict(zip(zip(walked, counted), of))


def test_what_somebody_has_is_walked_to_from_them(firm):
    told = seen(firm, "the account manager of Bruno", "possessed")
    assert told[("^account manager",), ""] == -1.0
    assert told[("reports to",), ""] == 0.0  # a verb
    assert seen(firm, "Who is Suter's account manager?", "possessed")[
        ("account manager",), ""
    ] == 1.0  # fmt: skip
    # Nothing is Anna's here.
    assert seen(firm, "Who has Anna as account manager?", "possessed")[
        ("^account manager",), ""
    ] == 0.0  # fmt: skip


def test_a_noun_for_a_verb_tells_no_direction(firm):
    assert seen(firm, "Who is the boss of Anna?", "direction")[("reports to",), ""] == 0.0
    assert seen(firm, "Who does Anna report to?", "direction")[("reports to",), ""] == 1.0
    assert seen(firm, "Who reports to Bruno?", "direction")[("^reports to",), ""] == 1.0
    asked = firm.asked("Who reports to Bruno?")
    ahead = (firm.kg.relation_code("reports to"),)
    walked = [one for one in firm.find.all(asked) if one.relations == ahead]
    assert [directions(asked, one, firm.find)[0] for one in walked] == [-1.0]


def test_who_bought_and_what_was_bought(firm):
    active = seen(firm, "which firm bought more than one product?", "measure direction")
    assert active[(), "bought"] == 1.0
    passive = seen(firm, "which was bought by more than one firm?", "measure direction")
    assert passive[(), "^bought"] == 1.0


def test_sorts_are_compared_with_a_noun_by_labels_and_names():
    known = Vocabulary(KnowledgeGraph.from_triples(FIRM))

    def vectors(texts) -> np.ndarray:
        """Three directions: people, what is bought, the rest."""
        told = {"person": 0, "reports to": 0, "Anna": 0, "product": 1, "weight": 1, "Valve": 1}
        return np.eye(3, dtype=np.float32)[[told.get(text, 2) for text in texts]]

    of = Senses(known, vectors).of("product")
    things = {known.kg.name(known.sorts[kind].members[0]): kind for kind in of}
    products = next(kind for name, kind in things.items() if name in ("Pump", "Valve", "Seal"))
    assert of[products][2] == 0.0  # nobody is likelier
    assert all(of[kind][2] < 0 for kind in of if kind != products)
    assert of[products][0] > 0.5
    assert Senses(known, lambda texts: np.zeros((len(texts), 0), np.float32)).of("product") == {}


def test_what_nothing_names_is_a_sort_all_the_same():
    known = Vocabulary(KnowledgeGraph.from_triples(FIRM))
    pump = known.kg.entity_ids.rows("Pump")[0]
    assert known.kinds_of(pump)
    assert "bought" not in known.class_words(known.kinds_of(pump)[0])


def test_what_is_said_true_of_things_that_no_class_names():
    facts = [
        ("latte", "is vegan", "false"), ("oat latte", "is vegan", "true"),
        ("popcorn", "is vegan", "true"), ("latte", "costs", "3"), ("popcorn", "costs", "4"),
    ]  # fmt: skip
    menu = readings_of(facts)
    found = menu.of(menu.asked("Which menu items are vegan?"))
    assert any({menu.kg.name(end) for end in one.ends} == {"oat latte", "popcorn"} for one in found)


def test_leaving_out_is_an_exception():
    assert read_cues("Works by Ada, leaving out the prints").except_at == 3


def test_a_label_is_no_name_of_a_thing_alone():
    facts = [*FIRM, ("Anna", "job title", "account manager"), ("Clara", "job title", "director")]
    readings = readings_of(facts)
    asked = readings.asked("who is the account manager for Suter")
    assert [asked.cues.words.folded[place] for place in sorted(asked.alignment.masked)] == ["suter"]
    names = {readings.kg.name(m.options[0].entity) for m in asked.mentions}
    assert names == {"account manager", "Suter"}


def test_a_word_said_twice_walks_its_relation_twice(firm):
    question = "Who does whoever Anna reports to report to?"
    met, missed = (seen(firm, question, view) for view in ("twice met", "twice missed"))
    assert met[("reports to", "reports to"), ""] == 1.0
    assert missed[("reports to", "reports to"), ""] == 0.0
    assert missed[("reports to",), ""] == 1.0
    assert met[("age",), ""] == missed[("age",), ""] == 0.0


def test_a_value_is_asked_of_all_that_have_it():
    """Not of those alone that have something else, which nothing speaks of."""
    films = [(f"F{n}", "lasts minutes", str(80 + 10 * n)) for n in range(5)]
    films += [(f"F{n}", "came out", str(2000 + n)) for n in range(5)]
    directed = [(f"F{n}", "directed by", f"Ann {n}") for n in range(3)]
    readings = readings_of(films + directed)
    found = readings.of(readings.asked("what takes more than 95 minutes?"))
    kg = readings.kg
    lasts = kg.relation_code("lasts minutes")
    kept = [c for c in found if c.shape == "filter" and c.measure == lasts and not c.relations]
    assert {frozenset(kg.name(e) for e in c.ends) for c in kept} == {frozenset(["F2", "F3", "F4"])}


def test_a_job_title_makes_nobody_a_job():
    facts = [*FIRM, *((name, "job title", "clerk") for name in ("Anna", "Bruno", "Clara"))]
    facts += [(name, "customer since", "2019") for name in ("Handels", "Nordbau", "Suter")]
    sorts = Vocabulary(KnowledgeGraph.from_triples(facts)).sorts.values()
    words = {word for sort in sorts for word in sort.words}
    assert "customer" in words
    assert "job" not in words


def test_what_is_done_to_a_thing_is_told_without_saying_by_whom():
    readings = readings_of([("Sooty", "adopted by", "Roy"), ("Barn", "based in", "Fen")])
    assert seen(readings, "Which keeper has Sooty been adopted by?", "direction")[
        ("adopted by",), ""
    ] == 1.0  # fmt: skip
    assert seen(readings, "Who has had Sooty adopted?", "direction")[("adopted by",), ""] == -1.0
    assert seen(readings, "Where was Sooty adopted?", "direction")[("adopted by",), ""] == 1.0
    assert seen(readings, "Where is the Barn based?", "direction")[("based in",), ""] == 1.0


def test_as_many_as_the_most_are_all_first():
    facts = [("A", "author", "Ida"), ("B", "author", "Ida"), ("C", "author", "Per")]
    facts += [("D", "author", "Per"), ("E", "author", "Una")]
    kg = KnowledgeGraph.from_triples(facts)
    readings = Readings(kg, None, ReaderSettings())
    found = readings.of(readings.asked("Who is the author of the most?"))
    first = [{kg.name(end) for end in c.ends.tolist()} for c in found if c.shape == "extreme"]
    assert {"Ida", "Per"} in first
