"""What every method promises, held for all of them over one small graph.

A new method is tested by a row in `ROWS`. Weights are random: right answers are not part of it.
"""

import json
import re

import jax
import numpy as np
import pytest
from reknos_films import BORN, DIRECTED, FILMS, STARRING, asked

from jaxkg.adjudicate import Scripted
from jaxkg.answer import Answer
from jaxkg.cli.ask import replay, saved
from jaxkg.errors import JaxkgError
from jaxkg.experiments import registry
from jaxkg.experiments.programs import programs_counted
from jaxkg.experiments.registry import SYSTEMS, build_system, faults
from jaxkg.learn.edges.model import TrainedScorer
from jaxkg.learn.planner.model import Planner
from jaxkg.learn.priority.model import PriorityModel, text_encoder
from jaxkg.learn.ranker.fit import PathRanker, label_table
from jaxkg.score.edges import EdgeSizes, init_edge_scorer
from jaxkg.score.path_ranker import init_ranker
from jaxkg.score.planner import init_planner
from jaxkg.score.priority_params import PrioritySizes, init_priority
from jaxkg.settings import wishes_from
from jaxkg.systems.parts import Devices, Parts
from jaxkg.systems.replicated import ReplicatedQA
from jaxkg.text import HashingEncoder, NgramHasher

R = FILMS.num_relations
HASHER = NgramHasher(buckets=64)
SEEN = np.ones(64, bool)
ENCODER = HashingEncoder(buckets=64)
NOWHERE = asked("who is it", "Nobody", id="nowhere")
UNLINKED = asked("zzz qqq", id="unlinked")
QUESTIONS = [
    asked("where was the director of Heat born", "Heat", id="a"),
    asked("who starred in Ali", "Ali", id="b"),
    NOWHERE,
    asked("films of Al Pacino", "Al Pacino", id="c"),
    UNLINKED,
    asked("what genre is [Serpico]", "Serpico", "Heat", id="d"),
]

ROWS = {
    "planner": ["mode=union", "threshold=0", "batch_size=8"],
    "pathhd": ["dimension=64", "threshold=0", "batch_size=8", "top_k=2"],
    "pathhd text": ["query=text", "dimension=64", "hops=2", "batch_size=8"],
    "reader": ["encoder=hashing"],
    "reknos": ["scorer=labels", "hops=2", "batch_size=8"],
    "pathmind": ["threshold=0", "batch_size=8"],
    "ranked": ["batch_size=8"],
    "guided": ["width=2", "sample=default", "threshold=0", "batch_size=8"],
    "proh": [],
    "llm-planned": ["batch_size=8"],
}
"""Settings of each method, by its name and a word where it stands twice."""

MOST_PROGRAMS = 8
"""Of a batch of questions; a first answer waits for each to be compiled."""
MOST_OF_ANY_SIZE = 10
"""Of batches of four sizes; an evaluation of a larger graph may want 15."""
ALWAYS_FINDS_SOMETHING = {"proh"}
LINKS_ITSELF = {"proh", "reader"}  # and says in words of its own that nothing was recognised
COUNTS_NOTHING = {"reader", "ranked", "proh"}
"""Of the nodes and edges that it visits."""
ON_THE_HOST = {"reader"}
"""But for sentence vectors, which are hashed here."""
SENTENCE_VECTORS = {"pathhd text", "ranked", "guided", "proh"}


def test_every_method_has_a_row():
    methods = {name for name, entry in SYSTEMS.items() if not entry.baseline}
    assert {row.partition(" ")[0] for row in ROWS} == methods


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Folders of models by what they are trained for, and a planner; nothing is trained."""
    root, keys = tmp_path_factory.mktemp("trained"), jax.random.split(jax.random.key(0), 4)
    planner = init_planner(R, hops=2, width=8, buckets=64, key=keys[0])
    size = ENCODER(["a"]).shape[1]
    sizes = EdgeSizes(
        text=size, graph=0, question=size, hops=2, width=8, attention=(8, 8), classifier=(8, 8)
    )
    scorer = TrainedScorer(
        jax.device_get(init_edge_scorer(sizes, key=keys[1])),
        sizes,
        FILMS.relations,
        np.zeros((2 * R, 0), np.float32),
        np.zeros((FILMS.num_entities, 0), np.float32),
        (ENCODER.name, ENCODER.revision),
    )
    ranker = PathRanker(
        (
            jax.device_get(
                init_ranker(R, dimension=size, width=8, hidden=8, buckets=64, key=keys[2])
            ),
        ),
        FILMS.relations,
        label_table(ENCODER, FILMS.relations),
        HASHER,
        (ENCODER.name, ENCODER.revision),
    )
    texts = text_encoder(None, FILMS.relations)(FILMS.relations).astype(np.float32)
    shape = PrioritySizes(hops=2, buckets=64, text=texts.shape[1])
    priority = PriorityModel(
        jax.device_get(init_priority(R, shape, key=keys[3])),
        FILMS.relations,
        HASHER,
        shape,
        SEEN,
        texts,
    )
    folders = {"guided": scorer, "ranked": ranker, "pathmind": priority}
    return (
        {name: model.save(root / name) for name, model in folders.items()},
        Planner(jax.device_get(planner), FILMS.relations, HASHER, 2, SEEN),
    )


def plan(request):
    """A model that plans: who directed it, and where those were born."""
    told = {"reasoning": "so", "hops": [[DIRECTED], [BORN]], "alternatives": [[[STARRING]]]}
    return json.dumps(told)


ONE = Devices()


def build(row, trained, devices=ONE, backend=None, wishes=(), ask="unsure"):
    """A row's method, what it was built of, and its model."""
    name = row.partition(" ")[0]
    if backend is None and SYSTEMS[name].model == "needed":
        backend = Scripted(plan)
    wishes = wishes_from([*ROWS[row], *wishes])
    parts = Parts(
        FILMS,
        lambda *step: None,
        backend,
        trained=trained[0],
        wishes=wishes,
        devices=devices,
        ask_model=ask,
    )
    parts.shared["planner"] = trained[1]
    if row in SENTENCE_VECTORS:
        parts.shared["encoder"] = ENCODER
    return build_system(name, parts), parts, backend


