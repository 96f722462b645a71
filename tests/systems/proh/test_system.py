import dataclasses
import json

import pytest
from hyper_world import FACTS, PLAN, QUESTION, scripted

from jaxkg.adjudicate import Budget, Caps, Reply
from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.experiments.running import _check_outage
from jaxkg.records import Question
from jaxkg.systems.proh.settings import PROH, PROH_L


def test_without_a_model_evidence_is_ranked_and_said_to_be_that(ask_of):
    qa = ask_of()
    answer = qa.ask(QUESTION)
    assert qa.check(answer) == ()
    assert answer.usage.calls == 0
    assert {"Alien", "Ridley Scott"} <= {p.title for p in answer.passages[:3]}
    assert "Alien was directed by Ridley Scott" in answer.paths[0].sentence
    assert "Alien" not in {e.name for e in answer.entities}
    assert "Ridley Scott" in {e.name for e in answer.entities[:3]}
    assert any("by retrieval alone" in note for note in answer.notes)
    assert Answer.from_json(answer.to_json()) == answer


def test_proh_l_plans_answers_step_by_step_and_cites(ask_of):
    backend = scripted()
    qa = ask_of(backend)
    answer, trace = qa.trace(Question("q7", QUESTION))
    assert [e.name for e in answer.entities] == ["South Shields"]
    assert answer.rationale == "the director was born there"
    assert qa.check(answer) == ()
    sentences = [path.sentence for path in answer.paths]
    assert any("Alien was directed by Ridley Scott" in s for s in sentences)
    assert any("Ridley Scott was born in South Shields" in s for s in sentences)
    assert {p.title for p in answer.passages} >= {"Alien", "Ridley Scott"}
    assert answer.usage.calls == len(backend.requests)
    assert {request.question for request in backend.requests} == {"q7"}
    stages = {request.stage for request in backend.requests}
    assert stages == set(trace["modules"]) == {"anchor", "plan", "states", "retrieve", "answer"}
    for stage, spent in trace["modules"].items():
        assert spent["calls"] == sum(r.stage == stage for r in backend.requests)
        assert spent["prompt_tokens"] > 0
    done = [state for state in trace["states"] if state.get("complete")]
    assert done[0]["answered"]["1"][0] == "Ridley Scott"
    assert json.loads(json.dumps(trace))["states"][0]["id"] == "0"
    assert answer == Answer.from_json(answer.to_json())


def test_proh_weighs_entities_and_shows_sources(ask_of):
    backend = scripted()
    answer, _ = ask_of(backend, PROH).trace(QUESTION)
    assert [e.name for e in answer.entities] == ["South Shields"]
    names = [request.schema_name for request in backend.requests]
    assert "EntityWeights" in names
    told = [r.messages[1].content for r in backend.requests if r.schema_name == "StepAnswer"]
    assert any("Ridley Scott: a film director" in text for text in told)
    assert any("Passage:" in text for text in told)
    light = scripted()
    ask_of(light, PROH_L).trace(QUESTION)
    assert "EntityWeights" not in {request.schema_name for request in light.requests}
    assert not any("Passage:" in r.messages[1].content for r in light.requests)


def test_a_plan_is_drafted_from_the_facts_around_the_question(ask_of):
    backend = scripted()
    _, trace = ask_of(backend).trace(QUESTION)
    [prompt] = [r.messages[1].content for r in backend.requests if r.stage == "plan"]
    told = prompt.partition("Facts around them:")[2]
    assert told.index(FACTS[0][1]) < told.index("1 step(s) further")
    assert {0, 1} <= set(trace["context"][0])
    # d_p = 2 layers around the anchors' own (Alg. 1), as far as there is anything new.
    assert len(trace["context"]) == 3
    edges = [edge for layer in trace["context"] for edge in layer]
    assert len(edges) == len(set(edges))


def two_directors(schema, prompt, told):
    """Chains with and without the director answer "who directed Alien?", differently."""
    if "directed" not in prompt.partition("</question>")[0]:
        return told
    if schema == "Choice":
        lines = [line for line in prompt.splitlines() if line[:1].isdigit()]
        with_him = [line for line in lines if "was directed by" in line and "Weaver" not in line]
        without = [line for line in lines if "directed" not in line]
        return {"chosen": [int(some[0].partition(".")[0]) for some in (with_him, without) if some]}
    if schema == "StepAnswer":
        return {"answer": "Ridley Scott" if "directed by" in prompt else "Sigourney Weaver"}
    return told


