import pytest

from jaxkg.kg import KnowledgeGraph, Linker, Topics, entity_rows, find_topics
from jaxkg.records import Question

FACTS = [
    ("m1", "starred", "Ann Lee"),
    ("m2", "starred", "Ann Lee"),
    ("m3", "starred", "Bob"),
    ("Twins", "starred", "Bob"),
]
NAMES = {"m1": "Twins", "m2": "Twins", "m3": "Heat"}


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker(KnowledgeGraph.from_triples(FACTS, names=NAMES))


def topics_of(linker, text, *topics, mention=None, **options) -> Topics:
    [found] = find_topics(linker, [Question("q", text, topics, mention=mention)], **options)
    return found


def ids(linker, found):
    return [linker.graph.entity_ids[row] for row in found.entities]


def test_an_id_wins_over_names_and_a_name_means_all_its_bearers(linker):
    graph = linker.graph
    rows = {
        name: [graph.entity_ids[row] for row in entity_rows(graph, name)]
        for name in ("m1", "Heat", "Twins", "absent")
    }
    assert rows == {"m1": ["m1"], "Heat": ["m3"], "Twins": ["Twins"], "absent": []}
    homonyms = KnowledgeGraph.from_triples(FACTS[:3], names=NAMES)
    assert len(entity_rows(homonyms, "Twins")) == 2


def test_without_given_topics_the_text_is_linked(linker):
    found = topics_of(linker, "who starred in Heat")
    assert ids(linker, found) == ["m3"]
    assert found.spans == ((15, 19),)
    assert found.missing == ()
    assert found.links[0].method == "exact"
    assert topics_of(linker, "who starred in nothing").entities == ()


def test_a_given_topic_is_kept_and_its_mention_found(linker):
    found = topics_of(linker, "is Ann Lee in Heat", "m3")
    assert ids(linker, found) == ["m3"]
    [link] = found.links
    assert (link.entity, link.name, link.method, link.score) == ("m3", "Heat", "given", 1.0)
    assert found.spans == ((14, 18),)
    assert (link.start, link.end) == (14, 18)


def test_a_given_mention_is_taken_as_it_is(linker):
    found = topics_of(linker, "is she in Heat", "Ann Lee", mention=(3, 6))
    assert ids(linker, found) == ["Ann Lee"]
    assert found.spans == ((3, 6),)
    assert (found.links[0].start, found.links[0].end) == (3, 6)
    unmentioned = topics_of(linker, "is she in it", "Ann Lee")
    assert unmentioned.spans == ()
    assert unmentioned.entities == found.entities


def test_given_topics_that_the_graph_lacks_are_named(linker):
    found = topics_of(linker, "Heat or Cold", "Heat", "Cold", "m3")
    assert ids(linker, found) == ["m3"]
    assert found.missing == ("Cold",)
    assert topics_of(linker, "Heat", "Cold") == Topics((), (), (), ("Cold",))


def test_given_topics_and_mentions_can_be_hidden(linker):
    found = topics_of(linker, "is Bob in it", "m3", mention=(0, 2), use_given=False)
    assert ids(linker, found) == ["Bob"]
    assert found.spans == ((3, 6),)
    marked = topics_of(linker, "is Bob in Heat", mention=(10, 14))
    assert ids(linker, marked) == ["m3"]
    assert marked.links[0].method == "bracket"


def test_each_topic_says_where_it_is_mentioned():
    linker = Linker(KnowledgeGraph.from_triples(FACTS, names=NAMES), max_topics=2)
    found = topics_of(linker, "is Ann Lee in Heat", "m3", "Ann Lee")
    assert found.spans == ((3, 10), (14, 18))
    assert [(link.entity, link.start, link.end) for link in found.links] == [
        ("m3", 14, 18),
        ("Ann Lee", 3, 10),
    ]


def test_questions_keep_their_order(linker):
    asked = [Question("a", "Heat"), Question("b", "?", ("Bob",)), Question("c", "Ann Lee")]
    found = find_topics(linker, asked)
    assert [ids(linker, some) for some in found] == [["m3"], ["Bob"], ["Ann Lee"]]
