import dataclasses

import pytest
from planners import SMALL_TSV

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.planner.distill import (
    Agreement,
    compare_with_teacher,
    distill,
    reached_sets,
    teacher_paths,
)
from jaxkg.learn.planner.traces import PlanTrace
from jaxkg.learn.planner.train import PlannerConfig
from jaxkg.records import Question
from jaxkg.tensors import tensor_graph

KG = KnowledgeGraph.from_triples([tuple(line.split("\t")) for line in SMALL_TSV.splitlines()])
SMALL = PlannerConfig(hops=2, width=16, epochs=40, patience=40, learning_rate=0.05, buckets=1 << 9)
WORDINGS = {
    "who made {}": ("directed by",),
    "who plays in {}": ("starring",),
    "where is the maker of {} from": ("directed by", "born in"),
}
FILMS = ("Heat", "Ali", "Serpico")


def trace(number, wording, film, plan, **changes):
    text = wording.format(film)
    start = text.index(film)
    span = (start, start + len(film))
    question = Question(f"q{number}", text, (film,), changes.pop("answers", None), mention=span)
    made = PlanTrace(question, (film,), (span,), (tuple((r,) for r in plan),), (0,), model="m")
    return dataclasses.replace(made, **changes)


TRACES = [
    trace(f"{n}-{film}", wording, film, plan)
    for n, (wording, plan) in enumerate(WORDINGS.items())
    for film in FILMS
]


@pytest.fixture(scope="module")
def tensors():
    return tensor_graph(KG)


@pytest.mark.slow
@pytest.mark.usefixtures("standard_promotion")
def test_the_student_plans_as_its_teacher(tensors):
    unplanned = dataclasses.replace(TRACES[0], plans=(), used=())
    long = dataclasses.replace(TRACES[0], plans=((("starring",),) * 3,))
    planner, aside, report = distill(KG, [*TRACES, unplanned, long], held_out=0.0, config=SMALL)
    assert (report.traces, report.without_plan, report.too_long) == (11, 1, 1)
    assert {t.question.id for t in aside} == {t.question.id for t in TRACES}
    assert report.held_out_probability > 0.9
    assert planner.about["teachers"] == ["m"]
    assert planner.about["revisit"] == "topic"
    # The teacher is wrong of one question, and the gold answers of another are not entities.
    wrong = trace("w", "who plays in {}", "Heat", ("directed by",), answers=("Al Pacino",))
    right = trace("r", "who made {}", "Ali", ("directed by",), answers=("Michael Mann",))
    nobody = trace("n", "who made {}", "Heat", ("directed by",), answers=("Someone else",))
    found = compare_with_teacher(KG, tensors, planner, [wrong, right, nobody])
    assert found == Agreement(
        questions=3, same_plan=2 / 3, teacher_f1=0.5, student_f1=1.0, with_gold=2
    )
    assert compare_with_teacher(KG, tensors, planner, TRACES).student_f1 is None


@pytest.mark.slow
@pytest.mark.usefixtures("standard_promotion")
def test_what_is_held_out_is_not_learnt_from(tensors):
    _, aside, report = distill(KG, TRACES, held_out=0.3, config=SMALL, seed=1)
    assert len(aside) == 3
    assert len(report.epochs) <= 40
    assert all(0 <= score <= 1 for _, score in report.epochs)
    best = max(score for _, score in report.epochs)
    assert report.held_out_probability == pytest.approx(best, abs=1e-4)


def test_every_choice_of_a_used_plan_is_a_path():
    both = dataclasses.replace(
        TRACES[0],
        plans=((("starring",),), (("directed by", "starring"), ("born in",))),
        used=(1,),
    )
    code = KG.relation_code
    assert teacher_paths(KG, both) == [
        (code("directed by"), code("born in")),
        (code("starring"), code("born in")),
    ]
    assert len(teacher_paths(KG, dataclasses.replace(both, used=(0, 1)))) == 3
    with pytest.raises(JaxkgError, match="no relation 'won'"):
        teacher_paths(KG, dataclasses.replace(both, plans=((("won",),),), used=(0,)))


def test_paths_of_a_question_reach_together(tensors):
    heat, ali = KG.entity("Heat"), KG.entity("Ali")
    made, plays = KG.relation_code("directed by"), KG.relation_code("starring")
    found = reached_sets(tensors, [[heat], [ali]], [[(made,), (plays,)], [()]], 2, "topic")
    assert found == [{KG.entity("Michael Mann"), KG.entity("Al Pacino")}, set()]


def test_nothing_to_learn_is_an_error():
    with pytest.raises(JaxkgError, match="none of the 0 traces has a plan of at most 2 hops"):
        distill(KG, [], config=SMALL)
    with pytest.raises(JaxkgError, match=r"share in \[0, 1\)"):
        distill(KG, TRACES, held_out=1.0)
