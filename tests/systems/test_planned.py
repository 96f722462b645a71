"""Planned answers: a learned planner on the demo graph, plans as told on a tiny one."""

import dataclasses

import numpy as np
import pytest
from planners import demo_planner

from jaxkg.answer import Answer
from jaxkg.cite import check, check_all
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, Linker, demo_questions
from jaxkg.learn.planner.model import Planner
from jaxkg.learn.planner.wordings import Wordings
from jaxkg.records import Question
from jaxkg.score.planner import PlannerParams
from jaxkg.search import plans as planning
from jaxkg.search.plans import Plans
from jaxkg.systems import planned
from jaxkg.systems.answering import as_question
from jaxkg.systems.planned import PlannedQA, PlannedSettings
from jaxkg.tensors import Capacities, tensor_graph
from jaxkg.text import HashingEncoder, NgramHasher
from jaxkg.words import TOPIC_WORD


@pytest.fixture(scope="module")
def demo(cache) -> PlannedQA:
    kg, tensors, planner = demo_planner(cache)
    # Batches of eight: one question and forty run the same program.
    return PlannedQA.build(
        kg, planner, tensors=tensors, settings=PlannedSettings(threshold=0.05, batch_size=8)
    )


def entities(answer: Answer) -> set[str]:
    return {entity.entity for entity in answer.entities}


def timeless(answer: Answer) -> Answer:
    return dataclasses.replace(answer, usage=None)


def assert_each_entity_has_a_path_that_ends_in_it(answer: Answer) -> None:
    paths = {path.id: path for path in answer.paths}
    assert len(paths) == len(answer.paths)
    for entity in answer.entities:
        assert entity.paths
        for id in entity.paths:
            assert paths[id].end == (entity.entity, entity.name)
    assert {id for entity in answer.entities for id in entity.paths} == set(paths)


def test_questions_without_brackets_are_answered_and_every_answer_is_cited(demo):
    told = []
    answers = demo.answer(
        demo_questions(), use_given=False, on_progress=lambda *step: told.append(step)
    )
    assert check_all(demo.kg, answers) == [()] * len(answers)
    right = sum(entities(a) == set(q.answers) for a, q in zip(answers, demo_questions()))
    assert right >= 0.8 * len(answers)
    for answer in answers:
        assert answer.usage.stages.keys() == {"link", "plan", "follow", "cite"}
        assert_each_entity_has_a_path_that_ends_in_it(answer)
    assert ("plan", len(answers), len(answers)) in told
    assert told[-1][0] == "follow"


def test_text_from_a_person_may_mark_its_topic(demo):
    question = as_question("who directed [Alien]?")
    assert question == Question(id="q1", text="who directed Alien?", mention=(13, 18))
    marked, bare = demo.ask("who directed [Alien]?"), demo.ask("who directed Alien?")
    assert marked.topics[0].method == "bracket"
    assert bare.topics[0].method == "exact"
    assert entities(marked) == entities(bare) == {"Ridley Scott"}


def test_homonyms_are_asked_together_and_told_apart(demo):
    directed = demo.ask("which films did Steve McQueen direct?")
    assert {link.entity for link in directed.topics if link.chosen} == {
        "Steve McQueen (actor)",
        "Steve McQueen (director)",
    }
    assert entities(directed) == {"12 Years a Slave", "Hunger"}
    assert {path.citations[0].tail for path in directed.paths} == {"Steve McQueen (director)"}
    assert check(demo.kg, directed) == ()


def test_a_planner_of_another_graph_is_refused(demo):
    other = KnowledgeGraph.from_triples([("a", "r", "b")])
    with pytest.raises(JaxkgError, match="trained for another graph"):
        PlannedQA.build(other, demo.planner)


TINY = (
    ("a", "r", "b"),
    ("a", "r", "c"),
    ("a", "s", "c"),
    ("a", "s", "d"),
    ("b", "s", "b"),
    ("d", "r", "a"),
)
R, S = 0, 1


