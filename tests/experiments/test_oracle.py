"""The model with a dial: right, wrong by chance, malformed, inventing; over the protocol."""

import json

import pytest
from hyper_world import PLAN, QUESTION, encoder, world
from lib.oracle import Known, Oracle, OracleServer
from reknos_films import BIRTHPLACE, FILMS

from jaxkg.adjudicate import Scripted, connect
from jaxkg.records import Question
from jaxkg.systems.proh.settings import PROH, PROH_L
from jaxkg.systems.proh.system import ProhQA
from jaxkg.systems.reknos import LLMScorer, ReKnoS, ReKnoSSettings

BORN = Known(
    QUESTION,
    ("South Shields",),
    ("Alien",),
    steps=tuple(step["question"] for step in PLAN["steps"]),
    step_answers={
        "who directed Alien?": ("Ridley Scott",),
        "where was Ridley Scott born?": ("South Shields",),
    },
)


def replying(oracle):
    """The oracle without the protocol."""
    return Scripted(
        lambda request: oracle.reply(
            request.schema_name, request.messages[0].content, request.messages[1].content
        )
    )


@pytest.mark.parametrize("settings", [PROH_L, PROH])
def test_with_the_gold_plan_and_a_perfect_model_proh_answers(settings):
    qa = ProhQA.build(world(), encoder(), backend=replying(Oracle([BORN])), settings=settings)
    answer, trace = qa.trace(Question("q", QUESTION))
    assert [entity.name for entity in answer.entities] == ["South Shields"]
    assert qa.check(answer) == ()
    assert any(state.get("complete") for state in trace["states"])


def reknos(backend):
    settings = ReKnoSSettings(batch_size=8)
    return ReKnoS.build(FILMS, LLMScorer(backend), settings=settings)


def test_the_protocol_carries_what_the_oracle_says():
    known = Known(BIRTHPLACE.text, ("Chicago",), BIRTHPLACE.topics)
    oracle = Oracle([known])
    user = f"<question>\n{BIRTHPLACE.text}\n</question>\n1. Heat … Ends in: Chicago; Rome"
    with (
        OracleServer(oracle) as server,
        connect("oracle", base_url=server.url, api_key="none") as backend,
    ):
        [there] = reknos(backend).answer([BIRTHPLACE])
    [here] = reknos(replying(oracle)).answer([BIRTHPLACE])
    assert [e.name for e in there.entities] == [e.name for e in here.entities] == ["Chicago"]
    assert there.usage.calls == here.usage.calls > 1
    assert there.usage.prompt_tokens > 0
    assert json.loads(oracle.reply("Adjudication", "", user)) == {
        "answers": ["Chicago"],
        "supporting_paths": [1],
        "rationale": "told",
    }


def test_the_dial_turns_replies_wrong_unreadable_or_strange():
    known = Known("who?", ("Ann",))
    lines = "1. p{} Ends in: Ann\n2. q Ends in: Bob"
    prompts = [f"<question>\nwho?\n</question>\n{lines.format(n)}" for n in range(400)]

    def replies(**dial):
        oracle = Oracle([known], **dial)
        return [oracle.reply("Adjudication", "", prompt) for prompt in prompts]

    def right(told):
        return sum('"Ann"' in each for each in told) / len(told)

    assert right(replies()) == 1
    # By chance one of two lines.
    assert 0.4 < right(replies(p=0.0)) < 0.6
    assert 0.65 < right(replies(p=0.5)) < 0.85
    broken = replies(malformed=0.3)
    assert 0.2 < sum(not _reads(each) for each in broken) / 400 < 0.4
    strange = replies(invented=0.3)
    assert all(map(_reads, strange))
    assert 0.2 < sum("Atlantis" in each and "999" in each for each in strange) / 400 < 0.4
    assert replies(p=0.5) == replies(p=0.5) != replies(p=0.5, seed=1)


def _reads(text):
    try:
        return bool(json.loads(text))
    except ValueError:
        return False
