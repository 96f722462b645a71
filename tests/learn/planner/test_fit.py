import dataclasses

import jax
import numpy as np
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.mine import MinedPaths
from jaxkg.learn.planner import fit
from jaxkg.learn.planner.fit import fit_planner
from jaxkg.learn.planner.train import PlannerConfig, mined_log_probabilities
from jaxkg.learn.supervision import Training, revisit_rule
from jaxkg.records import Question
from jaxkg.tensors import tensor_graph
from jaxkg.words import TOPIC_WORD

FILMS = [f"Film{n}" for n in range(20)]
TINY = PlannerConfig(hops=1, width=8, epochs=4, batch_size=16, learning_rate=0.05)


@pytest.fixture(scope="module")
def world():
    facts = [(film, "directed_by", f"Person{n % 7}") for n, film in enumerate(FILMS)]
    facts += [(film, "released_in", f"{1990 + n % 5}") for n, film in enumerate(FILMS)]
    kg = KnowledgeGraph.from_triples([*facts, ("Lone", "next_to", "Lonely")])
    return kg, tensor_graph(kg)


def questions():
    for n, film in enumerate(FILMS):
        yield Question(f"d{n}", f"who directed {film}", (film,), (f"Person{n % 7}",))
        yield Question(f"y{n}", f"when was {film} shown", answers=(f"{1990 + n % 5}",))


UNUSABLE = (
    Question("no-topic", "who directed Nothing", ("Nothing",), ("Person1",)),
    Question("no-answer", "who directed Film1", ("Film1",), ("Stranger",)),
    Question("unanswered", "who directed Film2", ("Film2",)),
    Question("no-path", "who directed Film3", ("Film3",), ("Lonely",)),
)


@pytest.mark.usefixtures("standard_promotion")
def test_questions_and_answers_make_a_planner_and_a_report(world):
    kg, tensors = world
    told = []
    planner, report = fit_planner(
        kg,
        tensors,
        [*questions(), *UNUSABLE],
        config=TINY,
        held_out=0.2,
        training=Training(4, on_progress=lambda *step: told.append(step)),
    )
    assert report.questions == 44
    assert report.without_topic == 1
    assert report.without_answer == 2
    assert report.without_path == 1
    assert report.incomplete == 0
    # Of the 41 that have both ends, all but one are answered exactly by some relation.
    assert report.mined_f1 == pytest.approx(40 / 41)
    assert report.held_out_f1 == pytest.approx(max(score for _, score in report.epochs))
    assert report.epochs[-1][0] < report.epochs[0][0]
    assert report.held_out_f1 > 0.6
    assert planner.relations == kg.relations
    assert planner.hops == 1
    assert planner.about["seed"] == 4
    assert planner.about["revisit"] == "topic"
    assert planner.about["fit"] == dataclasses.asdict(report)
    assert planner.known_share(f"who directed {TOPIC_WORD}") == 1.0
    assert planner.known_share("wherefore") == 0.0
    assert list(dict.fromkeys(stage for stage, _, _ in told)) == ["link", "mine paths", "train"]
    assert told[-1] == ("train", 4, 4)


@pytest.fixture
def split(monkeypatch):
    """What training is given, without mining or training anything."""
    given = {}

    def mine(tensors, starts, goals, *, hops, revisit, **_):
        given["revisit"] = revisit
        f1 = np.zeros((len(starts), 8), np.float32)
        f1[:, 0] = 1 + np.arange(len(starts))  # tells the questions apart
        return MinedPaths(np.zeros((len(starts), 8, hops), np.int32), f1, 3)

    def train(labels, training, held_out, config, **_):
        given["training"], given["held_out"] = (part.f1[:, 0] for part in (training, held_out))
        given["training"] = given["training"][given["training"] >= 1]  # the rest are wordings
        return None, 0.25, ()

    monkeypatch.setattr("jaxkg.learn.supervision.mine_paths", mine)
    monkeypatch.setattr(fit, "train_planner", train)
    return given


def test_held_out_questions_are_not_trained_on(world, split):
    asked = list(questions())
    for share, aside in ((0.25, 10), (0.0, 40), (0.99, 39)):
        _, report = fit_planner(*world, asked, held_out=share, config=TINY)
        training, held_out = set(split["training"]), set(split["held_out"])
        assert len(held_out) == aside
        assert training | held_out == set(range(1, 41))
        # Where nothing is held out, the training questions choose the epoch.
        assert (training & held_out == set()) == (share > 0)
    assert report.incomplete == 3
    assert report.held_out_f1 == 0.25
    fit_planner(*world, asked, held_out=0.25, config=TINY, training=Training(1))
    one = set(split["held_out"])
    fit_planner(*world, asked, held_out=0.25, config=TINY, training=Training(2))
    assert set(split["held_out"]) != one


def test_the_rule_of_return_is_told_from_the_answers_unless_given(world, split):
    planner, _ = fit_planner(*world, list(questions()), config=TINY)
    assert split["revisit"] == planner.about["revisit"] == "topic"
    returning = Question("back", "who else is Film1", ("Film1",), ("Film1",))
    planner, _ = fit_planner(*world, [*questions(), returning], config=TINY)
    assert split["revisit"] == planner.about["revisit"] == "any"
    fit_planner(*world, [*questions(), returning], config=TINY, revisit="none")
    assert split["revisit"] == "none"


@pytest.mark.parametrize(
    ("returning", "total", "rule"), [(0, 10, "topic"), (1, 200, "topic"), (2, 200, "any")]
)
def test_a_few_returns_are_mistakes(returning, total, rule):
    topics = [[n, 999] for n in range(total)]
    targets = [[999, 1000]] * returning + [[1000]] * (total - returning)
    assert revisit_rule(topics, targets) == rule


def test_nothing_to_learn_from_is_refused(world):
    with pytest.raises(JaxkgError, match="no questions"):
        fit_planner(*world, [])
    with pytest.raises(JaxkgError, match=r"held_out must be a share in \[0, 1\), not 1"):
        fit_planner(*world, list(questions()), held_out=1.0)
    with pytest.raises(JaxkgError, match="no relation path leads from a topic to an answer"):
        fit_planner(*world, UNUSABLE[:3], config=TINY)


@pytest.mark.usefixtures("standard_promotion")
@pytest.mark.slow
def test_relations_no_question_shows_are_learned_by_their_names():
    facts = [(f"a{i}", "film.film.directed_by", f"b{i}") for i in range(20)]
    facts += [(f"b{i}", "people.person.born_in", f"c{i % 5}") for i in range(20)]
    graph = KnowledgeGraph.from_triples(facts)
    tensors = tensor_graph(graph)
    questions = [
        Question(id=f"q{i}", text=f"who made a{i}", topics=(f"a{i}",), answers=(f"b{i}",))
        for i in range(20)
    ]
    config = PlannerConfig(hops=1, width=16, epochs=40, patience=40, learning_rate=5e-2)
    planner, report = fit_planner(graph, tensors, questions, config=config)
    assert report.wordings > 0
    asked = planner.ngrams([f"what is the born in of {TOPIC_WORD}"])
    table = np.arange(4, dtype=np.int32)[None, :, None]
    scores = jax.jit(mined_log_probabilities)(planner.params, planner.label_ngrams(), asked, table)
    assert int(np.argmax(scores[0])) % 2 == graph.relation_code("people.person.born_in")

    without = KnowledgeGraph.from_triples(facts[:20])
    once = dataclasses.replace(config, epochs=1)
    _, report = fit_planner(without, tensor_graph(without), questions, config=once)
    assert report.wordings == 0
