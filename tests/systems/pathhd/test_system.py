"""PathHD as a system: with the demo graph's planner, and with nothing but relation labels."""

import dataclasses
import json

import numpy as np
import pytest
from planners import demo_planner

from jaxkg.adjudicate import Scripted
from jaxkg.cite import check_all
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, demo_questions, find_topics
from jaxkg.records import Question
from jaxkg.systems.adjudicated import AdjudicatedQA
from jaxkg.systems.pathhd import Calibration, PathHD, PathHDSettings, fit_calibration
from jaxkg.systems.pathhd.fit import calibrated
from jaxkg.systems.pathhd.queries import PlanQuery
from jaxkg.systems.pathhd.space import hop_texts
from jaxkg.words import TOPIC_WORD

SMALL = PathHDSettings(dimension=128, block=2, threshold=0.05, batch_size=8)


@pytest.fixture(scope="module")
def planned(cache) -> PathHD:
    kg, tensors, planner = demo_planner(cache)
    return PathHD.build(kg, planner, tensors=tensors, settings=SMALL)


LABELS = KnowledgeGraph.from_triples(
    [
        ("Alien", "directed by", "Ridley Scott"),
        ("Alien", "written by", "Dan O'Bannon"),
        ("Ridley Scott", "born in", "South Shields"),
        ("Dan O'Bannon", "born in", "St. Louis"),
        ("Heat", "directed by", "Michael Mann"),
        ("Heat", "directed by", "m.0abcd"),
        ("Heat", "filmed", "m.0efgh"),
    ]
)


@pytest.fixture(scope="module")
def labels() -> PathHD:
    """Zero-shot: no planner, symbols from labels."""
    return PathHD.build(LABELS, settings=dataclasses.replace(SMALL, dimension=512, hops=2))


def names(answer) -> set[str]:
    return {entity.name for entity in answer.entities}


def asked(text: str, topic: str) -> Question:
    return Question(id=text, text=text, topics=(topic,))


def test_planned_answers_are_right_and_cited_and_say_why(planned):
    questions = demo_questions()
    answers = planned.answer(questions)
    assert check_all(planned.kg, answers) == [()] * len(answers)
    right = [names(a) == {planned.kg.name(planned.kg.entity(e)) for e in q.answers}
             for q, a in zip(questions, answers)]  # fmt: skip
    assert np.mean(right) >= 0.75
    for answer in answers:
        if answer.entities:
            [used] = [plan for plan in answer.plan if plan.used]
            assert used.reached == len(answer.entities)
            assert {path.relation_path for path in answer.paths} == {used.relations}


def test_the_hops_contributions_add_up_to_the_similarity(planned):
    answer = planned.ask("who directed [Alien]?")
    [note] = [note for note in answer.notes if note.startswith("similarity")]
    total, _, parts = note.removeprefix("similarity ").partition(" = ")
    numbers = [
        float(word) for word in parts.split() if word.lstrip("+-").replace(".", "").isdigit()
    ]
    assert len(numbers) == 1 + len(answer.paths[0].relation_path)
    assert sum(numbers) == pytest.approx(float(total), abs=0.03)


def test_one_plan_is_a_bundle_of_one(planned):
    questions = demo_questions()[:8]
    topics = find_topics(planned.linker, questions)
    one = dataclasses.replace(planned, kind="plan").read(questions, topics)
    assert isinstance(one.query, PlanQuery)
    assert one.query.relations.shape[1] == 1
    found = planned.retrieve(one, topics)
    # The schema nearest to a plan is the plan itself.
    there = one.query.relations[:, 0, 0] >= 0
    np.testing.assert_array_equal(found.relations[there, 0], one.query.relations[there, 0])
    np.testing.assert_allclose(found.similarity[there, 0], 1.0, atol=1e-4)


@pytest.mark.slow
def test_listed_and_grown_candidates_agree_on_the_best(planned):
    questions = demo_questions()[:8]
    grown = dataclasses.replace(planned, schemas=None)
    for one, other in zip(planned.answer(questions), grown.answer(questions)):
        assert names(one) == names(other)


