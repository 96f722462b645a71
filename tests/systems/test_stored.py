import dataclasses

import pytest

from jaxkg.adjudicate import Scripted
from jaxkg.errors import JaxkgError
from jaxkg.experiments.registry import build_system, default_system
from jaxkg.kg import KnowledgeGraph, demo_graph, demo_questions
from jaxkg.kg.stores.around import Reach
from jaxkg.kg.stores.arrays import ArrayStore
from jaxkg.learn.planner.kept import planner_for
from jaxkg.records import Question
from jaxkg.systems.parts import Parts
from jaxkg.systems.planned import PlannedQA
from jaxkg.systems.proh.system import ProhQA
from jaxkg.systems.reader.system import Reader
from jaxkg.systems.stored import INCOMPLETE, StoredQA
from jaxkg.tensors import tensor_graph
from jaxkg.text import HashingEncoder

ENCODER = HashingEncoder()


def reader(kg):
    return Reader.build(kg, ENCODER)


@pytest.fixture(scope="module")
def store():
    return ArrayStore(demo_graph())


def told(answer):
    cited = [[c.triple for c in path.citations] for path in answer.paths]
    return answer.abstained is None, [e.entity for e in answer.entities], cited, answer.reading


PARTS = Reach(whole=0)


@pytest.fixture(scope="module")
def by_whole(store):
    """What a reader of the whole graph says of the demo questions."""
    return list(map(told, reader(store.kg).answer(demo_questions())))


@pytest.mark.parametrize("together", [pytest.param(1, marks=pytest.mark.slow), 16])
def test_the_same_answers_as_over_the_whole_graph(store, by_whole, together):
    asked = demo_questions()
    reach = Reach(facts=10**6, fan=10**6, whole=0)
    qa = StoredQA(store, reader, name="reader", reach=reach, together=together)
    parts = qa.answer(asked)
    assert list(map(told, parts)) == by_whole
    assert [qa.check(answer) for answer in parts] == [()] * len(asked)
    assert any(answer.entities for answer in parts)
    # Asked again, all is there: nothing is fetched, and nothing else is answered.
    made = qa.parts.made
    assert list(map(told, qa.answer(asked[:16]))) == by_whole[:16]
    assert qa.parts.made == made


def test_a_small_graph_is_asked_whole(store, by_whole):
    most = Question("n", "Which film has the longest running time?")
    qa = StoredQA(store, reader)
    *some, last = map(told, qa.answer([*demo_questions()[:16], most]))
    assert some == by_whole[:16]
    assert last == told(reader(store.kg).answer([most])[0])
    assert qa.parts.made == 1
    assert not StoredQA(store, reader, reach=Reach(whole=store.count - 1)).parts.whole


def test_the_stages_are_those_of_the_system_that_answers(store):
    question = Question("q", "who directed Alien?")
    answer, stages = StoredQA(store, reader).traced(question)
    [whole] = reader(store.kg).answer([question])
    assert told(answer) == told(whole)
    assert any(node.kept for node in stages[0].below)


@pytest.mark.slow
def test_parts_are_given_up_where_they_hold_too_much(store):
    asked = demo_questions()
    reach = Reach(hops=1, facts=40, together=40, whole=0)
    qa = StoredQA(store, reader, reach=reach, together=1)
    one = qa.answer(asked)
    assert qa.parts.forgotten > 0
    assert list(map(told, qa.answer(asked))) == list(map(told, one))


def test_a_forged_citation_is_seen(store):
    qa = StoredQA(store, reader, reach=PARTS)
    [answer] = qa.answer([Question("q", "who directed Alien?")])
    assert answer.entities
    path = answer.paths[0]
    forged = dataclasses.replace(path.citations[0], tail="Nobody")
    wrong = dataclasses.replace(path, citations=(forged,))
    assert "has no fact" in qa.check(dataclasses.replace(answer, paths=(wrong,)))[0]


def test_what_is_cut_is_told(store):
    asked = [Question("q", "which films did Ridley Scott direct?")]
    whole, cut = (
        StoredQA(store, reader, reach=reach).answer(asked)[0]
        for reach in (PARTS, Reach(facts=3, whole=0))
    )
    assert len(whole.entities) > 3
    assert len(cut.entities) < 3
    assert not any(INCOMPLETE in note for note in whole.notes)
    assert any("^directed_by of Ridley Scott" in note for note in cut.notes)


