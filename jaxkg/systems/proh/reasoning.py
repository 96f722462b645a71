"""Planning and reasoning: drafts, states, joint assignments, refinement, final answers.

Reference: PRoH, Sections 4.3, 4.4 and 4.6, Alg. 1 and 2.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxkg.adjudicate.calls import proh as replies
from jaxkg.adjudicate.reading.dag import (
    ReasoningDag,
    SubQuestion,
    checked_dag,
    filled_in,
    refined_dag,
)
from jaxkg.adjudicate.rounds import Steps
from jaxkg.deadline import check
from jaxkg.systems.proh.calls import Reasoner
from jaxkg.systems.proh.index import HyperIndex
from jaxkg.systems.proh.retrieval import Anchors
from jaxkg.systems.proh.walk import (
    AnswerPath,
    HyperWalk,
    answer_paths,
    chain,
    only,
    paths_of,
    subgraph,
)


@dataclasses.dataclass(frozen=True)
class State:
    """A plan with what is answered of it so far.

    Attributes:
        id: "0" for the first plan, "0.2" for the third successor of it.
        dag: the plan.
        answered: answer and path by step.
    """

    id: str
    dag: ReasoningDag
    answered: Mapping[str, AnswerPath]

    @property
    def answers(self) -> dict[str, str]:
        """Answers by step."""
        return {id: path.answer for id, path in self.answered.items()}

    @property
    def complete(self) -> bool:
        """True where every step is answered."""
        return all(step.id in self.answered for step in self.dag.steps)


@dataclasses.dataclass
class Reasoning:
    """What came of one question.

    Attributes:
        anchors: topics and targets.
        context: layers of hyperedges that the plans were drafted from.
        completed: the solution states.
        answers: the final answer's names, best first; empty for none.
        reason: in the model's words.
        best: the state that the answer rests on.
        notes: what the reader should know.
        states: every state visited, for the trace.
    """

    anchors: Anchors
    context: list[list[int]]
    completed: list[State] = dataclasses.field(default_factory=list)
    answers: tuple[str, ...] = ()
    reason: str = ""
    best: State | None = None
    notes: list[str] = dataclasses.field(default_factory=list)
    states: list[dict[str, Any]] = dataclasses.field(default_factory=list)


def reason(reasoner: Reasoner, question: str, *, topics: Sequence[int] = ()) -> Steps[Reasoning]:
    """Answer a question by planning and searching, in steps that end where the model is asked.

    Args:
        reasoner: what it is reasoned on with.
        question: its text.
        topics: entities given with the question; without, the model names what it is about.
    """
    retriever, calls, settings = reasoner
    if topics:
        [anchors] = retriever.anchor([question])
        anchors = anchors._replace(topics=tuple(topics))
    else:
        [named] = yield from calls.ask([replies.keywords(question)])
        # Names of entities in the question stand in for keywords that could not be had.
        words = [named.keywords] if named is not None and named.keywords else None
        [anchors] = retriever.anchor([question], words)
    result = Reasoning(anchors, [])
    if not anchors.topics and not anchors.targets:
        result.notes.append("nothing in the hypergraph is near the question")
        return result
    allowed = subgraph(reasoner.retriever.index, anchors, settings.neighbourhood)
    result.context = plan_context(reasoner, question, anchors, allowed)
    plans = yield from initial_dags(reasoner, question, anchors, result.context)
    frontier = deque(State(str(number), dag, {}) for number, dag in enumerate(plans))
    yield from search_states(reasoner, question, frontier, allowed, result)
    over = calls.stopped or len(result.states) == settings.states
    if settings.whole and not result.completed and not over:
        result.notes.append("no plan could be completed: the question was asked as a whole")
        whole = State("whole", ReasoningDag((SubQuestion("1", question),)), {})
        first = deque([whole])
        yield from search_states(reasoner, question, first, allowed, result)
    yield from conclude(reasoner, question, result)
    return result


def plan_context(
    reasoner: Reasoner, question: str, anchors: Anchors, allowed: jax.Array
) -> list[list[int]]:
    """The plan context graph: the anchors' own hyperedges, and d_p layers around them.

    A layer is the best directions of all hyperedges of the one before; Alg. 1 takes the best of
    each, which says as much of a poor one as of a good one.

    Reference: PRoH, Definition 4 and Eq. 3, Alg. 1.
    """
    settings = reasoner.settings
    beam_settings = dataclasses.replace(
        settings.beam,
        depth=settings.plan_depth,
        weigh="similarity",
        seeds=settings.plan_width,
    )
    walk = HyperWalk(reasoner.retriever.index, beam_settings, allowed)
    texts = walk.texts(question)
    beam = walk.start(texts, anchors)
    layers = [[path[-1] for path in paths_of(beam)]]
    seen = set(layers[0])
    for _ in range(settings.plan_depth):
        beam = walk.grow(texts, beam, width=settings.plan_width)
        fresh = [path[-1] for path in paths_of(beam) if path[-1] not in seen]
        if not fresh:
            break
        layers.append(list(dict.fromkeys(fresh)))
        seen |= set(fresh)
        beam = only(beam, range(beam.path.shape[1]), settings.plan_width)
    return layers


def context_lines(index: HyperIndex, layers: Sequence[Sequence[int]]) -> list[str]:
    """The plan context in words, layer by layer.

    Reference: PRoH, Section 4.3, FormPlanContext.
    """
    lines = []
    for depth, layer in enumerate(layers):
        lines.append("At the question:" if not depth else f"{depth} step(s) further:")
        lines += [f"- {index.told(edge)}" for edge in layer]
    return lines


def initial_dags(
    reasoner: Reasoner, question: str, anchors: Anchors, layers: Sequence[Sequence[int]]
) -> Steps[list[ReasoningDag]]:
    """n_0 drafts as checked plans; equal ones once, the question itself where none can be read.

    Reference: PRoH, Alg. 1.
    """
    topics = [reasoner.retriever.index.graph.name(row) for row in anchors.topics]
    lines = context_lines(reasoner.retriever.index, layers)
    drafts = yield from reasoner.calls.ask(
        [
            replies.plan(question, topics, lines, draft=number)
            for number in range(reasoner.settings.plans)
        ]
    )
    dags = [checked_dag(replies.drafted(d), question) for d in drafts if d is not None]
    once = {tuple((s.text, s.needs) for s in dag.steps): dag for dag in reversed(dags)}
    return list(reversed(once.values())) or [checked_dag([], question)]


def search_states(
    reasoner: Reasoner,
    question: str,
    frontier: deque[State],
    allowed: jax.Array,
    result: Reasoning,
) -> Steps[None]:
    """Complete plans level by level until K are complete, the frontier is empty or a cap is met.

    A level branches over the joint assignments of its sub-questions' answers; a state with a
    sub-question that nothing answers goes no further. What is asked twice in the same words is
    retrieved once.

    Reference: PRoH, Alg. 2.
    """
    known: dict[str, tuple[list[AnswerPath], dict[str, Any]]] = {}
    settings = reasoner.settings
    while frontier and len(result.completed) < settings.solutions and not reasoner.calls.stopped:
        check()
        if len(result.states) == settings.states:
            result.notes.append(f"the search stopped after {settings.states} states")
            break
        state = frontier.popleft()
        entry: dict[str, Any] = {
            "id": state.id,
            "plan": [dataclasses.asdict(step) for step in state.dag.steps],
            "plan_notes": list(state.dag.notes),
            "answered": {id: [f.answer, list(f.path)] for id, f in state.answered.items()},
            "level": [],
        }
        result.states.append(entry)
        if state.complete:
            result.completed.append(state)
            entry["complete"] = True
            continue
        pairs: list[tuple[SubQuestion, list[AnswerPath]]] = []
        for step in state.dag.next_level(state.answered):
            text = filled_in(step, state.answers)
            if not (again := text in known):
                filled = [state.answers[id] for id in step.needs if id in state.answers]
                known[text] = yield from answer_paths(reasoner, text, allowed, filled=filled)
            answers_of, trace = known[text]
            result.notes += trace["cut"]
            entry["level"].append({"step": step.id, "again": again, **trace})
            pairs.append((step, answers_of))
        if unanswered := [step.id for step, options in pairs if not options]:
            entry["dead"] = f"nothing answers step {', '.join(unanswered)}"
            continue
        successors = yield from _successors(reasoner, question, state, pairs, result)
        if settings.order == "depth":
            frontier.extendleft(reversed(successors))
        else:
            frontier.extend(successors)


def _successors(
    reasoner: Reasoner,
    question: str,
    state: State,
    pairs: Sequence[tuple[SubQuestion, Sequence[AnswerPath]]],
    result: Reasoning,
) -> Steps[list[State]]:
    """One state for every joint assignment, its open steps refined by the model."""
    total = int(np.prod([len(options) for _, options in pairs]))
    every = itertools.product(*(options for _, options in pairs))
    joint = list(itertools.islice(every, reasoner.settings.branches))
    if total > len(joint):
        result.notes.append(f"{total} joint answers at state {state.id}, {len(joint)} followed")
    answered = [
        {**state.answered, **{step.id: f for (step, _), f in zip(pairs, choice)}}
        for choice in joint
    ]
    grown = [State(f"{state.id}.{n}", state.dag, choice) for n, choice in enumerate(answered)]
    if grown and grown[0].complete:
        return grown
    drafts = yield from reasoner.calls.ask(
        [replies.refinement(question, each.dag, each.answers) for each in grown]
    )
    return [
        each
        if draft is None  # the plan stands
        else dataclasses.replace(
            each, dag=refined_dag(each.dag, each.answers, replies.drafted(draft), question)
        )
        for each, draft in zip(grown, drafts)
    ]


def conclude(reasoner: Reasoner, question: str, result: Reasoning) -> Steps[None]:
    """The final answer: one candidate for each completed plan, and a judge where they differ.

    Reference: PRoH, Section 4.6.
    """
    calls, index = reasoner.calls, reasoner.retriever.index
    if not result.completed:
        if not calls.held:
            result.notes.append("no plan could be completed")
        return
    steps = [_step_lines(state) for state in result.completed]
    facts = [_fact_lines(index, state) for state in result.completed]
    candidates = yield from calls.ask(
        [
            replies.final_answer(question, step_lines, known)
            for step_lines, known in zip(steps, facts)
        ]
    )
    offered: dict[tuple[str, ...], tuple[State, str]] = {}
    failed = 0
    for state, reply in zip(result.completed, candidates):
        if reply is None:
            failed += 1
            continue
        names = tuple(dict.fromkeys(name.strip() for name in reply.answers if name.strip()))
        if names:
            offered.setdefault(names, (state, reply.reason.strip()))
    if not offered and failed:
        # The last step of a completed plan is an answer, if not in its final form.
        state = result.completed[0]
        last = state.dag.levels[-1]
        offered[tuple(state.answers[step.id] for step in last)] = (state, "")
        result.notes.append("the final answer could not be had; the last step's answer stands")
    if not offered:
        result.notes.append("the completed plans do not answer the question")
        return
    options = list(offered)
    best = 0
    if len(options) > 1:
        shown = [
            f"{'; '.join(names)} | {' | '.join(_step_lines(offered[names][0]))} | "
            f"{' | '.join(_fact_lines(index, offered[names][0]))}"
            for names in options
        ]
        [reply] = yield from calls.ask([replies.verdict(question, shown)])
        if reply is not None and 1 <= reply.best <= len(options):
            best = reply.best - 1
        else:
            result.notes.append("the judge's choice could not be had; the first candidate stands")
    result.answers = options[best]
    result.best, result.reason = offered[options[best]]


def _step_lines(state: State) -> list[str]:
    return [
        f"{filled_in(step, state.answers)} {state.answers[step.id]}" for step in state.dag.steps
    ]


def _fact_lines(index: HyperIndex, state: State) -> list[str]:
    paths = dict.fromkeys(state.answered[step.id].path for step in state.dag.steps)
    return [chain(index, path) for path in paths]
