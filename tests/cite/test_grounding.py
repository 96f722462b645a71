import dataclasses

import pytest
from cited_answers import answer_along

from jaxkg.answer import Answer
from jaxkg.cite import check, check_all, cite_path, grounded
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.builtin import demo_graph
from jaxkg.records import Citation, Link, RankedEntity

CO_STARS = ("directed_by", "^directed_by", "starred")


@pytest.fixture(scope="module")
def kg():
    return demo_graph()


@pytest.fixture(scope="module")
def answer(kg):
    return answer_along(kg, ["Alien"], CO_STARS, "Who starred in films by Alien's director?")


def with_path(answer, **changes):
    """The answer with its first path changed."""
    first, *others = answer.paths
    return dataclasses.replace(answer, paths=(dataclasses.replace(first, **changes), *others))


def with_citation(answer, at, **changes):
    """The answer with one triple of its first path changed."""
    cited = list(answer.paths[0].citations)
    cited[at] = dataclasses.replace(cited[at], **changes)
    return with_path(answer, citations=tuple(cited))


def with_entity(answer, **changes):
    """The answer with its first entity changed."""
    first, *others = answer.entities
    return dataclasses.replace(answer, entities=(dataclasses.replace(first, **changes), *others))


def with_topic(answer, **changes):
    return dataclasses.replace(answer, topics=(dataclasses.replace(answer.topics[0], **changes),))


def test_an_answer_out_of_the_graph_is_grounded(kg, answer):
    assert len(answer.entities) == 6
    assert check(kg, answer) == ()
    assert grounded(kg, answer)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("head", "Aliens"),
        ("relation", "written_by"),
        ("tail", "Tony Scott"),
        ("head_name", "Aliens"),
        ("tail_name", "Tony Scott"),
        ("source", "elsewhere.tsv:1"),
        ("source", None),
    ],
)
def test_a_triple_that_reads_otherwise_is_found(kg, answer, field, value):
    there = getattr(answer.paths[0].citations[0], field)
    faults = check(kg, with_citation(answer, 0, **{field: value}))
    assert f"path 'p1' cites triple 56 with {field} {value!r}, where the graph has {there!r}" in (
        faults
    )


@pytest.mark.parametrize("row", [979, -1, 10**30, "56", None, 56.0])
def test_a_row_the_graph_has_not_is_found(kg, answer, row):
    faults = check(kg, with_citation(answer, 0, triple=row))
    assert faults == (f"path 'p1' cites triple {row!r} of a graph of 979",)


def without_first_triple(answer):
    path = answer.paths[0]
    return with_path(
        answer,
        citations=path.citations[1:],
        relation_path=path.relation_path[1:],
        sentence=path.sentence.partition("; ")[2],
    )


def twice(answer):
    return dataclasses.replace(answer, entities=(answer.entities[0], *answer.entities))