def test_labels_alone_answer_questions_that_use_their_words(labels):
    assert names(labels.ask("who was [Alien] directed by?")) == {"Ridley Scott"}
    assert names(labels.ask("who was [Alien] written by?")) == {"Dan O'Bannon"}
    assert names(labels.ask("what was [Ridley Scott] born in?")) == {"South Shields"}


BOTH_WAYS = KnowledgeGraph.from_triples(
    [
        ("Ann", "parent", "Bea"),
        ("Bea", "boss", "Cid"),
        ("Ann", "boss", "Dan"),
        ("Dan", "parent", "Eve"),
    ]
)


@pytest.mark.slow
@pytest.mark.parametrize("operator", ["ghrr-haar", "fhrr"])
def test_the_order_of_a_questions_words_decides_where_binding_keeps_order(operator):
    settings = dataclasses.replace(
        SMALL,
        dimension=2048,
        block=4,
        hops=2,
        query="ordered",
        operator=operator,
        length_weight=(0.1, 1.0),  # two hops are meant; which first is the question
    )
    qa = PathHD.build(BOTH_WAYS, settings=settings)
    questions = [
        asked("who is the boss of Ann 's parent?", "Ann"),
        asked("who is the parent of Ann 's boss?", "Ann"),
    ]
    found = [names(answer) for answer in qa.answer(questions)]
    # One product for both orders, where binding commutes: one of the two must be wrong.
    assert (found == [{"Cid"}, {"Eve"}]) == (operator == "ghrr-haar")
    plain = PathHD.build(BOTH_WAYS, settings=dataclasses.replace(settings, query="text"))
    assert [names(answer) for answer in plain.answer(questions)] != [{"Cid"}, {"Eve"}]


def test_parts_of_a_question_are_cut_where_they_read_like_labels():
    wanted = {"'s boss": 1.0, "parent of": 1.0, "who is the": 0.9}

    def likeness(texts):
        return np.array([wanted.get(text, 0.1 * len(text.split())) for text in texts])

    text = f"who is the parent of {TOPIC_WORD} 's boss"
    one, *two, first, second, third = hop_texts([text], 3, likeness)[0]
    assert one == "who is the parent of 's boss"
    assert len(two) == 2
    assert [first, second, third] == ["'s boss", "parent of", "who is the"]
    assert hop_texts([f"why {TOPIC_WORD}"], 2, likeness) == [["why", "why", "why"]]


def test_distinct_relation_paths_with_score_and_ends_are_what_the_paper_shows(labels):
    reply = json.dumps({"answers": [], "supporting_paths": [1], "rationale": "so"})
    backend = Scripted([reply, reply])
    settings = dataclasses.replace(labels.settings, offered="paths", top_k=3, prompt="a")
    films = [(film, "starring", "Al Pacino") for film in ("Heat", "Serpico")]
    makers = [("Heat", "directed by", "Michael Mann"), ("Serpico", "directed by", "Sidney Lumet")]
    inner = PathHD.build(KnowledgeGraph.from_triples([*films, *makers]), settings=settings)
    assert (labels.single_paths, inner.single_paths) == (None, 3)
    assert (labels.prompt, inner.prompt) == ("ours", "a")
    qa = AdjudicatedQA(inner, backend, top_k=3, single=True, prompt=inner.prompt)
    answer = qa.ask(asked("who directed what he is starring in?", "Al Pacino"))
    system, user = backend.requests[0].messages
    assert system.content.startswith("You are a careful reasoner. Only use the provided KG")
    assert "Select the most plausible reasoning path" in system.content
    again = AdjudicatedQA(inner, backend, top_k=3, single=True, prompt="b")
    again.ask(asked("who directed what he is starring in?", "Al Pacino"))
    reworded, same = (message.content for message in backend.requests[1].messages)
    assert same == user.content
    assert "Choose the best supporting path and use it to answer" in reworded
    assert "Select the most plausible" not in reworded
    lines = [x for x in user.content.splitlines() if x[:1].isdigit()]
    best = {}
    for path in sorted(answer.paths, key=lambda path: -path.score):
        best.setdefault(path.relation_path, path)
    assert 1 < len(lines) == min(3, len(best)) < len(answer.paths)
    for number, (told, path) in enumerate(zip(lines, best.values()), start=1):
        assert told.startswith(f"{number}. {path.sentence} Score: {path.score:.4f}. Ends in: ")
        ends = {p.end[1] for p in answer.paths if p.relation_path == path.relation_path}
        assert set(told.rpartition(" Ends in: ")[2].split("; ")) == ends


