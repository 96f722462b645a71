"""Planned search on a small graph of films, the plans scripted."""

import json

import pytest
from planners import SMALL_TSV

from jaxkg.adjudicate import Budget, Caps, Reply, Scripted
from jaxkg.adjudicate.calls.planning import way_line
from jaxkg.cite import check
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.records import Question
from jaxkg.systems.llm_planned.system import LLMPlannedQA, LLMPlannedSettings
from jaxkg.tensors import tensor_graph

KG = KnowledgeGraph.from_triples([tuple(line.split("\t")) for line in SMALL_TSV.splitlines()])


def plan(*hops, alternatives=(), reasoning="so it goes"):
    return json.dumps({"reasoning": reasoning, "hops": hops, "alternatives": list(alternatives)})


@pytest.fixture(scope="module")
def tensors():
    return tensor_graph(KG)


@pytest.fixture
def ask(tensors):
    """Answer one question, or as many as there are replies."""

    def run(*replies, topic="Al Pacino", text="?", wrap=lambda backend: backend, **settings):
        traces = []
        backend = Scripted(replies)
        qa = LLMPlannedQA.build(
            KG,
            wrap(backend),
            tensors=tensors,
            settings=LLMPlannedSettings(**settings),
            on_trace=traces.append,
        )
        questions = [Question(f"q{n}", text, (topic,)) for n in range(len(replies))]
        return qa.answer(questions), traces, backend

    return run


def names(answer):
    return {entity.entity for entity in answer.entities}


def test_one_call_plans_and_the_graph_answers(ask):
    [answer], [trace], backend = ask(plan(["^starring"], ["directed by"]))
    assert names(answer) == {"Michael Mann", "Sidney Lumet"}
    assert check(KG, answer) == ()
    assert (answer.usage.calls, len(backend.requests)) == (1, 1)
    assert list(answer.usage.stages) == ["link", "plan", "follow", "cite"]
    assert answer.rationale == "so it goes"
    candidate, *others = answer.plan
    assert candidate.relations == ("^starring", "directed by")
    assert (candidate.reached, candidate.used, candidate.probability) == (2, True, 1.0)
    assert not any(some.used for some in others)
    assert sum(some.probability for some in others) < 0.05, "who chooses only where unsure is not"
    assert trace.plans == ((("^starring",), ("directed by",)),)
    assert (trace.used, trace.linked, trace.model) == ((0,), ("Al Pacino",), "scripted")
    assert "(Ali)-[directed by]->(Michael Mann)" in backend.requests[0].messages[1].content


def test_several_questions_are_one_batch_and_do_not_mix(ask):
    answers, traces, _ = ask(
        plan(["^starring"]), plan(["spouse"]), plan(["^starring"], ["directed by"], ["born in"])
    )
    assert [names(a) for a in answers] == [{"Heat", "Serpico"}, set(), {"Chicago"}]
    assert answers[1].dropped == ("spouse",)
    assert answers[1].abstained == "the plan names no relation of the graph: spouse"
    assert [t.question.id for t in traces] == ["q0", "q1", "q2"]
    assert traces[1].plans == ()


def test_two_relations_of_a_hop_are_both_walked(ask):
    [answer], _, _ = ask(plan(["^starring"], ["directed by", "starring"]))
    assert names(answer) == {"Michael Mann", "Sidney Lumet"}, "never back to the topic"
    [answer], _, _ = ask(plan(["^starring"], ["directed by", "starring"]), revisit="any")
    assert names(answer) == {"Michael Mann", "Sidney Lumet", "Al Pacino"}
    assert answer.plan[0].relations == ("^starring", "directed by|starring")


