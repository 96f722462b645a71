"""A language model at work on a super-relation search: two calls a step, one to answer."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Any, Literal

import jax
import numpy as np

from jaxkg.adjudicate.ask import Outcome
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.calls.one_shot import adjudicate
from jaxkg.adjudicate.calls.super_relations import (
    Choice,
    Evidence,
    check_sufficiency,
    score_candidates,
)
from jaxkg.answer import Answer
from jaxkg.candidates import start
from jaxkg.deadline import check
from jaxkg.kg import Topics
from jaxkg.records import PlanCandidate, Question, Usage
from jaxkg.search.super_relations import (
    BestPaths,
    SuperSearch,
    ask,
    begin,
    close,
    conclude,
    tell,
)
from jaxkg.select import witness_paths
from jaxkg.systems.answering import Progress, why_no_topic
from jaxkg.systems.cited import Remarks, RetrievedEntities, by_mass, cite_walks, cited_answer
from jaxkg.systems.reknos.super_relations import SuperProblem
from jaxkg.systems.reknos.trace import Solved, entities_by_path, read_traces, slot_questions
from jaxkg.tensors import bucket, rerun, starts_table
from jaxkg.types import NULL, Fit

_SLOTS = 1 << 14
"""Where capacities start: a step of this size costs next to nothing."""

_begin = functools.partial(jax.jit, static_argnames="num_questions")(begin)
_close = jax.jit(close)
concluded = functools.partial(jax.jit, static_argnames=("keep", "shorter"))(conclude)
_start = jax.jit(start)


@functools.partial(jax.jit, static_argnames=("num_groups", "capacities", "revisit"))
def _ask(graph, group, before, connections, *, num_groups, capacities, revisit):
    options, runs, after = ask(
        graph, group, before, connections,
        num_groups=num_groups, capacities=capacities, revisit=revisit,
    )  # fmt: skip
    return Fit((options, runs, after), runs.needed, runs.overflow)


@functools.partial(jax.jit, static_argnames=("width", "capacities", "walk_best", "revisit"))
def _tell(graph, known, floor, *, width, capacities, walk_best, revisit) -> Fit[SuperSearch]:
    after = tell(
        graph, *known,
        width=width, capacity=capacities[0], walk_best=walk_best, floor=floor, revisit=revisit,
    )  # fmt: skip
    return Fit(after, after.trail[-1].needed[None], after.trail[-1].overflow)


def run_search(
    problem: SuperProblem, session: LLMSession, topics: Sequence[Sequence[int]]
) -> tuple[SuperSearch, BestPaths]:
    """Search for one batch.

    A step is a pure function of what came before it, so one that overflows is run again in larger
    buckets; what was asked of a scorer in between is not asked again. A batch cannot be halved once
    it was asked, so where even the largest bucket is too small an incomplete step is taken.

    Args:
        problem: what is searched.
        session: who scores.
        topics: topic nodes of each question.

    Returns:
        The search after its last step and what it concludes, on the device.
    """
    settings, graph, room = problem.settings, problem.tensors.graph, problem.room
    rows = bucket(len(topics))
    search = _begin(_start(*starts_table(topics, num_rows=rows)), num_questions=rows)
    for step in range(settings.hops):
        check()

        def asked(slots: tuple[int, ...], before: SuperSearch = search):
            return _ask(
                graph, problem.group, before, problem.connections,
                num_groups=len(problem.groups), capacities=slots, revisit=problem.revisit,
            )  # fmt: skip

        options, runs, search = rerun(
            asked, room.of(f"ask {step}", _SLOTS, _SLOTS), lenient=True
        ).value
        if step and not options.any():
            break
        scores, options = session.score(search, options)
        last, onward = step == settings.hops - 1, None if settings.backward else 1
        walk_best = settings.keep if last else onward

        def told(slots: tuple[int, ...], known=(search, runs, options, scores), best=walk_best):
            return _tell(
                graph, known, settings.floor,
                width=settings.width, capacities=slots, walk_best=best, revisit=problem.revisit,
            )  # fmt: skip

        search = rerun(told, room.of(f"tell {step}", _SLOTS), lenient=True).value
        if step < settings.hops - 1:  # after the last step there is none to save
            search = _close(search, session.sufficient(search))
    return search, concluded(search, keep=settings.keep, shorter=settings.shorter)


_SHOWN = 20
"""Entities of a path that the sufficiency prompt names; it says how many more there are."""

SYSTEM = "reknos"
NOTHING = "no super-relation leads from the topic to another entity"
"""Why there is no answer where the search led nowhere."""

_witnesses = jax.jit(witness_paths)


@dataclasses.dataclass(frozen=True)
class LLMScorer:
    """Scores super-relations by one call a step, and asks after each whether to go on.

    A question costs 2 L* + 1 calls where the search takes L* steps: two a step and one to answer;
    one less where it takes as many as are allowed, since nothing is to be decided then; nothing
    where no topic entity leads anywhere.

    Attributes:
        backend: who answers.
        criteria: give explicit scoring criteria (Appendix D.8) in the place of the examples.
        always_score: False saves the scoring call of a step with no more candidates than are kept
            (Section 4.2); they are then kept with equal weights.
        repair: allow one more call for each reply that cannot be read.
        form: see `score_candidates`.
    """

    backend: Backend
    criteria: bool = False
    always_score: bool = True
    repair: bool = False
    form: Literal["scores", "select"] = "scores"


@dataclasses.dataclass
class Ledger:
    """What the calls of one question came to; `detail` is the first failure's, in words."""

    usages: list[Usage]
    dropped: list[str] = dataclasses.field(default_factory=list)
    failed: list[str] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)
    error: str | None = None
    detail: str = ""

    def add(self, outcome: Outcome[Any]) -> None:
        """A call more, and its failure."""
        self.usages.append(outcome.usage)
        if outcome.note and outcome.note not in self.notes:
            self.notes.append(outcome.note)
        if outcome.error is not None:
            self.detail = self.detail or outcome.detail
            self.failed.append(f"{outcome.stage}: {outcome.error}")


