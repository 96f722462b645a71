import json

import jax
import numpy as np
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.learn.planner.model import Planner
from jaxkg.learn.planner.wordings import Wordings
from jaxkg.learn.words import QUESTION_WORDS, question_table, seen_buckets
from jaxkg.score.planner import init_planner
from jaxkg.text import NgramHasher
from jaxkg.words import TOPIC_WORD

NAMES = ("directed_by", "^odd", "starring")


@pytest.fixture
def planner():
    hasher = NgramHasher(buckets=64, longest=2)
    params = init_planner(len(NAMES), hops=2, width=8, buckets=64, key=jax.random.key(0))
    seen = seen_buckets(hasher, [f"who directed {TOPIC_WORD}"])
    about = {"fit": {"questions": 3}, "seed": 0}
    wordings = Wordings((f"who directed {TOPIC_WORD}",))
    return Planner(params, NAMES, hasher, hops=2, seen=seen, about=about, wordings=wordings)


@pytest.fixture
def saved(planner, tmp_path):
    return planner.save(tmp_path / "new" / "planner")


def test_what_is_saved_is_what_is_opened(planner, saved):
    back = Planner.open(saved)
    assert all(np.array_equal(a, b) for a, b in zip(planner.params, back.params, strict=True))
    assert [leaf.dtype for leaf in back.params] == [leaf.dtype for leaf in planner.params]
    assert np.array_equal(planner.seen, back.seen)
    for name in ("relations", "hasher", "hops", "about", "wordings"):
        assert getattr(back, name) == getattr(planner, name)


def test_a_planner_saved_before_wordings_were_kept_is_opened_without(planner, saved):
    card = json.loads((saved / "planner.json").read_text())
    del card["wordings"]
    (saved / "planner.json").write_text(json.dumps(card))
    assert Planner.open(saved).wordings.texts == ()


def test_saving_again_replaces_and_leaves_nothing_behind(planner, saved):
    params = planner.params._replace(bias=np.ones(7, np.float32))
    Planner(params, NAMES, planner.hasher, 2, planner.seen).save(saved)
    assert Planner.open(saved).params.bias.tolist() == [1.0] * 7
    assert sorted(path.name for path in saved.iterdir()) == ["planner.json", "planner.npz"]


def test_another_graph_is_refused_with_the_difference(planner):
    planner.check_relations(list(NAMES))
    with pytest.raises(JaxkgError, match=r"3 relations against 2; the graph lacks \^odd\);"):
        planner.check_relations(("directed_by", "starring"))
    with pytest.raises(JaxkgError, match=r"the planner never saw a, b, c …\)"):
        planner.check_relations((*NAMES, "a", "b", "c", "d"))
    with pytest.raises(JaxkgError, match="the same relations in another order"):
        planner.check_relations(NAMES[::-1])


def change(saved, **fields):
    path = saved / "planner.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


@pytest.mark.parametrize("fields", [{"relations": ["a"]}, {"hops": 3}, {"buckets": 128}])
def test_words_and_weights_that_disagree_are_refused(saved, fields):
    change(saved, **fields)
    with pytest.raises(JaxkgError, match=r"weights and sizes disagree|not those it was"):
        Planner.open(saved)


def test_a_question_is_read_without_the_ngrams_that_nothing_was_learned_of():
    # As many buckets as make it sure that none of these share one.
    hasher = NgramHasher(buckets=1 << 20, longest=2)
    params = init_planner(len(NAMES), hops=2, width=8, buckets=4, key=jax.random.key(0))
    seen = seen_buckets(hasher, [f"who directed {TOPIC_WORD}"])
    planner = Planner(params, NAMES, hasher, hops=2, seen=seen)
    texts = [f"who directed {TOPIC_WORD}", "who was starring odd", ""]
    read = planner.ngrams(texts).reshape(3, 2, QUESTION_WORDS)
    whole = question_table(hasher, texts).reshape(3, 2, QUESTION_WORDS)
    assert np.array_equal(read[0], whole[0])
    # "who" is of a training question, "starring" and "odd" are labels; "was" and all pairs are not.
    assert read[1, 0, :4].tolist() == [whole[1, 0, 0], -1, whole[1, 0, 2], whole[1, 0, 3]]
    assert (whole[1, 1, :3] >= 0).all()
    assert (read[1, 1] == -1).all()
    assert (read[2] == -1).all()