def test_the_first_plan_that_reaches_something_answers_or_all_do(ask):
    # "Back to the topic" holds in the schema, but the revisit rule leaves nothing of it.
    reply = plan(["born in"], ["^born in"], alternatives=[{"hops": [["^starring"]]}, [["born in"]]])
    [answer], [trace], _ = ask(reply, prompt="paper")
    assert names(answer) == {"Heat", "Serpico"}
    assert [(p.reached, p.used) for p in answer.plan] == [(0, False), (2, True), (1, False)]
    assert trace.used == (1,)
    [answer], [trace], _ = ask(reply, prompt="paper", mode="union")
    assert names(answer) == {"Heat", "Serpico", "New York"}
    assert [entity.score for entity in answer.entities] == [1 / 2, 1 / 2, 1 / 3]
    assert trace.used == (0, 1, 2)
    [answer], _, _ = ask(plan(["born in"], ["^born in"]), prompt="paper")
    assert answer.abstained == "the plan reaches nothing but what it started from"


def test_the_plans_that_exist_are_offered_and_no_other(ask):
    [answer], _, backend = ask('{"way": "<- starring -> directed by"}', hops=2)
    assert names(answer) == {"Michael Mann", "Sidney Lumet"}
    [request] = backend.requests
    offered = request.schema["properties"]["way"]["enum"]
    assert {"-> born in", "<- starring", "<- starring -> directed by"} <= set(offered)
    assert all(way.count("->") + way.count("<-") <= 2 for way in offered)
    assert "-> directed by" not in offered, "it does not leave the topic"
    assert "-> born in <- born in" not in offered, "it leads back to the topic alone"
    [answer], _, backend = ask('{"way": "<- starring"}', offered=3)
    assert len(backend.requests[0].schema["properties"]["way"]["enum"]) == 3
    assert any(note.startswith("the model was offered 3 of ") for note in answer.notes)


@pytest.mark.parametrize(
    ("reply", "taken"),
    [
        ("-> starring -> directed by <- directed by -> starring", None),  # a hop too many
        ("<- starring -> starred -> directed by", "<- starring -> directed by"),  # a hop invented
        ("-> directed by", "<- starring -> directed by"),  # it does not leave the topic
        ("-> born in <- born in", "-> born in"),  # it leads back
    ],
)
def test_of_a_plan_that_does_not_hold_the_nearest_that_does_is_taken(ask, reply, taken):
    [answer], [trace], _ = ask(json.dumps({"way": reply}))
    [used] = [candidate for candidate in answer.plan if candidate.used]
    assert taken is None or way_line(used.relations) == taken
    assert way_line([name for [name] in trace.plans[trace.used[0]]]) == way_line(used.relations)
    assert any(note.startswith("the plan nearest to the reply") for note in answer.notes)
    assert names(answer)
    assert check(KG, answer) == ()


def weighing(likelihoods, **settings):
    """A model that spells the first way that it likes, and tells how it likes each."""

    def says(request):
        ways = request.schema["properties"]["way"]["enum"]
        way = next((way for way in likelihoods if way in ways), ways[0])
        text = json.dumps({"way": ways[0] if len(ways) == 1 else way})
        return Reply(text, likelihood=likelihoods.get(json.loads(text)["way"], -30.0))

    backend = Scripted(says)
    settings = LLMPlannedSettings(**settings)
    qa = LLMPlannedQA.build(KG, backend, settings=settings)
    return qa.ask("who directed films starring [Al Pacino]"), backend.requests


def test_what_the_model_is_not_sure_of_it_weighs_against_what_is_like_the_question():
    doubt = {"<- starring": -3.0, "<- starring -> directed by": -4.0}
    answer, requests = weighing(doubt)
    assert names(answer) == {"Michael Mann", "Sidney Lumet"}, "a hop and likeness outweigh -1"
    assert len(requests) == answer.usage.calls > 2
    weighed = [request.schema["properties"]["way"]["enum"] for request in requests[1:]]
    assert all(len(ways) == 1 for ways in weighed)
    assert ["<- starring -> directed by"] in weighed
    prompts = {request.messages for request in requests}
    assert len(prompts) == 1, "all share one prompt"
    assert names(weighing({**doubt, "<- starring -> directed by": -25.0})[0]) == {"Heat", "Serpico"}