def test_joint_answers_branch_and_k_solutions_are_enough(ask_of):
    settings = dataclasses.replace(PROH_L, solutions=2)
    for order, first in (("depth", ["0", "0.0", "0.0.0"]), ("breadth", ["0", "0.0", "0.1"])):
        backend = scripted(two_directors)
        _, trace = ask_of(backend, dataclasses.replace(settings, order=order)).trace(QUESTION)
        ids = [state["id"] for state in trace["states"]]
        assert ids[:3] == first
        assert sum(bool(state.get("complete")) for state in trace["states"]) == 2
        answers = {
            state["answered"]["1"][0] for state in trace["states"] if "1" in state["answered"]
        }
        assert answers == {"Ridley Scott", "Sigourney Weaver"}
    _, trace = ask_of(scripted(two_directors), dataclasses.replace(settings, states=2)).trace(
        QUESTION
    )
    assert len(trace["states"]) == 2
    assert "stopped after 2 states" in trace["answer"]["abstained"]
    narrow = dataclasses.replace(settings, branches=1)
    _, trace = ask_of(scripted(two_directors), narrow).trace(QUESTION)
    assert any("2 joint answers" in note for note in trace["answer"]["notes"])


def test_the_judge_chooses_among_different_answers(ask_of):
    def change(schema, prompt, told):
        told = two_directors(schema, prompt, told)
        if schema == "FinalAnswer" and "Sigourney" in prompt:
            return {"answers": ["Sigourney Weaver"], "reason": "she was"}
        return {"best": 2} if schema == "Verdict" else told

    backend = scripted(change)
    answer = ask_of(backend, dataclasses.replace(PROH_L, solutions=2)).ask(QUESTION)
    assert "Verdict" in {request.schema_name for request in backend.requests}
    assert [e.name for e in answer.entities] == ["Sigourney Weaver"]


PLANS = {
    "cycle": {"steps": [{"id": "1", "question": "who directed Alien?", "needs": ["2"]},
                        {"id": "2", "question": "where was {1} born?", "needs": ["1"]}]},
    "strangers": {"steps": [{**step, "needs": ["7"]} for step in PLAN["steps"]]},
    "empty": {"steps": []},
    "fifty": {"steps": [{"id": str(n), "question": "who directed Alien?", "needs": []}
                        for n in range(50)]},
}  # fmt: skip


@pytest.mark.parametrize("name", PLANS)
def test_any_plan_is_worked_off_or_given_up_with_a_reason(ask_of, name):
    def change(schema, prompt, told):
        return PLANS[name] if schema == "Plan" and "Answers so far" not in prompt else told

    qa = ask_of(scripted(change))
    answer, trace = qa.trace(QUESTION)
    assert qa.check(answer) == ()
    assert answer.entities or answer.abstained
    assert trace["states"][0]["plan_notes"]


def test_nothing_found_is_an_abstention_with_its_reason(ask_of):
    def change(schema, prompt, told):
        return {"chosen": []} if schema == "Choice" else told

    answer, trace = ask_of(scripted(change)).trace(QUESTION)
    assert answer.entities == ()
    assert "no plan could be completed" in answer.abstained
    assert trace["states"][0]["dead"] == "nothing answers step 1"


@pytest.mark.parametrize("named", [["Atlantis"], ["Atlantis", "South Shields"]])
def test_an_answer_that_no_cited_fact_holds_is_refused(ask_of, named):
    def change(schema, prompt, told):
        return {"answers": named, "reason": "so"} if schema == "FinalAnswer" else told

    qa = ask_of(scripted(change))
    answer = qa.ask(QUESTION)
    assert answer.refused == ("Atlantis",)
    assert [e.name for e in answer.entities] == named[1:]
    assert qa.check(answer) == ()
    if len(named) == 1:
        assert answer.abstained.startswith("refused: no cited fact holds")
        assert answer.error is None


def test_the_check_demands_the_answer_in_a_cited_fact(ask_of):
    qa = ask_of(scripted())
    answer = qa.ask(QUESTION)
    for entity, name, held in (
        ("South Shields", "South Shields", True),
        ("x", "a town in france", False),
        ("x", "was born", True),
        ("Tokyo", "Tokyo", False),
        ("x", "South", True),
        ("x", "Shield", False),
    ):
        other = dataclasses.replace(answer.entities[0], entity=entity, name=name)
        alone = dataclasses.replace(answer, entities=(other,), passages=())
        assert (qa.check(alone) == ()) == held, name


