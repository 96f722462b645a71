"""What a part of a graph is told of the rest of it."""

import dataclasses
from decimal import Decimal

import numpy as np
import pytest

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.queries.values import Values
from jaxkg.kg.stores.around import Reach, sample_graph, surroundings, topic_graph
from jaxkg.kg.stores.arrays import ArrayStore
from jaxkg.systems.reader.language.vocabulary import Vocabulary

FACTS = [
    ("Orwell", "wrote", "1984"),
    ("Orwell", "spouse", "Eileen"),
    ("Burgess", "wrote", "Earthly Powers"),
    ("Burgess", "wrote", "Beard's Roman Women"),
    ("Austen", "wrote", "Emma"),
    ("Austen", "born_in", "Steventon"),
    ("Orwell", "born_in", "Motihari"),
    ("Orwell", "height", "188 cm"),
    ("Austen", "height", "5 ft"),
    ("Burgess", "height", "180 cm"),
    ("Orwell", "mass", "70 kg"),
    ("Austen", "mass", "3 h"),
    ("Burgess", "mass", "71 kg"),
    ("Emma", "mass", "1 kg"),
    ("Emma", "height", "21 cm"),
]


@pytest.fixture(scope="module")
def store():
    return ArrayStore(KnowledgeGraph.from_triples(FACTS))


@pytest.fixture(scope="module")
def part(store):
    found = surroundings(store, store.named(["Orwell"])[0], Reach(hops=2))
    return topic_graph(store, found, whole_schema=False, sample=sample_graph(store))


def told(vocabulary, name):
    code = vocabulary.kg.relation_code(name)
    return vocabulary.relations[code].tails, vocabulary.functional(code), vocabulary.orders(code)


def test_values_and_what_is_told_once(store, part):
    whole, with_it = Vocabulary(store.kg), Vocabulary(part)
    alone = Vocabulary(dataclasses.replace(part, sample=None))
    assert part.num_triples < store.count
    for name in part.relations:
        assert told(with_it, name) == told(whole, name)
    assert told(alone, "wrote") != told(whole, "wrote")  # a book, not a year
    assert told(alone, "mass")[2] is True
    assert told(with_it, "mass")[2] is False  # in two units
    for name in ("height", "mass"):
        assert with_it.values.units[name] == whole.values.units[name]


def test_a_part_is_read_in_the_unit_of_the_whole():
    facts = [
        ("a", "long", "5 ft"),
        ("b", "long", "3 m"),
        ("c", "long", "4 m"),
        ("d", "long", "9 m"),
    ]
    whole = Values(KnowledgeGraph.from_triples(facts))
    alone = KnowledgeGraph.from_triples(facts[:1])
    part = Values(alone, whole.relation_kinds, whole.units)
    assert (whole.units, part.units) == ({"long": ("m",)},) * 2
    assert part.number(alone.entity("5 ft")) == ("m", Decimal("1.524"))


def test_sorts_have_the_words_of_the_whole(store, part):
    whole, with_it = Vocabulary(store.kg), Vocabulary(part)

    def words_of(vocabulary, name):
        kinds = vocabulary.kinds_of(vocabulary.kg.entity(name))
        return [vocabulary.class_words(kind) for kind in kinds]

    for row in range(part.num_entities):
        name = part.entity_ids[row]
        assert words_of(with_it, name) == words_of(whole, name)
    for sort in with_it.sorts.values():
        codes = np.unique(np.concatenate([with_it.domain(code) for code in sort.codes]))
        assert set(codes) <= set(sort.members)


def test_a_relation_the_sample_has_not_is_read_off_the_part(part):
    none = dataclasses.replace(
        part, sample=KnowledgeGraph.from_triples([("Austen", "wrote", "Emma")])
    )
    found = Vocabulary(none)
    assert told(found, "wrote")[0] == "thing"
    assert told(found, "height")[0] == "number"


def test_an_entity_is_of_every_sort_that_has_it(store):
    found = Vocabulary(store.kg)
    assert len(found.sorts) > 1
    several = 0
    for node in range(store.kg.num_entities):
        kinds = [kind for kind, sort in found.sorts.items() if node in sort.members.tolist()]
        assert list(found.kinds_of(node)) == kinds
        several += len(kinds)
    assert several > 3


def test_what_others_of_a_sort_have(store, part):
    def had(vocabulary):
        node = vocabulary.kg.entity_ids.rows("Orwell")[0]
        kg, kinds = vocabulary.kg, vocabulary.kinds_of(node)
        assert kinds
        return {kg.relation_name(c): s for k in kinds for c, s in vocabulary.had(k).items()}

    whole, with_it = had(Vocabulary(store.kg)), had(Vocabulary(part))
    assert whole["born_in"] == pytest.approx(0.5)  # two of four that have a height
    assert with_it == pytest.approx({name: whole[name] for name in with_it})
    assert {"wrote", "spouse", "born_in"} <= with_it.keys()