@pytest.mark.parametrize(
    ("likelihood", "settings"), [(-0.4, {}), (None, {}), (-3.0, {"weigh": False})]
)
def test_who_is_sure_or_tells_nothing_is_asked_once(likelihood, settings):
    answer, requests = weighing({"<- starring": likelihood}, **settings)
    assert names(answer) == {"Heat", "Serpico"}
    assert len(requests) == 1


def test_what_does_not_hold_is_refused_and_too_many_plans_are_told(ask):
    [answer], _, _ = ask(plan(["directed by"], ["born in"]), prompt="paper")
    assert answer.abstained.startswith("no plan holds in the graph: directed by → born in: ")
    assert len(answer.refused) == 1
    twice = plan(["born in"], alternatives=[[["^starring"]]])
    [answer], _, _ = ask(twice, plans=1, prompt="paper")
    assert names(answer) == {"New York"}
    assert answer.refused == ("plan 2: 1 are read",)
    [answer], _, _ = ask(plan())
    assert answer.abstained == "the model finds no relations that answer"


def test_failures_are_answers_that_say_so(ask):
    [answer], traces, _ = ask("no idea")
    assert answer.error.startswith("unparsed")
    assert answer.abstained.startswith("planning failed (unparsed")
    assert traces == []
    [answer], _, _ = ask(Reply(error="timeout", detail="late"))
    assert answer.error == "timeout: late"
    held = ask(plan(["born in"]), plan(["born in"]), wrap=lambda b: Budget(b, run=Caps(calls=1)))
    answered, partial = held[0]
    assert names(answered) == {"New York"}
    assert (partial.error, partial.usage.calls) == (None, 0)
    assert partial.notes[0].startswith("partial: the budget of 1 calls")


def test_without_a_topic_nothing_is_asked(ask):
    [answer], traces, backend = ask(plan(["born in"]), topic="Nobody")
    assert answer.abstained == "the topic 'Nobody' is not in the graph"
    assert (traces, backend.requests, answer.usage.calls) == ([], [], 0)


def test_of_many_relations_the_likely_ones_are_offered(tensors):
    backend = Scripted(lambda request: plan(["born in"]))
    settings = LLMPlannedSettings(offered=1)
    qa = LLMPlannedQA.build(KG, backend, tensors=tensors, settings=settings)
    answer = qa.ask("where was [Al Pacino] born in")
    assert names(answer) == {"New York"}
    assert "starring" not in backend.requests[0].messages[1].content
    assert "the model was shown 1 of 3 relations" in answer.notes
    assert qa.ask("who is [Al Pacino] starring").dropped == ("born in",)


@pytest.mark.parametrize(("prompt", "told"), [("paper", False), ("paper-hops", True)])
def test_the_printed_prompt_is_asked_with_and_without_the_hop_count(tensors, prompt, told):
    backend = Scripted([plan(["starring"], ["directed by"])])
    settings = LLMPlannedSettings(prompt=prompt)
    qa = LLMPlannedQA.build(KG, backend, tensors=tensors, settings=settings)
    gold = (("^starring", "directed by"),)
    [answer] = qa.answer([Question("q", "who? </question>", ("Al Pacino",), paths=gold)])
    assert names(answer) == {"Michael Mann", "Sidney Lumet"}
    asked = backend.requests[0].messages[1].content
    assert asked.startswith("You are analyzing a knowledge graph question")
    assert "knowledge graph: born in, directed by, starring\n" in asked
    assert 'Question: "who? ‹/question›"' in asked
    assert ("This is a 2-hop question. You need to select" in asked) == told
    assert asked.endswith("Provide your analysis:")


def test_settings_are_checked():
    with pytest.raises(JaxkgError, match="at least 1"):
        LLMPlannedSettings(hops=0)