def test_nothing_recognised(store):
    qa = StoredQA(store, reader, name="reader", reach=PARTS)
    answers = qa.answer([Question("1", "who is zzyzx?"), Question("2", "who directed Alien?")])
    assert "is recognised" in (answers[0].abstained or "")
    assert answers[1].entities
    assert [answer.question_id for answer in answers] == ["1", "2"]
    assert qa.check(answers[0]) == ()


@pytest.mark.parametrize("reach", [Reach(), Reach(whole=0, fan=10**6, facts=10**6)])
def test_a_planner_over_a_store(store, reach):
    planner = planner_for(store.kg, tensor_graph(store.kg))
    asked = demo_questions()
    whole = PlannedQA.build(store.kg, planner).answer(asked)
    qa = StoredQA(store, lambda kg: PlannedQA.build(kg, planner), reach=reach, sampled=False)
    parts = qa.answer(asked)
    assert list(map(told, parts)) == list(map(told, whole))
    assert [qa.check(answer) for answer in parts] == [()] * len(asked)
    assert sum(bool(answer.entities) for answer in parts) > len(asked) // 2


@pytest.mark.parametrize("reach", [None, PARTS])
def test_proh_over_a_store(store, reach):
    asked = demo_questions()[:3]
    parts = Parts(
        store.schema,
        lambda *told: None,
        wishes={"encoder": "hashing"},
        store=store,
        reach=reach,
    )
    qa = build_system("proh", parts)
    answers = qa.answer(asked)
    assert all(answer.entities for answer in answers)
    assert [qa.check(answer) for answer in answers] == [()] * len(asked)
    if reach is None:  # small, and fetched whole
        whole = [e.entity for e in ProhQA.build(store.kg, ENCODER).ask(asked[0]).entities]
        assert [e.entity for e in answers[0].entities] == whole
    cited = [edge for path in answers[0].paths for edge in path.hyperedges]
    for edge in cited:
        [(head, _), (tail, _)] = edge.entities
        if store.numbered:
            known = store.kg.triples[edge.hyperedge, [0, 2]].tolist()
            assert [store.kg.entity_ids[row] for row in known] == [head, tail]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(store), "holds", lambda self, facts: [False] * len(facts))
        assert "has no fact" in qa.check(answers[0])[0]
    forged = dataclasses.replace(cited[0], entities=(("Nobody", "Nobody"), ("Alien", "Alien")))
    path = dataclasses.replace(answers[0].paths[0], hyperedges=(forged,))
    assert qa.check(dataclasses.replace(answers[0], paths=(path,)))


def test_readers_of_a_stores_parts_share_their_vectors(store):
    wishes = {"encoder": "hashing"}
    parts = Parts(store.schema, lambda *told: None, wishes=wishes, store=store, reach=PARTS)
    qa = build_system("reader", parts)
    qa.ask("who directed [Alien]?")
    qa.ask("who directed [Gladiator]?")
    first, second = (part.system.readings for part in qa.parts._kept.values())
    assert first is not second
    assert first.reader_texts is second.reader_texts


def test_a_planner_over_a_store_as_options_name_it(store, tmp_path):
    planner_for(store.kg, tensor_graph(store.kg)).save(tmp_path / "planner")

    def parts(**more):
        return Parts(store.schema, lambda *told: None, store=store, reach=PARTS, **more)

    with pytest.raises(JaxkgError, match="--planner FOLDER"):
        build_system("planner", parts())
    named = parts(planner_folder=tmp_path / "planner")
    assert default_system(named) == "planner"
    assert default_system(parts()) == "reader"
    assert default_system(parts(backend=Scripted([]))) == "reader", (
        "a model judges either's findings"
    )
    qa = build_system("planner", named)
    for question in ("who directed [Alien]?", "who directed [Gladiator]?"):
        answer = qa.ask(question)
        assert (answer.system, len(answer.entities)) == ("planner", 1)
    # The model is opened once for all parts.
    assert "planner" in named.shared
    assert qa.parts.made == 2
    other = ArrayStore(KnowledgeGraph.from_triples([("a", "r", "b")]))
    for_another = Parts(
        other.schema, lambda *told: None, store=other, planner_folder=tmp_path / "planner"
    )
    with pytest.raises(JaxkgError, match="relations"):
        build_system("planner", for_another).ask("what is [a]?")
