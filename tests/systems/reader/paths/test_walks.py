"""Paths of one length found and scored as arrays, against one path after the other."""

import numpy as np
import pytest

from jaxkg.kg import KnowledgeGraph
from jaxkg.query import Entities
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.sets import walks
from jaxkg.systems.reader.sets.candidate import Candidate
from jaxkg.systems.reader.sets.quick import Further, joined
from jaxkg.systems.reader.sets.walks import SharedClasses
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.vectors import ReaderTexts
from jaxkg.text import HashingEncoder

_SALES = [
    *((f"_:sale{n}", "sold to", buyer) for n, buyer in enumerate(("Ann", "Bob", "Ann", "Cy"))),
    *((f"_:sale{n}", "item", item) for n, item in enumerate(("kettle", "kettle", "lamp", "mug"))),
    *((f"_:sale{n}", "price", price) for n, price in enumerate(("12", "15", "30", "4"))),
]
SHOP = KnowledgeGraph.from_triples(
    [
        *_SALES,
        *((name, "type", "customer") for name in ("Ann", "Bob", "Cy")),
        *((name, "type", "article") for name in ("kettle", "lamp", "mug")),
        ("Ann", "type", "teacher"),
        ("Ann", "married to", "Bob"),
        ("Cy", "married to", "Dot"),
        ("Dot", "works for", "Mill Lane School"),
        ("Ann", "works for", "Mill Lane School"),
        ("kettle", "made by", "Hob & Sons"),
        ("lamp", "made by", "Hob & Sons"),
        ("Hob & Sons", "also known as", "Hobs"),
        ("mug", "breakable", "yes"),
        ("lamp", "breakable", "no"),
    ]
)
QUESTIONS = (
    "What did Ann buy?",
    "Who made the kettle that Bob bought?",
    "How many customers bought a kettle?",
    "Where does Cy's wife work?",
    "Which articles did Ann's husband buy?",
)


@pytest.fixture(scope="module")
def readings():
    return Readings(SHOP, ReaderTexts.of(HashingEncoder()), ReaderSettings())


def one_by_one(find, asked, start, hops, expanded):
    """Every path from a start, a dictionary of steps at a time."""
    vocabulary, total = find.vocabulary, find.kg.num_relations
    alone = isinstance(start.query, Entities)
    level, found = [start], []

    def leads_on(code):
        return vocabulary.ends_kind(code) == "thing" and vocabulary.truths(code) is None

    for hop in range(hops):
        longer = []
        for path in level[: expanded if hop < 3 else walks.FURTHEST]:
            named = path.relations or path.classes or path.measure >= 0
            for code in range(2 * total):
                if code >= total and code - total in vocabulary.symmetric:
                    continue
                codes = {code, code + total} if code in vocabulary.symmetric else {code}
                reached = find.vocabulary.around.ends(path.ends)
                ends = sorted({end for some in codes for end in reached.get(some, [])})
                typed = vocabulary.role(code) == "type" and (code >= total or path.relations)
                if not ends or typed or vocabulary.role(code) == "alias":
                    continue
                left = [end for end in ends if not alone or end not in start.ends]
                turned = path.relations and abs(code - path.last) == total
                if not left and (turned or code in vocabulary.symmetric):
                    continue
                through = bool(path.relations) and find.joins_others(int(path.ends[0]))
                longer.append(
                    path._replace(
                        query=find.step(path.node, code, returns=not alone or not left),
                        ends=np.array(left or ends),
                        relations=(*path.relations, code),
                        last=code,
                        between=(*path.between, *(find.ends_classes(path.ends) if named else ())),
                        through=path.through + through,
                        legs=((path.legs[0][0], (*path.legs[0][1], code)),),
                    )
                )
        longer = find.marked(asked, longer)
        found += [one for one in longer if find.answers(asked, one)]
        level = walks.ranked(one for one in longer if leads_on(one.last))
    return found


def told(found):
    return [(one.query, one.ends.tolist(), *one[2:15]) for one in found]


@pytest.mark.parametrize("at_once", [1, 200_000])
@pytest.mark.parametrize("question", QUESTIONS)
def test_paths_are_those_that_are_found_one_by_one(readings, monkeypatch, question, at_once):
    monkeypatch.setattr(walks, "_AT_ONCE", at_once)
    find, asked = readings.find, readings.asked(question)
    for name in ("Ann", "Cy", "kettle", "yes"):
        place = SHOP.entity_ids.index(name)
        said = frozenset([1]) if name == "kettle" else frozenset()
        start = Candidate(Entities((name,)), np.array([place]), legs=((0, ()),), explained=said)
        expected = one_by_one(find, asked, start, 3, ReaderSettings().expanded)
        found = find.paths(asked, start, 3)
        assert told(found) == told(expected)
        np.testing.assert_allclose([c.quick for c in found], [c.quick for c in expected], atol=1e-5)
        best = find.paths(asked, start, 3, 4)
        for length in (1, 2, 3):
            some = [c for c in found if len(c.relations) == length]
            kept = [c for c in best if len(c.relations) == length]
            assert told(walks.ranked(kept)) == told(walks.ranked(some)[:4])


def test_a_set_with_too_many_edges_is_told_and_not_walked_on_from(readings):
    asked, find = readings.asked(QUESTIONS[0]), readings.find
    small = walks.Walks(find.vocabulary, ReaderSettings(edges=5))
    start = Candidate(Entities(("Ann",)), np.array([SHOP.entity_ids.index("Ann")]), legs=((0, ()),))
    assert small.paths(asked, start, 1) == []
    assert asked.cut


def test_ends_are_left_out_and_what_has_no_others_comes_home():
    ends = np.array([1, 4, 4, 2, 4, 7])
    size = np.array([2, 1, 3])
    start = np.cumsum(size) - size
    some = Further(np.array([0, 0, 1]), np.array([3, 5, 3]), start, size, ends, np.zeros(3, bool))
    found = some.but(np.array([4]))
    assert [found.ends_of(place).tolist() for place in range(3)] == [[1], [4], [2, 7]]
    assert found.home.tolist() == [False, True, False]
    found = some.but(np.array([1, 4]))
    assert [found.ends_of(place).tolist() for place in range(3)] == [[1, 4], [4], [2, 7]]
    assert found.home.tolist() == [True, True, False]
    assert some.but(np.array([9])) is some
    both = joined([some, found.some(np.array([False, True, True]))])
    assert [both.ends_of(p).tolist() for p in range(5)] == [[1, 4], [4], [2, 4, 7], [4], [2, 7]]
    assert both.first.tolist() == [1, 4, 2, 4, 2]
    assert both.home.tolist() == [False, False, False, True, False]


def test_classes_of_many_sets_are_those_of_each(readings):
    vocabulary, rng = readings.vocabulary, np.random.default_rng(0)
    people = [SHOP.entity_ids.index(name) for name in ("Ann", "Bob", "Cy", "kettle", "lamp")]
    sets = [np.unique(rng.choice(people, n)) for n in rng.integers(1, 5, 40)]
    size = np.array([len(some) for some in sets])
    start, zero = np.cumsum(size) - size, np.zeros(40, np.int64)
    further = Further(zero, zero, start, size, np.concatenate(sets), zero > 0)
    shared = SharedClasses(vocabulary)
    for _ in range(2):  # and again, from what is kept
        kinds, at = shared.of_each(further)
        for some, place in zip(sets, at.tolist()):
            of = [set(vocabulary.kinds_of(end)) for end in some.tolist()]
            assert set(kinds[place]) == set.intersection(*of) == set(shared.of(some))
    assert len({frozenset(some) for some in kinds}) > 2