def test_weights_of_the_settings_calibrate_and_training_questions_count_schemas(labels):
    settings = dataclasses.replace(labels.settings, alpha=0.2, beta=0.1)
    qa = PathHD.build(LABELS, settings=settings)
    given = qa.calibration
    assert (given.alpha, given.beta, given.decay, given.num_train) == (0.2, 0.1, 0.8, 0)
    training = [asked("who directed it?", "Heat"), asked("who wrote it?", "Alien")]
    counted = calibrated(qa, training).calibration
    assert counted.num_train == 2
    assert (counted.alpha, counted.beta) == (0.2, 0.1)
    assert counted.frequency.max() == 2
    assert counted.inverse_frequency(np.array([[[0, -1]]], np.int32), num_codes=8)[0, 0] > 0
    # No weights given: they are found on a tenth that is not counted.
    many = [
        dataclasses.replace(q, id=f"{i}", answers=("Michael Mann",))
        for i, q in enumerate(training * 10)
    ]
    found = calibrated(labels, many).calibration
    assert (found.num_train, found.hits is not None) == (18, True)


def test_unnamed_nodes_are_no_answers_and_schemas_that_reach_nothing_else_are_passed_over(labels):
    assert names(labels.ask("[Heat] directed by")) == {"Michael Mann"}
    filmed = labels.ask("[Heat] filmed")
    [alone] = [plan for plan in filmed.plan if plan.relations == ("filmed",)]
    [used] = [plan for plan in filmed.plan if plan.used]
    assert alone.reached == 0
    assert alone.probability > used.probability
    assert names(filmed)


def test_every_candidate_is_told_with_its_score(labels):
    settings = dataclasses.replace(labels.settings, top_k=2, alpha=0.2, beta=0.1)
    question = asked("who directed it?", "Alien")
    for qa, by in ((labels, "similarity"), (PathHD.build(LABELS, settings=settings), "calibrated")):
        answer, (stage,) = qa.traced(question)
        assert stage.text.startswith(f"candidate relation paths by {by}")
        assert (", similarity " in stage.below[0].text) == (by == "calibrated")
        kept = [path for path in stage.below if path.kept]
        assert len(kept) == qa.settings.top_k
        assert names(answer) <= {end.text for path in kept for end in path.below}
        assert len(stage.below) > len(kept)


def test_the_planners_doubt_is_an_abstention(planned):
    strict = dataclasses.replace(planned, settings=dataclasses.replace(SMALL, threshold=1.0))
    answer = strict.ask("who directed [Alien]?")
    assert not answer.entities
    assert "below the threshold" in answer.abstained


def test_one_shot_adjudication_is_one_call_a_question(labels):
    three = dataclasses.replace(labels, settings=dataclasses.replace(labels.settings, top_k=3))
    questions = [asked("directed by", "Alien"), asked("written by", "Alien")]
    retrieved = three.answer(questions)
    assert all(len({p.relation_path for p in a.paths}) == 3 for a in retrieved)
    assert [names(a) for a in retrieved] == [{"Ridley Scott"}, {"Dan O'Bannon"}]
    reply = json.dumps({"answers": [], "supporting_paths": [2], "rationale": "Because."})
    backend = Scripted(lambda request: reply)
    decided = AdjudicatedQA(three, backend, top_k=None).answer(questions)
    assert len(backend.requests) == len(questions)
    assert [answer.usage.calls for answer in decided] == [1, 1]
    for before, after in zip(retrieved, decided):
        ends = {path.end[1] for path in before.paths}
        assert names(after) <= ends
        assert names(after) != names(before)


