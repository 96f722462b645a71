"""What is worked out for all readings of a question at once, against one after the other."""

import numpy as np
import pytest

from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.language.lexicon.cue_words import LIGHT, STOP
from jaxkg.systems.reader.language.lexicon.stems import Spelt, meant
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.sets.alignment import Alignment
from jaxkg.systems.reader.sets.labels import Labels
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.vectors import ReaderTexts
from jaxkg.systems.reader.views import word_views
from jaxkg.text import HashingEncoder

FARM = KnowledgeGraph.from_triples(
    [
        *((name, "type", "goat") for name in ("Moss", "Fern", "Ivy")),
        *((name, "type", "keeper") for name in ("Roy Penn", "Una Holt")),
        ("Moss", "looked after by", "Roy Penn"),
        ("Fern", "looked after by", "Una Holt"),
        ("Ivy", "looked after by", "Roy Penn"),
        ("Moss", "mother", "Ivy"),
        ("Mother", "looked after by", "Una Holt"),  # its name is a label, too
        ("Roy Penn", "lives in", "Tern Ness"),
        ("Una Holt", "lives in", "Tern Ness"),
        ("Moss", "weight", "41"),
        ("Fern", "weight", "38"),
        ("Ivy", "weight", "52"),
    ]
)
QUESTIONS = (
    "Which goats are looked after by Roy Penn?",
    "Where does the keeper of Moss's mother live?",
    "Which goat is heavier than Fern and looked after by Roy Penn?",
    "What is the heaviest goat that lives in Tern Ness?",
    "How many goats does Una Holt not look after?",
    "Who is Mother looked after by?",
    "Who?",
)


@pytest.fixture(scope="module")
def readings():
    return Readings(FARM, ReaderTexts.of(HashingEncoder()), ReaderSettings())


def elements(asked, candidate, find, quick):
    """(cover, lex, sem, price) of all that a reading is made of."""
    of, vocabulary = asked.alignment.of, find.vocabulary
    codes = [*candidate.relations, *([candidate.measure] if candidate.measure >= 0 else [])]
    for aligned in (of(vocabulary.wordings(code)) for code in codes):
        whole = min(1.0, max(0.0, aligned.whole) * 1.2)
        yield aligned, 1.0, 0.45 - 0.15 * max(aligned.best_lex, whole)
    for kind in candidate.classes:
        yield of(vocabulary.class_words(kind)), 1.0, 0.15
    for kind in (*find.end_classes(candidate), *candidate.between):
        yield of(vocabulary.class_words(kind)), 0.9 if quick else 1.0, 0.0


@pytest.mark.parametrize("question", QUESTIONS)
def test_quick_scores_are_those_of_one_reading_at_a_time(readings, question):
    asked = readings.asked(question)
    found = readings.of(asked)
    assert found
    for candidate in found:
        cover, price = np.zeros(len(asked.alignment.content)), 0.35 * candidate.through
        for aligned, share, cost in elements(asked, candidate, readings.find, quick=True):
            cover, price = np.maximum(cover, share * aligned.cover), price + cost
        cover[list(candidate.explained)] = 1.0
        named = sum(
            asked.mentions[m].options[o].score * (0.6 + 0.4 * len(asked.mentions[m].words))
            for m, o in candidate.topics
        )
        score = (cover * asked.alignment.content).sum() - price + named + 0.5 * candidate.fit
        assert candidate.quick == pytest.approx(score, abs=1e-5)
    quick = [candidate.quick for candidate in found]
    assert quick == sorted(quick, reverse=True)


@pytest.mark.parametrize("question", QUESTIONS)
def test_words_explained_are_those_of_one_reading_at_a_time(readings, question):
    asked, find = readings.asked(question), readings.find
    found = readings.of(asked)
    seen = word_views(asked, found, [find.end_classes(one) for one in found], find)
    for row, candidate in enumerate(found):
        content = asked.alignment.content.copy()
        lex, sem = np.zeros((2, len(content)))
        for aligned, _, _ in elements(asked, candidate, find, quick=False):
            lex, sem = np.maximum(lex, aligned.lex), np.maximum(sem, aligned.sem)
        lex[list(candidate.explained)] = 1.0
        used = {mention for mention, _ in candidate.topics}
        for place, mention in enumerate(asked.mentions):
            if place in used:
                lex[list(mention.words)] = 1.0
            elif mention.score >= 0.7:
                content[mention.first] = max(content[mention.first], mention.score)
        soft = np.clip((sem - 0.2) / 0.5, 0, 1)
        cover = np.maximum(lex, soft)
        aside = content * np.maximum(asked.named - cover, 0)
        wanted = {
            "explained": (content * cover).sum(),
            "unexplained": (content * (1 - cover)).sum(),
            "worst word": max(content * (1 - cover), default=0.0),
            "share": (content * cover).sum() / (content.sum() or 1.0),
            "share by letters": (content * lex).sum() / (content.sum() or 1.0),
            "share by vectors": (content * soft).sum() / (content.sum() or 1.0),
            "named aside": max(aside, default=0.0),
            "named aside in all": aside.sum(),
            "zero": content.sum() == 0,
        }
        for name, value in wanted.items():
            assert seen[name][row] == pytest.approx(value, abs=1e-5), name


