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


def test_it_still_is_after_a_trip_through_json(kg, answer):
    assert check(kg, Answer.from_json(answer.to_json())) == ()


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


def test_every_wrong_field_of_a_triple_is_named_in_one_sentence(kg, answer):
    first, *others = check(kg, with_citation(answer, 2, head_name="A", tail_name="B"))
    assert "head_name 'A', where the graph has 'Blade Runner', and tail_name 'B', where" in first
    assert others == [
        "answer 'Harrison Ford' cites path 'p1', which calls it 'B', not 'Harrison Ford'"
    ]


@pytest.mark.parametrize("row", [979, -1, 10**30, "56", None, 56.0])
def test_a_row_the_graph_has_not_is_found(kg, answer, row):
    faults = check(kg, with_citation(answer, 0, triple=row))
    assert faults == (f"path 'p1' cites triple {row!r} of a graph of 979",)


def test_the_row_of_another_triple_is_found(kg, answer):
    [fault] = check(kg, with_citation(answer, 0, triple=33))
    assert fault.startswith("path 'p1' cites triple 33 with ")


def test_a_triple_walked_the_other_way_is_found(kg, answer):
    faults = check(kg, with_citation(answer, 1, inverse=False))
    assert "path 'p1' breaks: it ends at 'Ridley Scott' and continues from 'Blade Runner'" in faults
    assert any("states the relations" in fault for fault in faults)


def test_a_direction_that_is_no_truth_value_is_found(kg, answer):
    assert check(kg, with_citation(answer, 1, inverse="false")) == (
        "path 'p1' has 'false' for the direction of triple 149",
    )


def test_triples_out_of_order_are_found(kg, answer):
    citations = answer.paths[0].citations
    faults = check(kg, with_path(answer, citations=(citations[0], citations[2])))
    assert "path 'p1' breaks: it ends at 'Ridley Scott' and continues from 'Blade Runner'" in faults


def test_a_path_from_elsewhere_is_found(kg, answer):
    citations = answer.paths[0].citations[1:]
    moved = with_path(answer, citations=citations, relation_path=answer.paths[0].relation_path[1:])
    moved = with_path(moved, sentence=answer.paths[0].sentence.partition("; ")[2])
    assert check(kg, moved) == ("path 'p1' starts at 'Ridley Scott', which is no chosen topic",)


def test_a_runner_up_is_no_topic_to_start_from(kg, answer):
    faults = check(kg, with_topic(answer, chosen=False))
    assert faults == tuple(
        f"path 'p{n}' starts at 'Alien', which is no chosen topic" for n in range(1, 7)
    )


def test_a_topic_under_a_wrong_name_is_found(kg, answer):
    faults = check(kg, with_topic(answer, name="Aliens"))
    assert faults[0] == "path 'p1' starts at 'Alien', which the topics call 'Aliens'"


def test_relations_other_than_the_triples_are_found(kg, answer):
    stated = ("directed_by", "directed_by", "starred")
    assert check(kg, with_path(answer, relation_path=stated)) == (
        f"path 'p1' states the relations {stated}, and walks {CO_STARS}",
    )
    assert len(check(kg, with_path(answer, relation_path=CO_STARS[:2]))) == 1


def test_a_sentence_the_triples_do_not_say_is_found(kg, answer):
    there = answer.paths[0].sentence
    [fault] = check(kg, with_path(answer, sentence=there.replace("Alien", "Prometheus")))
    assert fault.startswith("path 'p1' is told as 'Prometheus, directed by")
    assert fault.endswith(f"where its triples say {there!r}")


def test_a_path_without_triples_is_found(kg, answer):
    faults = check(kg, with_path(answer, citations=(), relation_path=(), sentence=""))
    assert faults[0] == "path 'p1' cites no triple"
    assert "answer 'Harrison Ford' cites path 'p1', which ends in ''" in faults


def test_path_ids_used_twice_are_found(kg, answer):
    assert "path id 'p2' is used more than once" in check(kg, with_path(answer, id="p2"))


def test_an_answer_no_path_ends_in_is_found(kg, answer):
    assert check(kg, with_entity(answer, paths=("p2",))) == (
        "answer 'Harrison Ford' cites path 'p2', which ends in 'Rutger Hauer'",
    )
    # One right path does not excuse a wrong one.
    assert len(check(kg, with_entity(answer, paths=("p1", "p2")))) == 1


def test_an_answer_without_a_path_is_found(kg, answer):
    assert check(kg, with_entity(answer, paths=())) == ("answer 'Harrison Ford' cites no path",)


def test_a_cited_path_that_is_not_there_is_found(kg, answer):
    assert check(kg, with_entity(answer, paths=("p1", "p99"))) == (
        "answer 'Harrison Ford' cites path 'p99', which is none of the paths here",
    )


def test_an_answer_under_a_wrong_name_is_found(kg, answer):
    assert check(kg, with_entity(answer, name="Indiana Jones")) == (
        "answer 'Harrison Ford' cites path 'p1', which calls it 'Harrison Ford', "
        "not 'Indiana Jones'",
    )


def test_an_answer_listed_twice_is_found(kg, answer):
    twice = dataclasses.replace(answer, entities=(answer.entities[0], *answer.entities))
    assert check(kg, twice) == ("answer 'Harrison Ford' is listed more than once",)


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