@pytest.mark.parametrize(
    ("question", "said", "held"),
    [
        ("Is Ridley Scott the director of Alien?", "Yes", True),
        ("was the director of Alien born in Japan?", "no", True),
        (QUESTION, "yes", False),
        ("Is Top Gun a film by the director of Alien?", "yes", False),
        ("Is Ridley Scott the director of Alien?", "maybe", False),
    ],
)
def test_yes_and_no_are_grounded_by_facts_about_all_that_is_asked(ask_of, question, said, held):
    def change(schema, prompt, told):
        return {"answers": [said], "reason": "so"} if schema == "FinalAnswer" else told

    qa = ask_of(scripted(change))
    answer = qa.ask(
        Question("q", question, topics=("Alien", "Top Gun") if "Top" in question else ("Alien",))
    )
    assert [entity.name for entity in answer.entities] == ([said] if held else [])
    assert answer.refused == (() if held else (said,))
    assert qa.check(answer) == ()
    bare = dataclasses.replace(answer, topics=(), question=QUESTION)
    assert (qa.check(bare) == ()) == (not held)


def test_what_is_cut_is_told(ask_of):
    def change(schema, prompt, told):
        return {"chosen": [1, 2, 3]} if schema == "Choice" else told

    beam = dataclasses.replace(PROH_L.beam, seeds=1)
    settings = dataclasses.replace(PROH_L, answers=1, beam=beam)
    answer, trace = ask_of(scripted(change), settings).trace(QUESTION)
    cuts = [cut for s in trace["states"] for step in s["level"] for cut in step["cut"]]
    assert any("facts at a sub-question's topics, started from 1" in cut for cut in cuts)
    assert any("sufficient paths, answered from 1" in cut for cut in cuts)
    told = " ".join([*answer.notes, answer.abstained or ""])
    assert all(cut in told for cut in cuts)


def below(stages, *starts):
    """The nodes under the first that begins so, and so on."""
    for start in starts:
        stages = next(node for node in stages if node.text.startswith(start)).below
    return stages


def test_the_stages_tell_plans_searches_and_answers(ask_of):
    qa = ask_of(scripted(), PROH)
    answer, stages = qa.traced(Question("q", QUESTION))
    assert [e.name for e in answer.entities] == ["South Shields"]
    states = [node for node in stages if node.text.startswith("plan ")]
    [rests] = [node for node in states if node.text.endswith("the answer rests on it")]
    first, second = rests.below[:2]
    assert first.text == "1. who directed Alien?: Ridley Scott"
    assert second.text == "2. where was Ridley Scott born?, after 1: South Shields"
    assert (first.kept, second.kept) == (True, True)
    search = below(stages, "plan 0:", "search for 1: who directed Alien?")
    [found] = [node for node in search if node.text.startswith("answer Ridley Scott: Alien was")]
    assert found.kept
    assert ("Ridley Scott", 0.9) in [
        (node.text, pytest.approx(node.score)) for node in below(search, "entity weights")
    ]
    overlaps = below(search, "depth 1: directions by overlap")
    assert overlaps
    assert all(node.score >= 0 for node in overlaps)
    enough = [node.text for node in below(search, "depth 1: paths") if node.kept]
    assert any("Alien was directed by Ridley Scott" in text for text in enough)


@pytest.mark.parametrize("kind", ["authentication", "connection"])
def test_an_outage_costs_one_call_and_is_told_by_its_kind(ask_of, kind):
    backend = scripted(lambda schema, prompt, told: Reply(error=kind, detail="no", price=0.0))
    questions = [Question(f"q{n}", QUESTION) for n in range(6)]
    answers = ask_of(backend).answer(questions)
    assert len(backend.requests) == 1
    assert [answer.error.partition(":")[0] for answer in answers] == [kind] * 6
    assert [answer.usage.calls for answer in answers] == [1, 0, 0, 0, 0, 0]
    with pytest.raises(JaxkgError, match=f"every call for 1 question failed.*{kind}"):
        _check_outage(answers)


def test_a_budget_ends_in_a_marked_answer(ask_of):
    whole = scripted()
    ask_of(whole).ask(QUESTION)
    for calls in (0, 1, 2, 4, len(whole.requests) - 1):
        qa = ask_of(Budget(scripted(), question=Caps(calls=calls)))
        answer = qa.ask(QUESTION)
        assert answer.usage.calls <= calls
        assert qa.check(answer) == ()
        assert answer.error is None
        assert any(note.startswith("partial: the budget of") for note in answer.notes)


def test_the_answer_prints_with_its_facts_and_passages(ask_of):
    answer = ask_of(scripted()).ask(QUESTION)
    told = str(answer)
    for words in (
        "1. South Shields",
        "hyperedges ",
        "(Alien)",
        "Passages",
        "the director was born",
    ):
        assert words in told
    assert "<svg" not in answer._repr_html_()