@pytest.fixture(scope="module", params=ROWS)
def built(request, trained):
    """A method's row, the method, what it was built of, and its model."""
    return request.param, *build(request.param, trained)


@pytest.fixture(scope="module")
def answered(built):
    jax.clear_caches()
    with programs_counted() as programs:
        found = built[1].answer(QUESTIONS)
    # Here and not in a test of its own: between two tests what is compiled may be let go.
    with programs_counted() as more:
        for count in (1, 9, 70):
            built[1].answer((QUESTIONS * 12)[:count])
    return found, programs, programs.wanted + more.wanted


@pytest.fixture(scope="module")
def answers(answered):
    return answered[0]


def test_a_batch_wants_few_programs(answered):
    assert answered[1].total <= MOST_PROGRAMS, answered[1].lines()


def test_batches_of_any_size_share_their_programs(answered):
    assert answered[2].total() <= MOST_OF_ANY_SIZE, answered[2]


def told(answer):
    return {entity.entity: entity.score for entity in answer.entities}


def test_answers_come_in_the_order_of_the_questions(built, answers):
    row, system, _, _ = built
    assert [(a.question_id, a.question) for a in answers] == [(q.id, q.text) for q in QUESTIONS]
    assert all(answer.system.startswith(row.partition(" ")[0]) for answer in answers)
    assert any(answer.entities for answer in answers), "it answers something"
    assert system.answer([]) == []


def test_a_question_alone_is_answered_as_in_a_batch(built, answers):
    _, system, _, _ = built
    for question, answer in zip(QUESTIONS[2:], answers[2:]):
        [alone] = system.answer([question])
        assert told(alone) == pytest.approx(told(answer), rel=1e-3, abs=1e-5)
        assert alone.abstained == answer.abstained
        walks, others = (
            sorted(tuple(c.triple for c in path.citations) for path in some.paths)
            for some in (alone, answer)
        )
        assert walks == others


def arrays_of(thing, seen):
    """All arrays on a device that an object reaches; functions are not looked into."""
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    if isinstance(thing, jax.Array):
        yield thing
        return
    inside = list(getattr(thing, "__dict__", {}).values())
    if isinstance(thing, dict):
        inside += thing.values()
    elif isinstance(thing, (tuple, list)):
        inside += thing
    for each in inside:
        yield from arrays_of(each, seen)


@pytest.mark.slow
def test_several_devices_answer_as_one(built, trained, answers):
    row, _, parts, backend = built
    if backend is not None:
        with pytest.raises(JaxkgError, match=f"--system {row} asks the language model as it"):
            build(row, trained, Devices(2))
        return
    many, shared, _ = build(row, trained, Devices(2))
    assert isinstance(many, ReplicatedQA)
    name = row.partition(" ")[0]
    assert registry.build(name, shared).marks == registry.build(name, parts).marks
    found = many.answer(QUESTIONS)
    assert [answer.question_id for answer in found] == [q.id for q in QUESTIONS]
    for answer, alone in zip(found, answers, strict=True):
        assert told(answer) == pytest.approx(told(alone), rel=1e-3, abs=1e-5)
        assert [e.entity for e in answer.entities] == [e.entity for e in alone.entities]
        walks, others = (
            {path.id: tuple(c.triple for c in path.citations) for path in some.paths}
            for some in (answer, alone)
        )
        assert walks == others
        assert (answer.abstained, answer.notes) == (alone.abstained, alone.notes)
        assert faults(many, shared, answer) == ()
    assert many.answer([]) == []
    assert [a.question_id for a in many.answer(QUESTIONS[:2])] == ["a", "b"]
    # What lies on one device is not fetched by another.
    for place, copy in enumerate(many.copies):
        where = {device.id for array in arrays_of(copy, {}) for device in array.devices()}
        assert where == (set() if row in ON_THE_HOST else {place})


