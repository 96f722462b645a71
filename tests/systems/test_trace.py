"""What a system tells of its stages beside the answer."""

from itertools import pairwise

import pytest

from jaxkg.kg import demo_graph
from jaxkg.learn.planner.kept import planner_for
from jaxkg.systems.answering import as_question
from jaxkg.systems.planned import PlannedQA, PlannedSettings
from jaxkg.tensors import tensor_graph


@pytest.fixture
def qa(in_cache) -> PlannedQA:
    kg = demo_graph()
    tensors = tensor_graph(kg)
    settings = PlannedSettings(batch_size=8, threshold=0.05)
    return PlannedQA.build(kg, planner_for(kg, tensors), tensors=tensors, settings=settings)


def test_the_beam_is_told_hop_by_hop_and_ends_in_the_plan(qa):
    question = as_question("What is the birth city of the director of [The Piano]?")
    answer, (share, *hops) = qa.traced(question)
    assert answer.entities == qa.ask(question).entities
    assert share.text.startswith("the planner read ")
    assert [hop.text for hop in hops] == ["hop 1", "hop 2", "hop 3"]
    assert [path.text for path in hops[0].below] == ["(start)"]
    for hop, after in pairwise(hops):
        kept = {}
        for path in hop.below:
            way = path.text.removeprefix("(start)").removesuffix(", finished")
            steps = [step for step in path.below if step.text != "stop here"]
            assert [step.score for step in steps] == sorted((s.score for s in steps), reverse=True)
            if path.text.endswith(", finished"):
                kept[path.text] = path.score
            for step in path.below:
                if step.kept and step.text == "stop here":
                    kept[f"{way}, finished"] = path.score * step.score
                elif step.kept:
                    kept[f"{way} → {step.text}".removeprefix(" → ")] = path.score * step.score
        # A path finished before keeps its place only while it is good enough.
        assert {path.text for path in after.below} <= kept.keys()
        for path in after.below:
            assert path.score == pytest.approx(kept[path.text], rel=1e-3)
    assert any(step.kept for step in hops[0].below[0].below)
    best = answer.plan[0]
    assert best.relations == ("directed_by", "born_in")
    seen = {path.text.removesuffix(", finished"): path.score for h in hops for path in h.below}
    assert seen["directed_by → born_in"] == pytest.approx(best.probability, rel=0.2)
