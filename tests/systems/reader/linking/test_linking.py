"""Which relations a question asks for: chances, views, the phrasebook, the tuning."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from readers import readings_of
from tiny_bert import write_tiny_bert
from training.fit_linking import LinkingConfig, fit_linking, linking_loss
from training.made_up_phrases import with_long_labels, with_made_up
from training.phrasebook import read_domain, read_phrasebook

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.linking import (
    BACKWARDS,
    NAMES,
    SHARP,
    RelationLinking,
    chances_of,
    linking_views,
)
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.vectors import TextVectors
from jaxkg.systems.reader.weights import ReaderWeights, shipped_weights
from jaxkg.text import HashingEncoder
from jaxkg.text.encoder import encoder_changed
from jaxkg.text.minilm import MiniLM, digest_of
from jaxkg.text.vectors import CachedEncoder

SHOP = [
    ("Flour", "supplied by", "Mill"),
    ("Flour", "price", "3"),
    ("Mill", "based in", "Brook"),
    ("Rye", "supplied by", "Mill"),
]


class Told:
    """An encoder of unit vectors that are said beforehand; what is not said is like nothing."""

    name, revision, dimension = "told", "1", 4

    def __init__(self, said):
        self.said = said

    def __call__(self, texts):
        return np.array([self.said.get(text, np.zeros(4)) for text in texts], np.float32)


def linked(question, said, kg=None):
    kg = kg or KnowledgeGraph.from_triples(SHOP)
    readings = Readings(kg, None, ReaderSettings())
    asked = readings.asked(question)
    found = readings.of(asked)
    said = {asked.alignment.masked_text(): np.eye(4)[0], **said}
    relations = readings.vocabulary.relations
    linking = RelationLinking(
        TextVectors(Told(said)),
        [relation.wordings for relation in relations],
        np.array([not relation.role for relation in relations]),
    )
    views = linking_views(asked, found, readings.find, linking)
    return kg, found, dict(zip(NAMES, views.T))


def path(kg, found, *names):
    codes = tuple(kg.relation_code(name) for name in names)
    return next(n for n, c in enumerate(found) if c.relations == codes and c.shape == "path")


def test_chances_are_a_softmax_over_relations_both_ways():
    cosines = np.array([[0.6, 0.1], [0.2, -0.3], [0.5, 0.55]], np.float32)
    wanted = np.exp(SHARP * cosines.astype(np.float64))
    np.testing.assert_allclose(chances_of(cosines), wanted / wanted.sum(), rtol=1e-4)
    assert chances_of(np.zeros((0, 2), np.float32)).shape == (0, 2)


def test_the_relation_and_the_direction_that_are_asked_for_have_the_chance():
    near = {"supplied by": np.array([0.9, 0.1, 0, 0]), BACKWARDS + "supplied by": np.zeros(4)}
    kg, found, views = linked("who do we buy Flour off?", near)
    right, other = path(kg, found, "supplied by"), path(kg, found, "price")
    assert views["linked in all"][right] > 0.99
    assert views["linked ahead"][right] > 0.99
    assert views["linked missed"][right] < 0.01 < 0.99 < views["linked missed"][other]
    assert views["linked sem"][right] == pytest.approx(0.9)
    back = path(kg, found, "supplied by", "^supplied by")
    assert views["linked either way"][back] == pytest.approx(views["linked either way"][right])
    assert views["linked ahead"][back] == pytest.approx(0.5, abs=0.01)


def test_a_reading_is_as_likely_as_its_least_likely_step():
    near = {"supplied by": np.array([0.8, 0, 0, 0]), "based in": np.array([0.78, 0, 0, 0])}
    kg, found, views = linked("where is it from, that Flour?", near)
    both, one = path(kg, found, "supplied by", "based in"), path(kg, found, "supplied by")
    assert views["linked least"][both] == pytest.approx(0.4, abs=0.02)
    assert views["linked missed"][one] == pytest.approx(0.4, abs=0.02)
    assert views["linked missed"][both] < 0.01
    assert views["linked least sem"][both] == pytest.approx(0.78)
    assert views["linked log"][both] == pytest.approx(np.log(0.4), abs=0.05)


def one_reading(codes, among, cosines, total):
    """`linking_views` of one reading, step by step."""
    chances, view = chances_of(cosines), dict.fromkeys(NAMES, 0.0)
    either = chances.sum(axis=1)
    steps = []
    for code in codes:
        if code % total in among:
            at = among.index(code % total)
            steps.append((at, cosines[at, code // total], chances[at, code // total]))
    walked = {at for at, _, _ in steps}
    view["linked missed"] = max(
        (either[at] for at in range(len(among)) if at not in walked), default=0
    )
    view["linked best"] = max(either)
    view["linked spread"] = -sum(either * np.log(either + 1e-4))
    if steps:
        shares = [either[at] for at in walked]
        view |= {
            "linked in all": min(1.0, sum(chance for _, _, chance in steps)),
            "linked either way": sum(shares),
            "linked least": min(shares),
            "linked log": np.log(min(shares) + 1e-4),
            "linked sem": np.mean([cosine for _, cosine, _ in steps]),
            "linked least sem": min(1.0, *(cosine for _, cosine, _ in steps)),
            "linked ahead": np.mean([chance / max(either[at], 1e-4) for at, _, chance in steps]),
        }
    return list(view.values())


@pytest.mark.parametrize("seed", range(4))
def test_views_of_many_readings_are_those_of_each(seed):
    rng = np.random.default_rng(seed)
    said = {
        start + relation: rng.normal(0.3, 0.1, 4)
        for relation in ("supplied by", "price", "based in", "next to")
        for start in ("", BACKWARDS)
    }
    kg = KnowledgeGraph.from_triples([*SHOP, ("Mill", "next to", "Inn"), ("Inn", "type", "pub")])
    question = "what is the price of what is supplied by the Mill next to the Inn?"
    kg, found, views = linked(question, said, kg)
    assert {len(one.relations) for one in found} >= {0, 1, 2, 3}
    among = [kg.relation_code(name) for name in ("supplied by", "price", "based in", "next to")]
    among.sort()
    cosines = np.array(
        [[said[start + kg.relations[r]][0] for start in ("", BACKWARDS)] for r in among]
    )
    for place, one in enumerate(found):
        codes = [*one.relations, *([one.measure] if one.measure >= 0 else [])]
        expected = one_reading(codes, among, cosines, kg.num_relations)
        np.testing.assert_allclose([views[name][place] for name in NAMES], expected, atol=1e-4)


def test_without_an_encoder_nothing_is_linked():
    readings = readings_of(SHOP)
    asked = readings.asked("who supplies Flour?")
    found = readings.of(asked)
    assert readings.linking is None
    assert not linking_views(asked, found, readings.find, None).any()


def test_of_many_relations_those_of_the_readings_alone_share_the_chance():
    facts = [("A", f"relation {n}", f"B{n}") for n in range(3)]
    facts += [(f"X{n}", f"further {n}", f"Y{n}") for n in range(600)]
    kg, found, views = linked(
        "what is the relation 1 of A?",
        {"relation 1": np.eye(4)[0]},
        KnowledgeGraph.from_triples(facts),
    )
    assert views["linked in all"][path(kg, found, "relation 1")] > 0.99


BOOK = """== bakery
supplied_by: flour > mill: supplied by; supplier; suppliedBy
price: flour > number: price; costs; priceEur
based_in: mill > town: based in; where; town
--
supplied_by: who do we buy @ off?
-supplied_by price: what do @'s goods cost?
price: which is the dearest?
"""


def test_a_phrasebook_is_read(tmp_path):
    (tmp_path / "bakery.txt").write_text(BOOK, encoding="utf-8")
    (domain,) = read_phrasebook(tmp_path)
    assert domain.title == "bakery"
    assert domain.labels[0] == ("supplied by", "supplier")
    assert domain.labels[1] == ("price", "costs", "price eur")
    first, second, third = domain.phrases
    assert (first.text, first.ahead, first.backwards) == ("who do we buy it off", {0}, frozenset())
    assert second.text == "what do it s goods cost"
    assert (second.ahead, second.backwards) == ({1}, {0})
    assert third.ahead == third.backwards == {1}


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (("price: flour > number", "price flour > number"), 3),
        (("-supplied_by price:", "-price_of:"), 7),
    ],
)
def test_a_line_of_another_form_is_told(tmp_path, change, line):
    file = tmp_path / "bakery.txt"
    file.write_text(BOOK.replace(*change), encoding="utf-8")
    with pytest.raises(JaxkgError, match=rf"bakery.txt:{line}: no `key"):
        read_domain(file)


def test_the_phrasebook_is_read_from_its_archive():
    domains = read_phrasebook(Path(__file__).parents[4] / "scripts/reader/phrasebook.tar.xz")
    assert len(domains) == 117
    assert sum(len(domain.phrases) for domain in domains) == 17_919


def test_a_folder_without_a_phrasebook_is_told(tmp_path):
    with pytest.raises(JaxkgError, match="no phrasebook"):
        read_phrasebook(tmp_path)


@pytest.fixture
def encoder(tmp_path):
    """A tiny model that knows the words of the phrasebook above."""
    pytest.importorskip("tokenizers")
    words = "who do we buy it off what s goods cost which is the dearest supplied by supplier price"
    write_tiny_bert(
        tmp_path, [*words.split(), "costs", "eur", "based", "in", "where", "town", "has"]
    )
    return MiniLM.open(tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("standard_promotion")
def test_a_tuned_encoder_tells_the_relations_asked_for_and_leaves_the_other_as_it_is(
    encoder, tmp_path
):
    file = tmp_path / "bakery.txt"
    file.write_text(BOOK, encoding="utf-8")
    domain = read_domain(file)
    told = []
    config = LinkingConfig(layers=2, rank=8, epochs=200, batch=3, rate=4e-3)
    before = encoder(["who do we buy it off"])
    change = fit_linking(encoder, [domain], config, told=lambda epoch, loss: told.append(loss))
    assert told[-1] < 0.5 * told[0]  # two of three ask for two: 0.46 is the least
    tuned = encoder.changed(change)
    np.testing.assert_array_equal(encoder(["who do we buy it off"]), before)
    labels = [some[0] for some in domain.labels]
    every = [*labels, *(BACKWARDS + label for label in labels)]
    for phrase in domain.phrases:
        cosines = tuned(every) @ tuned([phrase.text])[0]
        wanted = {*phrase.ahead, *(3 + r for r in phrase.backwards)}
        assert set(np.argsort(-cosines)[: len(wanted)].tolist()) == wanted
    again = fit_linking(encoder, [domain], config)
    assert digest_of(again) == digest_of(change)
    further = []
    brief = dataclasses.replace(config, epochs=1, rate=1e-6)
    fit_linking(
        encoder, [domain], brief, start=change, told=lambda epoch, loss: further.append(loss)
    )
    assert further[0] < 0.5 * told[0]  # it went on from there
    assert digest_of(again) == digest_of(change)
    assert tuned.revision == f"{encoder.revision}-{digest_of(change)}"


def test_the_loss_is_that_of_its_twin():
    rng = np.random.default_rng(0)
    questions, labels = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in
                         (rng.normal(size=(3, 5)), rng.normal(size=(6, 5))))  # fmt: skip
    valid = np.array([1, 1, 1, 1, 1, 0], bool)
    asked = np.array([[1, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0]], bool)
    losses = []
    for question, wanted in zip(questions, asked):
        logits = [SHARP * float(question @ labels[n]) for n in range(6) if valid[n]]
        whole = sum(np.exp(x) for x in logits)
        losses.append(np.mean([np.log(whole) - logits[n] for n in range(6) if wanted[n]]))
    found = linking_loss(*(x.astype(np.float32) for x in (questions, labels)), valid, asked)
    assert float(found) == pytest.approx(np.mean(losses), rel=1e-4)


def test_weights_keep_the_change_and_give_it_to_the_encoder_that_was_tuned(encoder, tmp_path):
    shipped = shipped_weights("hashing")
    rng = np.random.default_rng(0)
    change = {"inner": (rng.normal(size=(1, 24, 2)), rng.normal(size=(1, 2, 40)))}
    tuned = encoder.revision.partition("-")[0]
    one = dataclasses.replace(shipped, change=change, about={**shipped.about, "tuned": tuned})
    one.save(tmp_path / "reader.npz")
    opened = ReaderWeights.open(tmp_path / "reader.npz")
    found = opened.change_of(encoder)
    assert found is not None
    np.testing.assert_allclose(found["inner"][0], change["inner"][0], rtol=1e-3)
    assert opened.change_of(HashingEncoder()) is None
    assert shipped.change_of(encoder) is None
    kept = CachedEncoder(encoder, tmp_path / "vectors.sqlite")
    assert opened.change_of(kept) is not None
    other = encoder_changed(kept, found)
    assert isinstance(other, CachedEncoder)
    assert other.path != kept.path
    assert np.abs(other(["who do we buy it off"]) - kept(["who do we buy it off"])).max() > 1e-3
    assert encoder_changed(HashingEncoder(), found) is None


def test_a_step_has_the_chance_of_its_own_direction_alone():
    near = {"supplied by": np.eye(4)[0] * 0.8, BACKWARDS + "supplied by": np.eye(4)[0] * 0.8}
    kg, found, views = linked("who do we buy Flour off?", near)
    right = path(kg, found, "supplied by")
    assert views["linked in all"][right] == pytest.approx(0.5, abs=0.01)
    assert views["linked either way"][right] == pytest.approx(1.0, abs=0.01)
    assert views["linked ahead"][right] == pytest.approx(0.5, abs=0.01)


def test_a_change_of_one_layer_is_of_the_last(encoder):
    change = {"inner": (np.ones((1, 24, 2), np.float32), np.ones((1, 2, 40), np.float32))}
    before, after = (one.weights.layers for one in (encoder, encoder.changed(change)))
    kernels = [(before[n].inner.kernel, after[n].inner.kernel) for n in (0, 1)]
    np.testing.assert_array_equal(*kernels[0])
    assert np.abs(kernels[1][1] - kernels[1][0]).min() > 1


def test_a_damaged_change_is_refused(tmp_path):
    spoilt = {"inner": (np.full((1, 24, 2), np.nan), np.ones((1, 2, 40)))}
    dataclasses.replace(shipped_weights("hashing"), change=spoilt).save(tmp_path / "reader.npz")
    with pytest.raises(JaxkgError, match="damaged"):
        ReaderWeights.open(tmp_path / "reader.npz")


def test_questions_made_of_labels_ask_for_what_bears_them(tmp_path):
    file = tmp_path / "bakery.txt"
    file.write_text(BOOK, encoding="utf-8")
    domain = read_domain(file)
    assert domain.ends == (("flour", "mill"), ("flour", "number"), ("mill", "town"))
    made = with_made_up(domain, 60)
    assert made.phrases[:3] == domain.phrases
    assert made == with_made_up(domain, 60)
    chains = set()
    for phrase in made.phrases[3:]:
        asked = {*phrase.ahead, *phrase.backwards}
        for relation in asked:
            assert any(label in phrase.text for label in domain.labels[relation])
        assert "it" in phrase.text.split()
        assert not phrase.ahead & phrase.backwards
        if len(asked) == 2:
            chains.add((phrase.ahead, phrase.backwards))
    # Flour to mill to town, and the other facts of the flour that a mill or a price leads back to.
    assert chains == {
        (frozenset({0, 2}), frozenset()),
        (frozenset({1}), frozenset({0})),
        (frozenset({0}), frozenset({1})),
    }


def test_relations_named_by_one_word_are_told_by_what_has_them_too(tmp_path):
    file = tmp_path / "bakery.txt"
    file.write_text(BOOK, encoding="utf-8")
    longer = with_long_labels(read_domain(file))
    assert longer.labels[0] == ("supplied by", "supplier", "flour supplier")
    assert longer.labels[2] == ("based in", "where", "town", "mill where", "mill town")


def test_one_small_word_names_nothing_of_many():
    long = "All; if colorpoint is considered a separate breed it is called the Javanese"
    facts = [("Balinese", "pattern", long), ("Manx", "pattern", "moderate tail")]
    readings = readings_of(facts)
    assert not readings.asked("How many of the breed are there?").mentions
    assert readings.asked("Which have a moderate look?").mentions


def test_a_word_with_an_ending_more_is_no_misspelt_name():
    facts = [("Krypton", "price", "5"), ("Kettle", "price", "9")]
    readings = readings_of(facts)
    assert not readings.asked("what is the price of kryptonite").mentions
    assert readings.asked("what is the price of kryptonn").mentions


def test_a_word_that_many_names_share_is_known():
    people = ("Abel", "Bloch", "Cohn", "Dumas", "Euler", "Fabre")
    others = [f"{first}{second} Vale" for first in "BDFGKLM" for second in ("al", "en", "ir", "or")]
    directors = [*(f"Jean {name}" for name in people), *others]
    facts = [(f"Film {at}", "director", name) for at, name in enumerate(directors)]
    readings = readings_of(facts)
    asked = readings.asked("which films are by the old Jean and by the old Otto")
    assert [asked.cues.words.folded[place] for place in asked.unknown] == ["otto"]
