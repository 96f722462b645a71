import pytest

from jaxkg.errors import JaxkgError
from jaxkg.evaluate.metrics.matching import Match, match_answers


def right(gold, gold_ids, predictions, match: Match = "auto"):
    ranked = [(entity, name, 1.0) for entity, name in predictions]
    keys = match_answers(gold, gold_ids, ranked, match=match)
    return [key in keys.gold for key, _ in keys.ranked]


PREDICTIONS = [("m.1", "Crash"), ("m.2", "crash!"), (None, "The Crash"), ("m.3", "Heat")]


@pytest.mark.parametrize(
    ("gold", "gold_ids", "match", "expected"),
    [
        (["Crash"], ["m.1"], "auto", [True, False, True, False]),
        (["Crash"], ["m.1"], "id", [True, False, False, False]),
        (["Crash"], ["m.1"], "name", [True, True, True, False]),
        (["Crash"], [None], "auto", [True, True, True, False]),
        (["Crash"], None, "auto", [True, True, True, False]),
        (["m.2"], None, "auto", [False, True, False, False]),
        (["m.2"], None, "id", [False, True, False, False]),
        (["Crash"], None, "id", [False, False, False, False]),
        (["Crash", "Heat"], ["m.2", None], "auto", [False, True, True, True]),
        ([], None, "auto", [False, False, False, False]),
    ],
)
def test_who_is_right(gold, gold_ids, match, expected):
    assert right(gold, gold_ids, PREDICTIONS, match) == expected


def test_homonyms_are_one_answer_by_name_and_two_by_id():
    two = [("m.1", "Crash", 0.9), ("m.2", "Crash", 0.8)]
    assert len({key for key, _ in match_answers(["Crash"], [None], two).ranked}) == 1
    assert len({key for key, _ in match_answers(["Crash"], ["m.1"], two).ranked}) == 2
    both = match_answers(["Crash", "Crash"], ["m.1", "m.2"], two)
    assert len(both.gold) == 2
    assert {key for key, _ in both.ranked} == both.gold


def test_repeated_golds_are_one():
    assert len(match_answers(["The Who", "who!"], None, []).gold) == 1
    assert len(match_answers(["!!!", "?"], None, []).gold) == 2


def test_a_wrong_id_cannot_pass_for_a_gold_name():
    assert right(["heat"], [None], [("heat", "Cold")]) == [False]
    assert right(["m.1"], ["m.1"], [("x", "m.1")]) == [False]


def test_bad_arguments():
    with pytest.raises(JaxkgError, match="'auto', 'id' or 'name', not 'ids'"):
        match_answers(["a"], None, [], match="ids")  # pyright: ignore[reportArgumentType]
    with pytest.raises(JaxkgError, match="1 gold ids for 2"):
        match_answers(["a", "b"], ["m.1"], [])


@pytest.mark.parametrize(
    ("gold_ids", "match", "expected"),
    [
        (None, "auto", [True, True, False]),
        ([None], "auto", [True, True, False]),
        (["m.9"], "auto", [False, True, False]),
        (["m.9"], "id", [False, False, False]),
    ],
)
def test_an_alias_is_the_gold_answer_unless_ids_tell(gold_ids, match, expected):
    ranked = [("m.1", "U.S.A.", 1.0), (None, "usa", 0.9), (None, "Canada", 0.8)]
    keys = match_answers(["United States"], gold_ids, ranked, match=match, aliases=["USA"])
    assert [key in keys.gold for key, _ in keys.ranked] == expected
    assert len(keys.gold) == 1