@pytest.fixture
def tiny(monkeypatch):
    """Make a system over `TINY` that plans as it is told: [(relation codes, probability), ...]."""
    kg = KnowledgeGraph.from_triples(TINY)
    tensors, linker = tensor_graph(kg), Linker(kg)
    hasher = NgramHasher(buckets=8)
    seen = np.ones(8, bool)
    planner = Planner(PlannerParams(*[np.zeros(0)] * 8), kg.relations, hasher, 2, seen)

    def make(*plans, complete=True, known=True, about=None, **settings) -> PlannedQA:
        relations = np.full((len(plans), 2), -1, np.int32)
        for row, (codes, _) in enumerate(plans):
            relations[row, : len(codes)] = codes
        probability = np.asarray([p for _, p in plans], np.float32)

        def as_told(tensors, planner, masked, topics, **_):
            there = np.asarray([bool(some) for some in topics])
            return Plans(
                np.repeat(relations[None], len(masked), 0),
                there[:, None] * probability,
                np.full(len(masked), complete),
            )

        monkeypatch.setattr(planned, "plan_paths", as_told)
        of = dataclasses.replace(planner, about=about or {}, seen=seen & known)
        options = PlannedSettings(batch_size=8, **settings)
        return PlannedQA.build(kg, of, tensors=tensors, linker=linker, settings=options)

    return make


def asked(*topics: str) -> Question:
    return Question(id="t", text="what about a?", topics=topics or ("a",))


def test_the_best_plan_alone_or_the_union_of_good_ones(tiny):
    plans = [((R,), 0.5), ((S,), 0.3), ((R, S), 0.1), ((), 0.0)]
    best = tiny(*plans).ask(asked())
    assert [(e.entity, e.paths) for e in best.entities] == [("b", ("p1",)), ("c", ("p2",))]
    assert [p.used for p in best.plan] == [True, False, False]
    assert [p.reached for p in best.plan] == [2, None, None]
    union = tiny(*plans, mode="union").ask(asked())
    # c is reached by both good plans, so their probabilities add up.
    assert [(e.entity, e.paths) for e in union.entities] == [
        ("c", ("p2", "p3")),
        ("b", ("p1",)),
        ("d", ("p4",)),
    ]
    assert [e.score for e in union.entities] == pytest.approx([0.8, 0.5, 0.3])
    assert [p.used for p in union.plan] == [True, True, False]
    assert [p.relation_path for p in union.paths] == [("r",), ("r",), ("s",), ("s",)]
    assert_each_entity_has_a_path_that_ends_in_it(union)
    assert sum(p.used for p in tiny(*plans, mode="union", share=0.9).ask(asked()).plan) == 1


def test_below_the_threshold_nothing_is_answered(tiny):
    plans = [((R,), 0.5), ((S,), 0.2)]
    assert entities(tiny(*plans, threshold=0.5).ask(asked())) == {"b", "c"}
    answer = tiny(*plans, threshold=0.51).ask(asked())
    assert (answer.entities, answer.paths) == ((), ())
    assert "(the r of it) has confidence 0.50, below the threshold of 0.51" in answer.abstained
    assert [(p.used, p.reached) for p in answer.plan] == [(False, None)] * 2
    # Words that training never showed count against a plan.
    strange = tiny(*plans, threshold=0.5, known=False).ask(asked())
    assert "confidence 0.00" in strange.abstained
    assert "(its probability is 0.500; " in strange.abstained
    assert "its probability" not in answer.abstained
    near = tiny(((R,), 0.1483), threshold=0.15).ask(asked())
    assert "confidence 0.148, below the threshold of 0.150" in near.abstained


def test_why_there_is_no_answer(tiny):
    qa = tiny(((R,), 0.9))
    assert "no entity of the graph is recognised" in qa.ask("what about zzz?").abstained
    missing = qa.ask(asked("zzz"))
    assert missing.abstained == "the topic 'zzz' is not in the graph"
    assert missing.notes == ("the graph has no entity 'zzz'",)
    partly = qa.ask(asked("a", "zzz"))
    assert entities(partly) == {"b", "c"}
    assert partly.notes == missing.notes
    nothing = tiny(((R,), 0.0)).ask(asked())
    assert "no relation path the planner knows leaves the topic" in nothing.abstained
    assert check(qa.kg, missing) == check(qa.kg, nothing) == ()