def solve_with_llm(
    problem: SuperProblem,
    scorer: LLMScorer,
    questions: Sequence[Question],
    topics: Sequence[Topics],
    linked: float,
    on_progress: Progress | None,
) -> list[Solved]:
    """Answer questions with a language model; see `ReKnoS.solve`."""
    solved: list[Solved] = []
    size = problem.settings.batch_size
    for first in range(0, len(questions), size):
        part = slice(first, first + size)
        session = LLMSession(problem, scorer, questions[part], topics[part], linked)
        starts = [topic.entities for topic in topics[part]]
        search, best = jax.device_get(run_search(problem, session, starts))
        complete = not bool(search.overflow)
        traces = read_traces(search, best, problem.groups, len(starts), complete=complete)
        answers = session.answers(search, best, complete=complete)
        judged = [i for i, answer in enumerate(answers) if answer.error is None]
        verdicts = adjudicate(scorer.backend, [answers[i] for i in judged], repair=scorer.repair)
        for i, answer in zip(judged, verdicts):
            dropped = (*session.ledgers[i].dropped, *answer.dropped)
            answers[i] = dataclasses.replace(answer, dropped=dropped)
        for answer, trace, ledger in zip(answers, traces, session.ledgers):
            answer = dataclasses.replace(
                answer,
                usage=answer.usage + Usage(nodes=trace.reached, edges=trace.triples),
                retrieved=RetrievedEntities(problem.kg.entity_ids, trace.extracted),
            )
            trace = dataclasses.replace(trace, failed=tuple(ledger.failed))
            solved.append(Solved(answer, trace))
        if on_progress:
            on_progress("search", len(solved), len(questions))
    return solved


