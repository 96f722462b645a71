import dataclasses

import pytest

from jaxkg.kg import demo_graph, demo_questions
from jaxkg.kg.stores.around import Reach
from jaxkg.kg.stores.arrays import ArrayStore
from jaxkg.records import Question
from jaxkg.systems.reader.system import Reader
from jaxkg.systems.stored import INCOMPLETE, StoredQA
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


@pytest.mark.parametrize("together", [1, 16])
def test_the_same_answers_as_over_the_whole_graph(store, together):
    asked = demo_questions()
    whole = reader(store.kg).answer(asked)
    reach = Reach(facts=10**6, fan=10**6, whole=0)
    qa = StoredQA(store, reader, name="reader", reach=reach, together=together)
    parts = qa.answer(asked)
    assert list(map(told, parts)) == list(map(told, whole))
    assert [qa.check(answer) for answer in parts] == [()] * len(asked)
    assert any(answer.entities for answer in parts)
    # Asked again, all is there: nothing is fetched, and nothing else is answered.
    made = qa.rooms.made
    assert list(map(told, qa.answer(asked))) == list(map(told, whole))
    assert qa.rooms.made == made


def test_a_small_graph_is_asked_whole(store):
    asked = [*demo_questions(), Question("n", "Which film has the longest running time?")]
    whole = reader(store.kg).answer(asked)
    qa = StoredQA(store, reader)
    assert list(map(told, qa.answer(asked))) == list(map(told, whole))
    assert qa.rooms.made == 1
    assert not StoredQA(store, reader, reach=Reach(whole=store.count - 1)).rooms.whole


def test_rooms_are_given_up_where_they_hold_too_much(store):
    asked = demo_questions()
    reach = Reach(hops=1, facts=40, together=40, whole=0)
    qa = StoredQA(store, reader, reach=reach, together=1)
    one = qa.answer(asked)
    assert qa.rooms.forgotten > 0
    assert list(map(told, qa.answer(asked))) == list(map(told, one))


def test_what_all_have_is_told_to_be_seen_in_part(store):
    qa = StoredQA(store, reader, reach=PARTS)
    [answer] = qa.answer([Question("q", "Which film did Ridley Scott direct?")])
    everywhere = dataclasses.replace(
        answer, query={"operator": "domain", "relations": ["directed_by"]}, paths=()
    )
    [room] = qa.rooms._kept.values()
    assert any("directed_by looked at around" in n for n in qa._told(everywhere, room).notes)
    assert not any(INCOMPLETE in note for note in answer.notes)


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
