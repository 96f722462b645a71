"""A scripted model in the loop: what it is asked, what it costs, what becomes of its failures."""

import json
import re

import pytest
from reknos_films import BIRTHPLACE, FILMS, GENRE_OF, STARRING, TRIPLES, asked

from jaxkg.adjudicate import Budget, Caps, Scripted
from jaxkg.cite import grounded
from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reknos import LLMScorer, ReKnoS, ReKnoSSettings

LIKED = {"film.film": 0.9, "people.person": 0.8, "media.genre": 0.5, "^film.film": 0.1}
CHOSEN = json.dumps({"answers": [], "supporting_paths": [1], "rationale": "Path 1 says so."})


def offered(content):
    """Numbered candidates of a scoring prompt."""
    return re.findall(r"^(\d+)\. (\S+)$", content, re.MULTILINE)


def scored(content, liked):
    scores = [{"relation": n, "score": liked.get(name, 0.0)} for n, name in offered(content)]
    return json.dumps({"scores": scores})


def model(sufficient=("no", "no", "no"), *, score=None, liked=LIKED, chosen=CHOSEN):
    """Plays all three parts; `sufficient` and `score` are by step of the question."""
    seen = {}

    def answer(request):
        step = seen[request.question, request.stage] = (
            seen.get((request.question, request.stage), 0) + 1
        )
        content = request.messages[-1].content
        if request.stage == "score":
            return (score or {}).get(step) or scored(content, liked)
        if request.stage == "sufficient":
            return f"Sufficient: {sufficient[step - 1]}"
        return chosen

    return Scripted(answer)


SETTINGS = ReKnoSSettings(batch_size=8)


def system_of(backend, kg=FILMS, *, settings=SETTINGS, **options):
    return ReKnoS.build(kg, LLMScorer(backend, **options), settings=settings)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_question_of_l_steps_costs_2_l_plus_1_calls(steps):
    backend = model(["no"] * (steps - 1) + ["yes"] * 3)
    (solved,) = system_of(backend).solve([BIRTHPLACE])
    assert len(solved.trace.steps) == steps
    calls = 2 * steps + (steps < SETTINGS.hops)  # after the last step nothing is to be decided
    assert len(backend.requests) == solved.answer.usage.calls == calls
    assert (solved.answer.usage.nodes, solved.answer.usage.edges) == (
        solved.trace.reached,
        solved.trace.triples,
    )
    assert len(solved.answer.retrieved) == len(solved.trace.extracted)
    stages = ["score", "sufficient"] * steps
    assert [request.stage for request in backend.requests] == [*stages[: calls - 1], "adjudicate"]


def test_the_number_of_calls_does_not_depend_on_the_width():
    for width in (1, 3):
        backend = model()
        settings = ReKnoSSettings(width=width, hops=1, batch_size=8)
        system_of(backend, settings=settings).solve([BIRTHPLACE])
        assert len(backend.requests) == 2


def test_the_answer_is_grounded_and_told_step_by_step():
    chosen = json.dumps({"answers": ["Chicago"], "supporting_paths": [1, 2], "rationale": "Born."})
    backend = model(["no", "yes"], chosen=chosen)
    (solved,) = system_of(backend).solve([BIRTHPLACE])
    answer, trace = solved.answer, solved.trace
    assert [entity.name for entity in answer.entities] == ["Chicago"]
    assert answer.system == "reknos"
    assert answer.rationale == "Born."
    assert grounded(FILMS, answer)
    kept = [[name for name, _ in step.kept] for step in trace.steps]
    assert kept[0] == ["film.film", "media.genre"]
    assert kept[1][:2] == ["people.person", "^film.film"]
    assert [weight for _, weight in trace.steps[0].kept] == pytest.approx([0.9 / 1.4, 0.5 / 1.4])
    # Backward reasoning: what ends at the first step stays in question.
    lengths = [len(names) for names, _ in trace.paths]
    assert set(lengths) == {1, 2}
    names = {FILMS.name(node) for node in trace.extracted.tolist()}
    assert {"Chicago", "New York", "Crime", "Michael Mann"} <= names
    scoring = [r.messages[-1].content for r in backend.requests if r.stage == "score"]
    assert "step 1: film.film; media.genre" in scoring[1]
    enough = [r.messages[-1].content for r in backend.requests if r.stage == "sufficient"]
    assert "film.film → people.person: Chicago; New York\n" in enough[1]


def test_what_has_no_name_is_counted_in_a_prompt_and_not_named():
    cast = [("Heat", STARRING, "m.0abc1"), ("Heat", STARRING, "m.0abc2")]
    backend = model(["yes"])
    system_of(backend, KnowledgeGraph.from_triples([*TRIPLES, *cast])).solve([BIRTHPLACE])
    [enough] = [r.messages[-1].content for r in backend.requests if r.stage == "sufficient"]
    assert "film.film: Al Pacino; Michael Mann; and 2 more\n" in enough
    assert "m.0abc" not in enough


def test_a_step_that_keeps_all_candidates_may_save_its_call():
    backend = model(["yes"])
    (solved,) = system_of(backend, always_score=False).solve([BIRTHPLACE])
    # Two candidates and three places: kept with equal weights, no scoring.
    assert [request.stage for request in backend.requests] == ["sufficient", "adjudicate"]
    assert [weight for _, weight in solved.trace.steps[0].kept] == [0.5, 0.5]


def test_a_question_without_a_topic_costs_nothing():
    backend = model(["yes"])
    system = system_of(backend)
    nowhere, found = system.solve([asked("who knows", "Atlantis", id="q0"), BIRTHPLACE])
    assert nowhere.answer.usage.calls == 0
    assert "'Atlantis' is not in the graph" in (nowhere.answer.abstained or "")
    assert found.answer.usage.calls == 3
    assert len(backend.requests) == 3


def test_a_first_score_that_cannot_be_read_is_a_counted_failure():
    backend = model(["yes"], score={1: "I would rather not."})
    failed, fine = system_of(backend).solve([BIRTHPLACE, GENRE_OF])
    for solved in (failed, fine):
        assert (solved.answer.error or "").startswith("unparsed: ")
        assert solved.answer.entities == ()
        assert solved.answer.usage.calls == 1
        assert solved.trace.failed == ("score: unparsed",)
    assert {request.stage for request in backend.requests} == {"score"}


def test_a_later_failure_answers_from_what_was_found():
    backend = model(score={2: "hm"})
    (solved,) = system_of(backend).solve([BIRTHPLACE])
    assert solved.answer.error is None
    assert len(solved.trace.steps) == 1
    assert solved.answer.entities
    assert any("score: unparsed" in note for note in solved.answer.notes)
    assert solved.answer.usage.calls == 4  # score, sufficient, the failed score, adjudicate


def test_a_budget_leaves_a_partial_answer():
    backend = Budget(model(), run=Caps(calls=2))
    (solved,) = system_of(backend).solve([BIRTHPLACE])
    assert solved.answer.error is None
    assert any(note.startswith("partial: ") for note in solved.answer.notes)
    assert solved.answer.usage.calls == 2
    assert {entity.name for entity in solved.answer.entities} >= {"Michael Mann", "Crime"}


def test_explicit_criteria_take_the_place_of_the_examples():
    for criteria in (False, True):
        backend = model(["yes"])
        system_of(backend, criteria=criteria).solve([BIRTHPLACE])
        told = backend.requests[0].messages[-1].content
        assert ("Scoring criteria" in told) is criteria
        assert ("Three examples" in told) is not criteria
        assert told.count("Reply: {") == (0 if criteria else 3)
