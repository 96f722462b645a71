"""A model is offered the readings of the reader; `test_contract` offers those of other methods."""

import json
import re

import pytest

from jaxkg.adjudicate import Scripted
from jaxkg.experiments.registry import build_system, faults
from jaxkg.kg import KnowledgeGraph
from jaxkg.records import Question
from jaxkg.settings import wishes_from
from jaxkg.systems.adjudicated import AdjudicatedQA
from jaxkg.systems.parts import Parts
from jaxkg.systems.reader import Reader

KG = KnowledgeGraph.from_triples(
    [
        (city, relation, value)
        for city, mayor, founder, size in (
            ("Arden", "Ada Quill", "Bo Marsh", "1200"),
            ("Belmere", "Cy Bell", "Di Fenn", "800"),
            ("Corrin", "Ed Gale", "Flo Hart", "450"),
        )
        for relation, value in (("mayor", mayor), ("founder", founder), ("population", size))
    ]
)
SURE = Question("sure", "Who is the mayor of Arden?")
UNSURE = Question("unsure", "Who made Arden?")
UNCERTAIN = Question("uncertain", "Arden person")
"""Answered, as the second is likely too."""


def build(says, *wishes, ask="unsure"):
    backend = Scripted(says)
    parts = Parts(
        KG,
        lambda *step: None,
        backend,
        wishes=wishes_from(["encoder=hashing", "judge.write=false", *wishes]),
        ask_model=ask,
    )
    return build_system("reader", parts), parts, backend


def chooses(words):
    def says(request):
        said = request.messages[-1].content
        numbered = re.findall(r"^(\d+)\. (.*?): ", said, re.MULTILINE)
        places = [int(number) for number, text in numbered if words in text]
        return json.dumps({"reading": places[0] if places else 0})

    return says


@pytest.mark.parametrize("question", [UNSURE, UNCERTAIN])
def test_the_second_reading_is_offered_and_choosing_it_answers(question):
    between = "threshold=0.53"  # of the confidences of both
    never, _, none = build(chooses("founder"), between, ask="never")
    assert isinstance(never, Reader)
    before = never.ask(question)
    assert bool(before.abstained) == (question is UNSURE)
    assert before.plan[0].relations == ("mayor",)
    system, parts, backend = build(chooses("the founder of Arden"), between)
    answer = system.ask(question)
    listed = backend.requests[-1].messages[-1].content
    assert "the founder of Arden: Bo Marsh (chance " in listed
    assert "the mayor of Arden: Ada Quill (chance " in listed
    assert [entity.name for entity in answer.entities] == ["Bo Marsh"]
    assert answer.paths[0].sentence == "Arden, founder: Bo Marsh"
    assert (answer.system, answer.reading) == ("reader+llm", "the founder of Arden")
    assert answer.usage.calls == len(backend.requests)
    assert "the founder of Arden" not in {other.reading for other in answer.readings}
    assert any("(2 calls): the 2nd by the system's score" in note for note in answer.notes)
    assert faults(system, parts, answer) == ()
    assert none.requests == []


def test_a_sure_answer_is_not_asked_about():
    system, _, backend = build(chooses("founder"))
    answer = system.ask(SURE)
    assert [entity.name for entity in answer.entities] == ["Ada Quill"]
    assert (backend.requests, answer.usage.calls) == ([], 0)
    always, _, asked = build(chooses("mayor"), ask="always")
    kept = always.ask(SURE)
    assert asked.requests
    assert [entity.name for entity in kept.entities] == ["Ada Quill"]
    assert any("keeps to the system's own" in note for note in kept.notes)


def test_what_is_too_unlikely_even_then_stays_withheld():
    unsure, _, none = build(chooses("founder"), "threshold=0.999")
    assert unsure.ask(UNSURE).abstained
    assert none.requests == [], "no choice would be answered by"
    system, _, _ = build(chooses("founder"), "threshold=0.999", ask="always")
    answer = system.ask(UNSURE)
    assert answer.abstained
    assert not answer.entities
    assert 1 <= len(answer.readings) <= 3
    assert any("is below 1.00" in note for note in answer.notes)


@pytest.mark.parametrize("said", ["I like cities.", '{"reading": 99}'])
def test_an_unreadable_reply_leaves_the_systems_own_choice(said):
    system, _, backend = build(lambda request: said, ask="always")
    answer = system.ask(SURE)
    assert [entity.name for entity in answer.entities] == ["Ada Quill"]
    assert answer.error.startswith("unparsed")
    assert any("the system's own choice stands" in note for note in answer.notes)
    assert answer.usage.calls == len(backend.requests) == 1


def test_fewer_readings_are_offered_where_fewer_are_wanted():
    system, _, backend = build(chooses("mayor"), "judge.offered=2", ask="always")
    system.ask(SURE)
    assert len(re.findall(r"\(chance ", backend.requests[-1].messages[-1].content)) == 2


def test_the_judge_of_paths_is_there_by_name():
    judged, _, _ = build(lambda request: "", "judge=paths")
    assert isinstance(judged, AdjudicatedQA)


def test_what_a_person_says_is_right_is_numbered_by_the_reader_alone():
    """A model puts readings in another order than `correct` counts them in."""
    assert not hasattr(build(chooses("mayor"))[0], "correct")
