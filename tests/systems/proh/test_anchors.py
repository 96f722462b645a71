"""Where PRoH starts to search, and where it goes on: anchors, directions, plans that fail."""

import dataclasses

from hyper_world import QUESTION, scripted

from jaxkg.records import Question
from jaxkg.systems.proh.settings import PROH_L


def test_a_question_whose_plans_fail_is_asked_in_one_piece_unless_the_paper_is_followed(ask_of):
    def change(schema, prompt, told):
        if schema == "Plan":
            return {"steps": [{"id": "1", "question": "who made it?", "needs": []}]}
        first = schema == "Choice" and "who made it?" in prompt
        return {"chosen": []} if first else told

    answer, trace = ask_of(scripted(change)).trace(QUESTION)
    assert [state["id"] for state in trace["states"]][1:2] == ["whole"]
    assert [entity.name for entity in answer.entities] == ["South Shields"]
    assert "no plan could be completed: the question was asked as a whole" in answer.notes
    strict = dataclasses.replace(PROH_L, whole=False)
    assert ask_of(scripted(change), strict).ask(QUESTION).entities == ()


def test_earlier_answers_and_the_models_keywords_anchor_a_sub_question(ask_of):
    """The name in the sub-question is misspelt: only the keyword is near enough to one."""

    def change(schema, prompt, told):
        if schema == "Plan" and "Answers so far" in prompt:
            return {"steps": []}
        if schema == "StepAnswer" and "directed" in prompt.partition("</question>")[0]:
            return {"answer": "Ridly Scott"}
        return told

    near = dataclasses.replace(PROH_L.retrieval, topic_threshold=0.5, topics=1, targets=0)
    settings = dataclasses.replace(PROH_L, retrieval=near)
    qa = ask_of(backend := scripted(change), settings)
    [bare] = qa.retriever.anchor(["where was Ridly Scott born?"])
    assert bare.topics == ()
    _, trace = qa.trace(QUESTION)
    asked = {step["question"]: step for state in trace["states"] for step in state["level"]}
    assert asked["where was Ridly Scott born?"]["topics"][:1] == ["Ridley Scott"]
    calls = [request.schema_name for request in backend.requests].count("Keywords")
    asking = dataclasses.replace(settings, keywords=True)
    qa = ask_of(backend := scripted(change), asking)
    _, trace = qa.trace(QUESTION)
    asked = {step["question"]: step for state in trace["states"] for step in state["level"]}
    assert asked["where was Ridly Scott born?"]["topics"][0] == "Alien"
    more = [request.schema_name for request in backend.requests].count("Keywords")
    assert more == calls + len(asked)


def test_given_topics_are_where_reasoning_starts(ask_of):
    def change(schema, prompt, told):
        return {"keywords": ["Top Gun"]} if schema == "Keywords" else told

    backend = scripted(change)
    question = Question("q", QUESTION, topics=("Ridley Scott",))
    _, trace = ask_of(backend).trace(question)
    assert trace["topics"] == ["Ridley Scott"]
    assert "Keywords" not in {request.schema_name for request in backend.requests}
    [hidden] = ask_of(backend).answer([question], use_given=False)
    assert [link.name for link in hidden.topics] == ["Top Gun"]
    _, trace = ask_of(backend).trace(dataclasses.replace(question, topics=("nowhere",)))
    assert trace["topics"] == ["Top Gun"]