@pytest.mark.slow
def test_calibration_is_fitted_from_questions(labels):
    questions = [
        Question(id="a", text="directed by", topics=("Alien",), answers=("Ridley Scott",)),
        Question(id="b", text="directed by", topics=("Heat",), answers=("Michael Mann",)),
    ]
    fitted = fit_calibration(labels, questions, questions)
    assert fitted.num_train == 2
    assert fitted.hits == pytest.approx(1.0)
    heavy = dataclasses.replace(labels, calibration=dataclasses.replace(fitted, alpha=50.0))
    plain, moved = labels.answer(questions), heavy.answer(questions)
    assert [p.relations for p in plain[0].plan] != [p.relations for p in moved[0].plan]
    same = dataclasses.replace(labels, calibration=Calibration()).answer(questions)
    assert [a.entities for a in same] == [a.entities for a in plain]


def test_what_does_not_fit_is_refused(planned):
    with pytest.raises(JaxkgError, match="needs a planner"):
        PathHD.build(LABELS, settings=dataclasses.replace(SMALL, query="bundle"))
    with pytest.raises(JaxkgError, match="with random symbols a text cannot be a query"):
        PathHD.build(LABELS, settings=dataclasses.replace(SMALL, symbols="random"))
    with pytest.raises(JaxkgError, match="trained for another graph"):
        PathHD.build(LABELS, planned.planner)
    with pytest.raises(JaxkgError, match="at least 1"):
        PathHDSettings(beam=0)
    with pytest.raises(JaxkgError, match="at most 4"):
        PathHDSettings(hops=5)


def refining(labels, reply, *, most=1):
    backend = Scripted(reply)
    settings = dataclasses.replace(labels.settings, refine=most)
    return dataclasses.replace(labels, settings=settings, refiner=backend), backend


def test_a_model_may_choose_among_the_candidate_schemas(labels):
    question = asked("directed by", "Alien")

    def reply(request):
        lines = request.messages[-1].content.splitlines()
        [number] = [line.partition(".")[0] for line in lines if line.endswith(". → written by")]
        return json.dumps({"patterns": [int(number), 99]})

    qa, backend = refining(labels, reply)
    [answer] = qa.answer([question])
    assert names(answer) == {"Dan O'Bannon"}
    assert answer.dropped == ("pattern 99",)
    assert (answer.usage.calls, len(backend.requests)) == (1, 1)
    assert answer.usage.seconds == pytest.approx(sum(answer.usage.stages.values()))
    said = '{"answers": [], "supporting_paths": [1], "rationale": "So."}'
    judge = Scripted(lambda request: said)
    [judged] = AdjudicatedQA(qa, judge).answer([question])
    assert (judged.usage.calls, names(judged)) == (2, {"Dan O'Bannon"})
    assert judged.dropped == ("pattern 99",)


@pytest.mark.parametrize(
    ("reply", "note"),
    [('{"patterns": []}', "chose none"), ("I cannot say.", "not refined (unparsed")],
)
def test_without_a_choice_all_candidates_are_kept(labels, reply, note):
    question = asked("directed by", "Alien")
    qa, _ = refining(labels, lambda request: reply)
    [answer], [plain] = qa.answer([question]), labels.answer([question])
    assert answer.entities == plain.entities
    assert any(note in told for told in answer.notes)


def test_few_candidates_cost_no_call_and_nobody_refines_without_a_model(labels):
    qa, backend = refining(labels, "unused", most=labels.settings.keep)
    assert qa.answer([asked("directed by", "Alien")])[0].entities
    assert not backend.requests
    with pytest.raises(JaxkgError, match="needs a language model"):
        PathHD.build(LABELS, settings=dataclasses.replace(SMALL, refine=2))
