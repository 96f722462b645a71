"""What questions start from and lead to, once for all that learns."""

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.supervision import answer_rows, supervise
from jaxkg.records import Question
from jaxkg.words import TOPIC_WORD

KG = KnowledgeGraph.from_triples(
    [("m1", "by", "p1"), ("m2", "by", "p2"), ("m3", "by", "p2")],
    names={"p1": "Twin", "p2": "Twin"},
)
QUESTIONS = [
    Question("both", "who made m1", ("m1",), ("p1", "p1", "elsewhere")),
    Question("no topic", "who made nothing", (), ("p1",)),
    Question("no answer", "who made m2", ("m2",), ("elsewhere",)),
    Question("unanswered", "who made m3", ("m3",)),
    Question("itself", "what is m3", ("m3",), ("m3", "Twin")),
]


def ids(rows):
    return [KG.entity_ids[row] for row in rows]


def test_answers_are_rows_each_once_homonyms_all():
    found = [ids(answer_rows(KG, question)) for question in QUESTIONS]
    assert found == [["p1"], ["p1"], [], [], ["m3", "p1", "p2"]]


def test_questions_are_looked_up_and_counted():
    stages = []
    told = supervise(KG, QUESTIONS, on_progress=lambda *stage: stages.append(stage))
    assert stages == [("link", 5, 5)]
    assert told.usable.tolist() == [0, 4]
    assert (told.without_topic, told.without_answer) == (1, 2)
    assert [ids(some) for some in told.starts] == [["m1"], [], ["m2"], ["m3"], ["m3"]]
    assert told.masked[0] == f"who made {TOPIC_WORD}"
    known = told.of(told.usable)
    assert [question.id for question in known.questions] == ["both", "itself"]
    assert (known.goals, known.masked) == (
        (told.goals[0], told.goals[4]),
        (told.masked[0], told.masked[4]),
    )
    # The topic is among its own answers: walks may come back to it.
    assert told.revisit == "any"
    assert told.of(told.usable[:1]).revisit == "topic"
    with pytest.raises(JaxkgError, match="no questions"):
        supervise(KG, [])