def test_what_lies_around_a_node_is_the_same_however_often_it_is_asked(readings):
    find = readings.find
    moss = np.array([FARM.entity_ids.index("Moss")])
    first = {code: ends.tolist() for code, ends in find.reached(moss).items()}
    again = {code: ends.tolist() for code, ends in find.reached(moss).items()}
    around = readings.vocabulary.around.ends(moss)
    assert first == again == {code: ends.tolist() for code, ends in around.items()}


@pytest.mark.parametrize("question", QUESTIONS)
def test_letters_are_those_of_every_word_against_every_word(readings, question):
    alignment = readings.asked(question).alignment
    for label in ("looked after by", "by", "by the", "weight", "name of the mother"):
        parts = [word for word in label.split() if word not in STOP] or label.split()
        likeness = np.zeros(len(alignment.words), np.float32)
        shares, places = [], []
        for part in parts:
            against = [
                0.0
                if place in alignment.masked or (word in STOP and len(parts) > 1)
                else meant(word, part)
                for place, word in enumerate(alignment.words)
            ]
            likeness = np.maximum(likeness, against).astype(np.float32)
            shares.append((0.25 if part in LIGHT else 1.0, max(against)))
            places += [int(np.argmax(against))] if max(against) > 0 else []
        share = sum(w * s for w, s in shares) / sum(w for w, _ in shares)
        for _ in range(2):  # and again, from what is kept
            lex, found, at = alignment.letters((label,))
            np.testing.assert_array_equal(lex, likeness)
            assert found == pytest.approx(share)
            assert at == (np.mean(places) if share else -1)


def test_words_of_a_name_are_like_no_label(readings):
    asked = readings.asked("Which goats does Roy Penn look after?")
    place = asked.cues.words.folded.index("look")
    assert asked.alignment.letters(("looked after by",))[0][place] == 1
    named = Alignment(asked.cues, {place}, Labels(readings.vectors))
    assert named.letters(("looked after by",))[0][place] == 0


_WORDS = (
    "written writes writer wrote directed director direction manager managers management boss "
    "supervisor headquartered headquarters based base birthplace birth place bought buys selling "
    "saltmarsh marsh "
    "costs price prices priced mother mothers wroet weight weihgt kilometres kilometer km a of the "
    "lives living live apartments flat translator translation translated gebaut größe straße"
)
WORDS = _WORDS.split()


def test_many_words_are_as_alike_as_pair_by_pair():
    rng = np.random.default_rng(0)
    slips = [word[:at] + word[at + 1 :] for word in WORDS for at in rng.integers(1, 5, 2)]
    others = [*dict.fromkeys([*WORDS, *slips]), "written"]  # one of them twice
    expected = np.array([[meant(one, other) for other in others] for one in WORDS], np.float32)
    np.testing.assert_array_equal(Spelt(others).likenesses(WORDS), expected)
    assert {0.0, np.float32(0.7), np.float32(0.75), np.float32(0.85), 1.0} <= set(expected.ravel())
    assert Spelt(others).likenesses([]).shape == (0, len(others))
    assert Spelt([]).likenesses(WORDS).shape == (len(WORDS), 0)


def phrase_by_phrase(alignment, wordings):
    """[words] cosine of the best phrase that has the word, as `Aligned.sem` has it."""
    told = alignment.vectors.told(wordings)
    phrases = alignment.vectors.asked(alignment.vectors(alignment.texts()[:-1]))
    cosines = dict(zip(alignment.phrases, (phrases @ told.T).max(axis=1)))
    sem = np.zeros(len(alignment.words))
    for (first, last), cosine in cosines.items():
        parts = [cosines.get((place, place), 0.0) for place in range(first, last + 1)]
        for place in range(first, last + 1):
            if first == last or cosine > max(parts) + 0.03:
                sem[place] = max(sem[place], cosine)
    return np.where(alignment.content > 0, sem, 0), max(cosines.values())


@pytest.mark.parametrize("question", QUESTIONS[:-1])
def test_labels_are_aligned_together_as_alone(readings, question):
    groups = [("looked after by",), ("weight",), ("person", "keeper"), ("mother",), ("lives in",)]
    together, alone = (readings.asked(question).alignment for _ in range(2))
    together.prepare([*groups, groups[0]])
    for group in groups:
        one, other = together.of(group), alone.of(group)
        for name in ("sem", "lex", "cover", "best_sem", "best_lex", "whole", "at"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-5)
        sem, best = phrase_by_phrase(alone, group)
        np.testing.assert_allclose(one.sem, sem, atol=1e-5)
        assert one.best_sem == pytest.approx(max(best, 0.0), abs=1e-5)
        _, share, at = alone.letters(group)
        if share >= 0.5:  # letters tell where it is said, else the nearest phrase does
            assert one.at == at
        else:
            assert one.at in {(first + last) / 2 for first, last in alone.phrases}
