import json

import numpy as np
import pytest

from jaxkg.answer import Answer
from jaxkg.kg import demo_graph
from jaxkg.learn.planner.kept import planner_for
from jaxkg.records import Question
from jaxkg.systems import trace
from jaxkg.systems.answering import as_question
from jaxkg.systems.planned import PlannedQA, PlannedSettings
from jaxkg.systems.trace import trace_question
from jaxkg.tensors import tensor_graph


@pytest.fixture
def qa(in_cache) -> PlannedQA:
    kg = demo_graph()
    tensors = tensor_graph(kg)
    settings = PlannedSettings(batch_size=8, threshold=0.05)
    return PlannedQA.build(kg, planner_for(kg, tensors), tensors=tensors, settings=settings)


def paths_of(hop):
    return {tuple(p["path"]): p["log_probability"] for p in hop["paths"]}


def test_the_beam_is_told_hop_by_hop_and_ends_in_the_plan(qa):
    told = trace_question(qa, as_question("What is the birth city of the director of [The Piano]?"))
    assert json.loads(json.dumps(told))["hops"] == told["hops"]
    answer = Answer.from_json(json.dumps(told["answer"]))
    assert told["topics"][0]["entity"] == "The Piano"
    assert "Piano" not in told["masked"]
    assert told["known_share"] == qa.planner.known_share(told["masked"])
    assert told["settings"]["revisit"] == qa.revisit
    assert [hop["hop"] for hop in told["hops"]] == [1, 2, 3]
    assert list(paths_of(told["hops"][0])) == [()]
    for hop, after in zip(told["hops"], told["hops"][1:]):
        kept = {}
        for path in hop["paths"]:
            before, total = tuple(path["path"]), path["log_probability"]
            scores = [way["log_probability"] for way in path["continuations"]]
            assert scores == sorted(scores, reverse=True)
            if path["finished"]:
                kept[before] = total
            if path["stop"] and path["stop"]["kept"]:
                kept[before] = total + path["stop"]["log_probability"]
            kept |= {
                (*before, way["relation"]): total + way["log_probability"]
                for way in path["continuations"]
                if way["kept"]
            }
        following = paths_of(after)
        # A path finished before keeps its place only while it is good enough.
        assert following.keys() <= kept.keys()
        for path, total in following.items():
            assert total == pytest.approx(kept[path], abs=1e-4)
    kinds = [way["kept"] for way in told["hops"][0]["paths"][0]["continuations"]]
    assert any(kinds)
    best = answer.plan[0]
    assert best.relations == ("directed_by", "born_in")
    seen = {path: p for hop in told["hops"] for path, p in paths_of(hop).items()}
    assert np.exp(seen[best.relations]) == pytest.approx(best.probability, rel=0.2)


def test_a_small_bucket_is_outgrown_in_silence_by_none(qa, monkeypatch):
    question = as_question("who directed [Alien]?")
    whole = trace_question(qa, question)
    monkeypatch.setattr(trace, "_FIRST_SLOTS", 32)
    again = trace_question(qa, question)
    told, wanted = (
        {
            (hop["hop"], *path["path"], way["relation"], way["kept"]): way["log_probability"]
            for hop in some["hops"]
            for path in hop["paths"]
            for way in path["continuations"]
        }
        for some in (again, whole)
    )
    assert told == pytest.approx(wanted)


def test_without_a_topic_there_is_nothing_to_search(qa):
    told = trace_question(qa, Question(id="q", text="who directed it?", topics=("Zzyzx",)))
    assert told["hops"] == []
    assert told["answer"]["abstained"] == "the topic 'Zzyzx' is not in the graph"
