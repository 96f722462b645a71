"""PRoH over the passages that questions bring."""

import json

import pytest
from lib.oracle import Oracle, OracleServer, known_of_text

from jaxkg.adjudicate.connect import connect
from jaxkg.errors import JaxkgError
from jaxkg.kg.hypergraph.text import hypergraph_of_text
from jaxkg.records import Passages, Question
from jaxkg.systems.proh.passages import PassagesQA
from jaxkg.systems.proh.settings import PROH_L
from jaxkg.systems.proh.system import ProhQA
from jaxkg.text import HashingEncoder

ALIEN = (
    ("Alien (film)", "Alien is a 1979 film directed by Ridley Scott."),
    ("Ridley Scott", "Ridley Scott was born in South Shields."),
)
HEAT = (
    ("Heat (film)", "Heat is a 1995 film directed by Michael Mann."),
    ("Michael Mann", "Michael Mann was born in Chicago."),
)


def question(film, person, place, texts):
    steps = ((f"Who directed {film}?", person), ("Where was {1} born?", place))
    asked = f"Where was the director of {film} born?"
    return Question(
        film, asked, answers=(place,), passages=Passages(texts, (0, 1), steps, "2 hops")
    )


QUESTIONS = [
    question("Alien", "Ridley Scott", "South Shields", ALIEN),
    question("Heat", "Michael Mann", "Chicago", HEAT),
]
TEXTS = (ALIEN, HEAT)


def test_each_is_asked_over_its_own_passages_and_no_others():
    encode = HashingEncoder()
    with (
        OracleServer(Oracle([known_of_text(each) for each in QUESTIONS])) as server,
        connect("oracle", base_url=server.url, api_key="none") as backend,
    ):
        system = PassagesQA(encode, backend=backend, settings=PROH_L)
        answers = system.answer(QUESTIONS)
        for asked, texts, answer in zip(QUESTIONS, TEXTS, answers, strict=True):
            graph = hypergraph_of_text(texts)
            alone = ProhQA.build(graph, encode, backend=backend, settings=PROH_L)
            other = alone.answer([asked])[0]
            assert [each.name for each in answer.entities] == list(asked.answers or ())
            assert answer.entities == other.entities
            assert {p.title for p in answer.passages} <= {title for title, _ in texts}
            assert not system.check(answer)
    wrong = [answer for answer in answers if answer.question_id == "Heat"]
    system.answer([])
    assert system.check(wrong[0]), "its passages are not held any more"


def test_a_question_without_passages_is_told():
    with pytest.raises(JaxkgError, match="'q' brings no passages"):
        PassagesQA(HashingEncoder()).answer([Question("q", "why?")])


@pytest.mark.slow
def test_retrieval_alone():
    system = PassagesQA(HashingEncoder())
    shown = []
    found = system.answer(QUESTIONS, on_progress=lambda *told: shown.append(told))
    assert [answer.question_id for answer in found] == ["Alien", "Heat"]
    assert shown == [("answer", 1, 2), ("answer", 2, 2)]
    for answer, texts in zip(found, TEXTS, strict=True):
        assert {p.title for p in answer.passages} == {title for title, _ in texts}
    answer, nodes = system.traced(QUESTIONS[0])
    assert (answer.question_id, nodes[0].text) == ("Alien", "anchors")
    assert json.dumps(answer.to_dict())
