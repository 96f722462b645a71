import pytest

from jaxkg.cite import cite_path
from jaxkg.kg import KnowledgeGraph


def walk(facts, *steps, names=None):
    """Tell a walk given as (head, relation, tail, direction) over a graph of these facts."""
    kg = KnowledgeGraph.from_triples(facts, names=names)
    rows = {kg.triple(row): row for row in range(kg.num_triples)}
    walk, back = [rows[step[:3]] for step in steps], [step[3] == "back" for step in steps]
    return cite_path(kg, walk, back, id="p", score=1.0).sentence


ROLE = [
    ("Natalie Portman", "film.actor.film", "m.0k2kf4"),
    ("Star Wars", "film.film.starring", "m.0k2kf4"),
    ("m.0k2kf4", "film.performance.film", "Star Wars"),
    ("m.0k2kf4", "film.performance.actor", "Natalie Portman"),
    ("m.0k2kf4", "film.performance.character", "Padmé"),
    ("Star Wars", "film.film.genre", "Space opera"),
]
ACTED, STARRED, FILM, ACTOR, CHARACTER, GENRE = ROLE


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        (
            [(*ACTED, "on"), (*FILM, "on")],
            "Natalie Portman, actor film, performance film: Star Wars",
        ),
        (
            [(*FILM, "back"), (*ACTED, "back")],
            "Natalie Portman, actor film, performance film: Star Wars",
        ),
        (
            [(*FILM, "back"), (*ACTOR, "on")],
            "one entry with performance film: Star Wars and performance actor: Natalie Portman",
        ),
        (
            [(*ACTED, "on"), (*STARRED, "back")],
            "Natalie Portman, actor film, and Star Wars, film starring: the same entry",
        ),
        (
            [(*ACTED, "on"), (*FILM, "on"), (*GENRE, "on")],
            "Natalie Portman, actor film, performance film: Star Wars; "
            "Star Wars, film genre: Space opera",
        ),
        (
            [(*GENRE, "back"), (*STARRED, "on"), (*ACTOR, "on")],
            "Star Wars, film genre: Space opera; "
            "Star Wars, film starring, performance actor: Natalie Portman",
        ),
    ],
)
def test_the_triples_around_a_node_without_a_name_are_told_as_one(steps, told):
    assert walk(ROLE, *steps) == told


def test_an_end_without_a_name_is_told_by_its_neighbours():
    assert (
        walk(ROLE, (*ACTED, "on")) == "Natalie Portman, actor film: m.0k2kf4 "
        "(performance character: Padmé, performance film: Star Wars)"
    )
    # A walk may begin at such a node, too.
    assert (
        walk(ROLE, (*CHARACTER, "on"))
        == "m.0k2kf4 (performance actor: Natalie Portman, performance film: Star Wars), "
        "performance character: Padmé"
    )


def test_only_a_few_neighbours_are_told_and_that_there_are_more():
    facts = [("Ann", "owns", "m.0a"), *(("m.0a", "part", f"P{n}") for n in range(5))]
    assert walk(facts, (*facts[0], "on")) == ("Ann, owns: m.0a (part: P0, part: P1, part: P2, …)")
    assert walk(facts[:4], (*facts[0], "on")) == "Ann, owns: m.0a (part: P0, part: P1, part: P2)"


def test_nodes_without_names_one_after_another():
    facts = [
        ("Ann", "a", "m.0x"),
        ("m.0x", "b", "m.0y"),
        ("m.0y", "c", "Bob"),
        ("m.0y", "d", "m.0x"),
        ("Bob", "e", "m.0y"),
    ]
    along = [(*facts[0], "on"), (*facts[1], "on"), (*facts[2], "on")]
    assert walk(facts, *along) == "Ann, a, b, c: Bob"
    once = [(*facts[0], "on"), (*facts[1], "on"), (*facts[4], "back")]
    assert walk(facts, *once) == "Ann, a, b, and Bob, e: the same entry"
    # Where the walk goes against the triples, their relations are still read with them.
    against = [("Bob", "f", "m.0z", "on"), ("m.0x", "b", "m.0z", "back")]
    facts += [fact[:3] for fact in against] + [("m.0v", "g", "m.0x"), ("Cy", "h", "m.0v")]
    meeting = [*against[:1], (*facts[-3], "back"), (*facts[-2], "back"), (*facts[-1], "back")]
    assert walk(facts, *meeting) == "Bob, f, and Cy, h, g, b: the same entry"
    parting = [(*facts[2], "back"), (*facts[1], "back"), ("m.0x", "b", "m.0z", "on")]
    facts.append(("m.0z", "i", "Di"))
    assert walk(facts, *parting, (*facts[-1], "on")) == "one entry with b, c: Bob and b, i: Di"
    # With two turns there are two nodes to speak of, and only their ids to tell them apart.
    twice = [(*facts[0], "on"), (*facts[3], "back"), (*facts[2], "on")]
    assert walk(facts, *twice) == "Ann, a: m.0x; m.0y, d: m.0x; m.0y, c: Bob"


def test_blank_nodes_have_no_name_and_a_machine_id_with_one_has():
    facts = [("Ann", "a", "_:b1"), ("_:b1", "b", "m.0y"), ("m.0y", "c", "Cy")]
    steps = [(*fact, "on") for fact in facts]
    assert walk(facts, *steps, names={"m.0y": "Bob"}) == "Ann, a, b: Bob; Bob, c: Cy"


def test_homonyms_of_one_walk_are_told_apart_by_id():
    facts = [("m.1", "by", "m.9"), ("m.2", "by", "m.9"), ("m.3", "by", "m.9")]
    names = {"m.1": "Kismet", "m.2": "Kismet", "m.9": "Dieterle", "m.3": "Faust"}
    both = [(*facts[0], "on"), (*facts[1], "back")]
    assert walk(facts, *both, names=names) == (
        "Kismet [m.1], by: Dieterle; Kismet [m.2], by: Dieterle"
    )
    # A namesake elsewhere in the graph counts as well: a reader knows no more than the sentence.
    one = [(*facts[0], "on"), (*facts[2], "back")]
    assert walk(facts, *one, names=names) == "Kismet [m.1], by: Dieterle; Faust, by: Dieterle"


def test_names_that_read_alike_once_cleaned_are_homonyms():
    facts = [("a", "by", "x"), ("b", "by", "x")]
    names = {"a": "Kis\nmet", "b": "Kis met"}
    told = walk(facts, (*facts[0], "on"), (*facts[1], "back"), names=names)
    assert told == "Kis met [a], by: x; Kis met [b], by: x"
