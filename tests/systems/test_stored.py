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


@pytest.mark.parametrize("together", [1, 16])
def test_the_same_answers_as_over_the_whole_graph(store, together):
    asked = demo_questions()
    whole = reader(store.kg).answer(asked)
    qa = StoredQA(
        store, reader, name="reader", reach=Reach(facts=10**6, fan=10**6), together=together
    )
    parts = qa.answer(asked)
    same = sum(told(a) == told(b) for a, b in zip(whole, parts))
    # What a graph's words are worth is told by what is there: a reading near the threshold may tip.
    assert same >= 0.9 * len(asked)
    assert [qa.check(answer) for answer in parts] == [()] * len(asked)
    assert any(answer.entities for answer in parts)


def test_a_forged_citation_is_seen(store):
    qa = StoredQA(store, reader)
    [answer] = qa.answer([Question("q", "who directed Alien?")])
    assert answer.entities
    path = answer.paths[0]
    forged = dataclasses.replace(path.citations[0], tail="Nobody")
    wrong = dataclasses.replace(path, citations=(forged,))
    assert "has no fact" in qa.check(dataclasses.replace(answer, paths=(wrong,)))[0]


def test_what_is_cut_is_told(store):
    asked = [Question("q", "which films did Ridley Scott direct?")]
    whole, cut = (
        StoredQA(store, reader, reach=reach).answer(asked)[0] for reach in (Reach(), Reach(facts=3))
    )
    assert len(whole.entities) > 3
    assert len(cut.entities) < 3
    assert not any(INCOMPLETE in note for note in whole.notes)
    assert any("^directed_by of Ridley Scott" in note for note in cut.notes)


def test_nothing_recognised(store):
    qa = StoredQA(store, reader, name="reader")
    answers = qa.answer([Question("1", "who is zzyzx?"), Question("2", "who directed Alien?")])
    assert "is recognised" in (answers[0].abstained or "")
    assert answers[1].entities
    assert [answer.question_id for answer in answers] == ["1", "2"]
    assert qa.check(answers[0]) == ()
