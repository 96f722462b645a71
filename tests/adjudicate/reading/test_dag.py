import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.adjudicate.reading.dag import (
    ReasoningDag,
    SubQuestion,
    checked_dag,
    filled_in,
    hasse_reduction,
    refined_dag,
)

IDS = st.sampled_from(["1", "2", "3", "4", "x", ""])
STEPS = st.builds(
    SubQuestion,
    IDS,
    st.sampled_from(["who?", "where?", " ", ""]),
    st.lists(IDS, max_size=4).map(tuple),
)


def reach(dag: ReasoningDag) -> set[tuple[str, str]]:
    """(before, after), directly or not."""
    pairs = set(dag.edges)
    while True:
        more = {(a, d) for (a, b), (c, d) in itertools.product(pairs, pairs) if b == c} - pairs
        if not more:
            return pairs
        pairs |= more


@given(st.lists(STEPS, max_size=20))
def test_whatever_is_drafted_a_small_dag_comes_out(drafted):
    dag = checked_dag(drafted, "all?", most=5)
    ids = [step.id for step in dag.steps]
    assert 1 <= len(ids) == len(set(ids)) <= 5
    assert all(step.text.strip() for step in dag.steps)
    for place, step in enumerate(dag.steps):
        assert set(step.needs) <= set(ids[:place])
    assert all(a != b for a, b in reach(dag))
    # No dependency is implied by others: without any one of them less is reached.
    for edge in dag.edges:
        rest = ReasoningDag(
            tuple(
                SubQuestion(s.id, s.text, tuple(b for b in s.needs if (b, s.id) != edge))
                for s in dag.steps
            )
        )
        assert edge not in reach(rest)
    assert sorted(step.id for level in dag.levels for step in level) == sorted(ids)


def test_implied_dependencies_go_and_what_they_imply_stays():
    needs = {"a": [], "b": ["a"], "c": ["a", "b"], "d": ["a", "c", "b"]}
    assert hasse_reduction(needs) == {"a": [], "b": ["a"], "c": ["b"], "d": ["c"]}


def test_the_next_level_waits_for_its_answers():
    dag = checked_dag(
        [SubQuestion("1", "a"), SubQuestion("2", "b"), SubQuestion("3", "c", ("1",))], ""
    )
    assert [s.id for s in dag.next_level({})] == ["1", "2"]
    assert [s.id for s in dag.next_level({"1": "x"})] == ["2", "3"]
    assert dag.next_level({"1": "x", "2": "y", "3": "z"}) == ()


@pytest.mark.parametrize(
    ("drafted", "note"),
    [
        ([], "the plan is empty"),
        ([SubQuestion("1", " ")], "step 1 asks nothing"),
        ([SubQuestion("1", "a", ("9",))], "'1' needs '9', which is no step"),
        ([SubQuestion("1", "a", ("1",))], "'1' needs itself"),
        ([SubQuestion("1", "a"), SubQuestion("1", "b")], "two steps are called '1'"),
        ([SubQuestion("1", "a", ("2",)), SubQuestion("2", "b", ("1",))], "closes a cycle"),
        ([SubQuestion(str(n), "a") for n in range(50)], "50 steps drafted, the first 12"),
    ],
)
def test_every_repair_is_said(drafted, note):
    assert any(note in told for told in checked_dag(drafted, "all?").notes)


def test_answered_steps_outlive_a_refinement():
    dag = checked_dag([SubQuestion("1", "who?"), SubQuestion("2", "where is {1}?", ("1",))], "all?")
    answered = {"1": "Ann"}
    proposal = [
        SubQuestion("1", "something else?"),
        SubQuestion("2", "where is Ann?"),
        SubQuestion("3", "why?", ("2",)),
    ]
    refined = refined_dag(dag, answered, proposal, "all?")
    assert refined.steps == (SubQuestion("1", "who?"), *proposal[1:])
    assert refined_dag(dag, answered, [], "all?").steps == dag.steps
    assert refined_dag(dag, answered, proposal[:1], "all?").steps == dag.steps


def test_answers_are_filled_in_and_the_rest_is_left():
    step = SubQuestion("12", "is {1} older than #2 or {3}?")
    assert filled_in(step, {"1": "Ann", "2": "Bob"}) == "is Ann older than Bob or {3}?"
    assert filled_in(SubQuestion("x", "#12?"), {"1": "Ann", "12": "Bob"}) == "Bob?"