BREAKS = "path 'p1' breaks: it ends at 'Ridley Scott' and continues from 'Blade Runner'"
STATED = ("directed_by", "directed_by", "starred")
FAULTS = {
    "another triple's row": (lambda a: with_citation(a, 0, triple=33), ["cites triple 33 with "]),
    "two wrong names": (
        lambda a: with_citation(a, 2, head_name="A", tail_name="B"),
        ["'A', where the graph has 'Blade Runner', and tail_name 'B', where",
         "answer 'Harrison Ford' cites path 'p1', which calls it 'B', not 'Harrison Ford'"],
    ),
    "the other way": (
        lambda a: with_citation(a, 1, inverse=False),
        [BREAKS, "path 'p1' breaks: ", "states the relations"],
    ),
    "no direction": (
        lambda a: with_citation(a, 1, inverse="false"),
        ["path 'p1' has 'false' for the direction of triple 149"],
    ),
    "out of order": (
        lambda a: with_path(a, citations=a.paths[0].citations[::2]),
        [BREAKS, "states the relations"],
    ),
    "from elsewhere": (
        without_first_triple, ["path 'p1' starts at 'Ridley Scott', which is no chosen topic"],
    ),
    "a runner-up": (
        lambda a: with_topic(a, chosen=False),
        [f"path 'p{n}' starts at 'Alien', which is no chosen topic" for n in range(1, 7)],
    ),
    "other relations": (
        lambda a: with_path(a, relation_path=STATED),
        [f"path 'p1' states the relations {STATED}, and walks {CO_STARS}"],
    ),
    "another sentence": (
        lambda a: with_path(a, sentence=a.paths[0].sentence.replace("Alien", "Prometheus")),
        ["path 'p1' is told as 'Prometheus, directed by"],
    ),
    "no triple": (
        lambda a: with_path(a, citations=(), relation_path=(), sentence=""),
        ["path 'p1' cites no triple",
         "answer 'Harrison Ford' cites path 'p1', which ends in ''"],
    ),
    "an answer elsewhere": (
        lambda a: with_entity(a, paths=("p1", "p2")),
        ["answer 'Harrison Ford' cites path 'p2', which ends in 'Rutger Hauer'"],
    ),
    "no path": (lambda a: with_entity(a, paths=()), ["answer 'Harrison Ford' cites no path"]),
    "no such path": (
        lambda a: with_entity(a, paths=("p1", "p99")),
        ["answer 'Harrison Ford' cites path 'p99', which is none of the paths here"],
    ),
    "another name": (
        lambda a: with_entity(a, name="Indiana Jones"),
        ["cites path 'p1', which calls it 'Harrison Ford', not 'Indiana Jones'"],
    ),
    "an answer twice": (twice, ["answer 'Harrison Ford' is listed more than once"]),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_is_found_and_no_other(kg, answer, name):
    change, expected = FAULTS[name]
    faults = check(kg, change(answer))
    assert len(faults) == len(expected), faults
    for words in expected:
        assert any(words in fault for fault in faults), (words, faults)


def test_names_and_ids_that_others_use_are_found(kg, answer):
    faults = check(kg, with_topic(answer, name="Aliens"))
    assert faults[0] == "path 'p1' starts at 'Alien', which the topics call 'Aliens'"
    assert "path id 'p2' is used more than once" in check(kg, with_path(answer, id="p2"))


def test_a_homonym_put_in_the_others_place_is_found(kg):
    films = answer_along(kg, ["Steve McQueen (director)"], ("^directed_by",))
    assert check(kg, films) == ()
    actor = dataclasses.replace(
        films, topics=(dataclasses.replace(films.topics[0], entity="Steve McQueen (actor)"),)
    )
    assert len(check(kg, actor)) == len(films.paths) > 0


def test_a_path_nobody_cites_is_checked_too(kg, answer):
    unused = dataclasses.replace(answer, entities=answer.entities[1:])
    assert check(kg, unused) == ()
    assert len(check(kg, with_citation(unused, 0, tail="Tony Scott"))) > 0


def test_an_abstention_is_grounded_and_must_give_its_reason(kg, answer):
    assert grounded(kg, Answer("?", abstained="no topic was found"))
    assert grounded(kg, Answer("?", error="timeout: no reply"))
    assert grounded(kg, dataclasses.replace(answer, entities=(), abstained="refused"))
    assert check(kg, Answer("?")) == ("the answer lists no entity and does not say why",)
    assert check(kg, dataclasses.replace(answer, abstained="unsure")) == (
        "the answer abstains and yet lists entities",
    )


def test_an_answer_of_another_graph_is_not_grounded(kg, answer):
    fewer = kg.remove([("Alien", "directed_by", "Ridley Scott")])
    assert not grounded(fewer, answer)


def test_many_answers_are_checked_each_for_itself(kg, answer):
    other = answer_along(kg, ["France"], ("^citizen_of",))
    wrong = with_entity(other, paths=())
    alone = [check(kg, each) for each in (answer, wrong, other)]
    assert check_all(kg, [answer, wrong, other]) == alone
    assert [len(faults) for faults in alone] == [0, 1, 0]
    assert check_all(kg, []) == []


def test_a_graph_without_sources_is_checked_for_none():
    kg = KnowledgeGraph.from_triples([("a", "r", "b")])
    cited = Citation(0, "a", "r", "b", "a", "b", False, None)
    one = answer_along(kg, ["a"], ("r",))
    assert one.paths[0].citations == (cited,)
    assert check(kg, one) == ()
    [fault] = check(kg, with_citation(one, 0, source="made-up.tsv:1"))
    assert "source 'made-up.tsv:1', where the graph has None" in fault


def test_topics_and_answers_may_be_one_entity():
    kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "s", "a")])
    path = cite_path(kg, [0, 1], [False, False], id="p1", score=1.0)
    there_and_back = Answer(
        "?",
        topics=(Link("a", "a", 0, 1, 1.0, "given"),),
        entities=(RankedEntity("a", "a", 1.0, ("p1",)),),
        paths=(path,),
    )
    assert check(kg, there_and_back) == ()
