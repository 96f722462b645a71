import json

import pytest
from cited_answers import answer_along

from jaxkg.adjudicate import Scripted
from jaxkg.kg import demo_graph
from jaxkg.systems.adjudicated import AdjudicatedQA
from jaxkg.systems.answering import QuestionAnswering


class Retrieved(QuestionAnswering):
    """A system that always finds the same two answers, a path each."""

    def __init__(self):
        self.options = []

    def answer(self, questions, *, use_given=True, on_progress=None):
        self.options.append(use_given)
        kg = demo_graph()
        return [
            answer_along(kg, ["Alien"], ("directed_by", "^directed_by"), q.text) for q in questions
        ]


@pytest.fixture
def inner():
    return Retrieved()


def said(*paths):
    return json.dumps({"answers": [], "supporting_paths": paths, "rationale": "Because."})


def test_any_system_can_be_judged_one_call_a_question(inner):
    backend = Scripted([said(1), said()])
    qa = AdjudicatedQA(inner, backend)
    before = inner.answer([qa_question("a")])[0]
    first, second = qa.answer([qa_question("a"), qa_question("b")], use_given=False)
    assert len(backend.requests) == 2
    assert inner.options == [True, False]
    assert {e.entity for e in first.entities} == {e.entity for e in before.entities}
    assert (first.rationale, first.usage.calls) == ("Because.", 1)
    assert second.abstained == "the model finds no path that answers"
    assert first.system.endswith("+llm")


def test_the_paths_that_a_model_cites_are_told(inner):
    answer, (paths,) = AdjudicatedQA(inner, Scripted([said(1)])).traced(qa_question("a"))
    cited = {path for entity in answer.entities for path in entity.paths}
    kept = {path.text for path in paths.below if path.kept}
    assert kept == {path.sentence for path in answer.paths if path.id in cited}


def test_lines_left_out_are_told(inner):
    kg = demo_graph()
    inner.answer = lambda questions, **options: [
        answer_along(kg, ["Alien", "Gladiator"], ("directed_by",), "who")
    ]
    qa = AdjudicatedQA(inner, Scripted(lambda request: said(1)), top_k=1)
    assert "the model was shown the best 1 of 2 groups of paths" in qa.ask("who").notes
    assert not any("shown" in note for note in AdjudicatedQA(inner, qa.backend).ask("who").notes)


def qa_question(text):
    from jaxkg.records import Question

    return Question("q1", text)