def nodes_of(stages):
    for node in stages:
        yield node
        yield from nodes_of(node.below)


def test_a_trace_agrees_with_the_answer(built):
    """What a stage considered is told best first; of what was answered something was chosen."""
    _, system, _, _ = built
    for question in QUESTIONS:
        [answer] = system.answer([question])
        traced, stages = system.traced(question)
        assert told(traced) == pytest.approx(told(answer), rel=1e-5)
        assert (traced.paths, traced.plan) == (answer.paths, answer.plan)
        assert (traced.abstained, traced.system) == (answer.abstained, answer.system)
        nodes = list(nodes_of(stages))
        assert any(node.kept for node in nodes) >= bool(traced.entities)
        for node in nodes:
            scores = [below.score for below in node.below if below.score is not None]
            assert scores == sorted(scores, reverse=True), node.text
        replay(json.loads(saved(traced, stages)), most=8)


def test_without_a_topic_it_says_why_there_is_no_answer(built, answers):
    row, _, _, _ = built
    by_id = {answer.question_id: answer for answer in answers}
    for answer in answers:
        assert bool(answer.abstained) != bool(answer.entities)
    if row not in ALWAYS_FINDS_SOMETHING:
        assert by_id["unlinked"].abstained
    if row not in LINKS_ITSELF:
        assert by_id["nowhere"].abstained == "the topic 'Nobody' is not in the graph"
        assert by_id["nowhere"].notes[0] == "the graph has no entity 'Nobody'"
        assert "no entity of the graph is recognised" in by_id["unlinked"].abstained


def test_every_answer_is_grounded(built, answers):
    _, system, parts, _ = built
    assert [faults(system, parts, answer) for answer in answers] == [()] * len(answers)
    for answer in answers:
        backing = {path for entity in answer.entities for path in entity.paths}
        assert backing <= {path.id for path in answer.paths}


def test_what_was_retrieved_and_visited_is_told_or_null(built, answers):
    row, _, _, _ = built
    for answer in answers:
        assert {entity.entity for entity in answer.entities} <= set(answer.retrieved)
        assert len(set(answer.retrieved)) == len(answer.retrieved)
        nodes, edges = answer.usage.nodes, answer.usage.edges
        assert (nodes is None, edges is None) == (row in COUNTS_NOTHING,) * 2
        if answer.entities and nodes is not None:
            assert nodes >= len(answer.entities)
            cited = {cited.triple for path in answer.paths for cited in path.citations}
            assert edges >= len(cited)
    assert Answer.from_json(answers[0].to_json()) == answers[0]


def test_what_it_cost_is_told(built, answers):
    row, _, _, backend = built
    for answer in answers:
        asked_of_it = backend is not None and answer.question_id not in ("nowhere", "unlinked")
        # A model that plans may be asked to choose, too, once in each order.
        most = 3 if row == "llm-planned" else 1
        assert int(asked_of_it) <= answer.usage.calls <= most * int(asked_of_it)
        assert answer.usage.seconds == pytest.approx(sum(answer.usage.stages.values()))
        assert answer.usage.seconds > 0


@pytest.mark.parametrize("row", [row for row in ROWS if row not in ("proh", "reader")])
def test_a_model_is_offered_the_readings_of_every_method(row, trained):
    """The reading that a method has second is among them, and choosing it changes the answer."""
    wanted, prompts = [], []

    def says(request):
        if request.stage != "choose":
            return plan(request)
        prompts.append(request.messages[-1].content)
        numbered = re.findall(r"^(\d+)\. (.*): .* \(chance .*\)$", prompts[-1], re.MULTILINE)
        place = [int(number) for number, words in numbered if words in wanted]
        return json.dumps({"reading": place[0] if place else 0})

    wishes = ["judge.weight=50"]
    system, parts, _ = build(row, trained, backend=Scripted(says), wishes=wishes, ask="always")
    [own] = system.inner.answer(QUESTIONS[:1])
    offers = system.offers(own)
    assert sum(offer.own for offer in offers) == bool(own.entities)
    wanted.append(offers[1].reading.reading)
    [answer] = system.answer(QUESTIONS[:1])
    assert all(offer.reading.reading in prompts[-1] for offer in offers)
    assert answer.reading == offers[1].reading.reading != own.reading
    assert told(answer) != told(own)
    assert answer.usage.calls >= 2
    assert any(f"chose among {len(offers)} readings" in note for note in answer.notes)
    assert faults(system, parts, answer) == ()