class LLMSession:
    """A language model at work on one batch of questions; each pays for its calls and failures."""

    def __init__(
        self,
        problem: SuperProblem,
        scorer: LLMScorer,
        questions: Sequence[Question],
        topics: Sequence[Topics],
        linked: float,
    ) -> None:
        self._problem, self._scorer = problem, scorer
        self._questions, self._topics = questions, topics
        self._names = [tuple(problem.kg.name(node) for node in topic.entities) for topic in topics]
        self._scored: set[int] = set()
        usage = Usage(seconds=linked, stages={"link": linked})
        self.ledgers = [Ledger([usage]) for _ in questions]

    def score(self, search: SuperSearch, options: jax.Array) -> tuple[np.ndarray, np.ndarray]:
        """One call a question; one whose call failed loses its candidates, which ends its search.

        What earlier steps found is then answered from; without any, the question has failed.

        Reference: ReKnoS, Eq. 2.
        """
        sets, possible = jax.device_get((search.sets, options))
        possible, names = np.array(possible), self._problem.groups.names
        scores = np.zeros(possible.shape, np.float32)
        width = self._problem.settings.width
        counts = possible[: len(self._questions)].sum(axis=1)
        self._scored = set(np.flatnonzero(counts).tolist())
        least = 1 if self._scorer.always_score else width + 1
        asked = np.flatnonzero(counts >= least).tolist()
        choices = [
            Choice(
                self._questions[i].text,
                self._questions[i].id,
                self._names[i],
                tuple(tuple(names[g] for g in groups_of[i] if g != NULL) for groups_of in sets),
                tuple(names[g] for g in np.flatnonzero(possible[i])),
            )
            for i in asked
        ]
        outcomes = score_candidates(
            self._scorer.backend,
            choices,
            keep=width,
            criteria=self._scorer.criteria,
            repair=self._scorer.repair,
            form=self._scorer.form,
        )
        for i, scored in zip(asked, outcomes):
            ledger = self.ledgers[i]
            ledger.add(scored.outcome)
            ledger.dropped += scored.dropped
            if scored.scores is not None:
                scores[i, possible[i]] = scored.scores
                continue
            possible[i] = False
            self._scored.remove(i)
            if scored.outcome.error == "budget":
                ledger.notes.append(f"partial: {scored.outcome.detail}; the search ended early")
            elif not sets:
                ledger.error = f"{scored.outcome.error}: {scored.outcome.detail}"
        return scores, possible

    def sufficient(self, search: SuperSearch) -> np.ndarray:
        """One call a question that took this step.

        A check that fails counts as "no", so that the search goes on. Entities without a name are
        counted, not named.
        """
        settings, kg, names = self._problem.settings, self._problem.kg, self._problem.groups.names
        best = concluded(search, keep=settings.keep, shorter=settings.shorter)
        host, groups = jax.device_get(((search, best), best.groups))
        extracted = entities_by_path(*host)
        asked = sorted(self._scored)
        evidence = [
            Evidence(
                self._questions[i].text,
                self._questions[i].id,
                self._names[i],
                tuple(
                    (
                        tuple(names[g] for g in groups[i, place] if g != NULL),
                        tuple(map(kg.name, islice(filter(kg.has_name, nodes), _SHOWN))),
                        len(nodes),
                    )
                    for place, nodes in extracted.get(i, {}).items()
                ),
            )
            for i in asked
        ]
        enough = np.zeros(len(search.steps), bool)
        backend, repair = self._scorer.backend, self._scorer.repair
        for i, outcome in zip(asked, check_sufficiency(backend, evidence, repair=repair)):
            self.ledgers[i].add(outcome)
            enough[i] = outcome.value is not None and outcome.value.sufficient
        return enough

    def answers(self, search: SuperSearch, best: BestPaths, *, complete: bool) -> list[Answer]:
        """What retrieval alone would answer: the walks of the best paths, best first.

        Args:
            search, best: on the host.
            complete: whether everything fitted.

        Returns:
            Answers whose paths a model can judge; one with an `error` has none.
        """
        problem, offered = self._problem, self._problem.settings.offered
        count = len(self._questions)
        question, score, edges, node = self._evidence(search, best)
        rank = np.arange(len(question)) - np.searchsorted(question, question)
        total = np.bincount(question, minlength=count)
        there = rank < offered
        question, score, edges, node = (x[there] for x in (question, score, edges, node))
        paths = cite_walks(problem.kg, problem.tensors, edges, question, score)
        bounds = np.searchsorted(question, np.arange(count + 1))
        answers = []
        for i, (asked, ledger) in enumerate(zip(self._questions, self.ledgers)):
            mine = slice(int(bounds[i]), int(bounds[i + 1]))
            notes = list(ledger.notes)
            if total[i] > offered:
                notes.append(f"{offered} of {total[i]} walks were offered to the model")
            if ledger.failed:
                notes.append(f"calls that failed: {', '.join(ledger.failed)}")
            relation_paths: dict[tuple[str, ...], float] = {}
            for path in paths[mine]:
                relation_paths.setdefault(path.relation_path, path.score)
            entities = by_mass(problem.kg, node[mine].tolist(), paths[mine], named=True)
            topics, failed = self._topics[i], ledger.error
            answers.append(
                cited_answer(
                    asked,
                    topics,
                    () if failed else entities,
                    paths[mine],
                    system=SYSTEM,
                    why_not=NOTHING if topics.entities else why_no_topic(topics),
                    complete=complete,
                    plan=tuple(PlanCandidate(*path, used=True) for path in relation_paths.items()),
                    usage=sum(ledger.usages, Usage()),
                    remarks=Remarks(
                        notes=tuple(notes),
                        error=failed,
                        why_not=failed and f"scoring failed ({failed})",
                    ),
                )
            )
        return answers

    def _evidence(
        self, search: SuperSearch, best: BestPaths
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Question, score, edges and end of every walk; best first within a question.

        A walk scores the mean weight along its super-relation path, so that long and short ones
        can be compared; walks that end in a node without a name come last.
        """
        slots = np.cumsum([0, *(len(frontier.row) for frontier in search.trail[1:])])
        extracted = best.extracted_by != NULL
        masks = [extracted[a:b] for a, b in pairwise(slots.tolist())]
        nothing = np.zeros(len(search.trail[0].row), bool)
        witnesses = jax.device_get(_witnesses(search.trail, (nothing, *masks)))
        there = np.flatnonzero(witnesses.valid)
        question, place = slot_questions(search)[there], best.extracted_by[there]
        length = np.maximum(np.sum(best.groups != NULL, axis=2), 1)
        score = (best.score / length)[question, place]
        node, edges = witnesses.node[there], witnesses.edges[there]
        named = np.array([self._problem.kg.has_name(n) for n in node.tolist()], bool)
        order = np.lexsort((node, place, -score, ~named, question))
        return question[order], score[order], edges[order], node[order]