def test_a_path_that_only_returns(tiny):
    # r then its inverse: b and c are each reached from a alone.
    back = ((R, R + 2), 0.9)
    answer = tiny(back).ask(asked())
    assert (
        answer.abstained
        == "the relation path things whose r is the r of it leads nowhere but back to the topic"
    )
    assert answer.plan[0].reached == 0
    assert entities(tiny(back, revisit="any").ask(asked())) == {"a"}


def test_the_rule_of_return_is_the_planners_unless_set(tiny):
    loop = ((R, S), 0.9)  # a, b and along the loop b again
    assert tiny(loop).revisit == "topic"
    assert entities(tiny(loop).ask(asked())) == {"b"}
    assert entities(tiny(loop, about={"revisit": "none"}).ask(asked())) == set()
    assert entities(tiny(loop, about={"revisit": "none"}, revisit="any").ask(asked())) == {"b"}


def test_a_planner_from_labels_says_so(tiny):
    note = tiny(((R,), 0.9), about={"labels_only": True}).ask(asked()).notes
    assert "jaxkg train planner" in note[0]
    assert tiny(((R,), 0.9)).ask(asked()).notes == ()


@pytest.mark.parametrize("where", ["plan", "follow"])
def test_what_outgrows_the_largest_bucket_is_said(tiny, monkeypatch, where):
    if where == "follow":
        monkeypatch.setattr(
            planning, "Capacities", lambda slots, **_: Capacities((1,) * len(slots), limit=1)
        )
    qa = tiny(((R,), 0.9), complete=where != "plan")
    answer = qa.ask(asked())
    assert [note for note in answer.notes if "outgrew" in note]
    assert check(qa.kg, answer) == ()


def test_paths_are_numbered_anew_for_each_question(tiny):
    qa = tiny(((R,), 0.9), ((S,), 0.8), mode="union")
    answers = qa.answer([asked(), asked("zzz"), asked("d"), asked()])
    assert [[p.id for p in a.paths] for a in answers] == [
        ["p1", "p2", "p3", "p4"],
        [],
        ["p1"],
        ["p1", "p2", "p3", "p4"],
    ]
    assert timeless(answers[0]) == timeless(answers[3])
    assert answers[2].paths[0].citations[0].head == "d"
    assert check_all(qa.kg, answers) == [()] * 4


class Penned:
    """Letters, of words that mean the same one and the same."""

    name, revision, dimension = "penned", "1", HashingEncoder().dimension

    def __call__(self, texts):
        said = [text.replace("penned", "wrote").replace("helmed", "directed") for text in texts]
        return HashingEncoder()(said)


def test_a_question_in_other_words_is_planned_as_the_nearest_it_was_trained_on(demo):
    masked = [f"who wrote {TOPIC_WORD}", f"who directed {TOPIC_WORD}", f"is {TOPIC_WORD} a film"]
    planner = dataclasses.replace(demo.planner, wordings=Wordings.of(masked))
    qa = dataclasses.replace(demo, planner=planner, encoder=Penned)
    asked = [as_question(text) for text in ("who penned [Alien]?", "who directed [Alien]?")]
    penned, directed = qa.answer(asked)
    wrote = demo.ask("who wrote [Alien]?")
    assert entities(penned) == entities(wrote) != entities(directed)
    assert [plan.relations for plan in penned.plan][:1] == [("written_by",)]
    assert "nearest to it: 'who wrote …'" in " ".join(penned.notes)
    assert not directed.notes
    assert timeless(directed) == timeless(demo.ask("who directed [Alien]?"))
    _, told = qa.traced(asked[0])
    assert [node.text for node in told[1].below][:1] == ["who wrote …"]
