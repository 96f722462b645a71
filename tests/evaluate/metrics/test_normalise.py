import string

import pytest

from jaxkg.evaluate.metrics.matching import published_normalise, strict_normalise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Lord of\tthe Rings", "lord of rings"),
        ("spider-man", "spiderman"),
        ("A.B.", "ab"),
        ("A", ""),
        ("an", ""),
        ("Athena", "athena"),
        (string.punctuation, ""),
        ("", ""),
        ("«Été» – Ångström", "«été» – ångström"),
        ("the_best", "thebest"),
    ],
)
def test_published_form(text, expected):
    assert published_normalise(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("L'Été", "L’Été"),
        ("E\u0301te\u0301", "été"),
        ("STRASSE", "Straße"),
        ("«Amélie»", "amélie"),
        ("The Who", "who"),
        ("ﬁlm", "Film"),
    ],
)
def test_strict_form_folds_what_readers_take_for_the_same(one, other):
    assert strict_normalise(one) == strict_normalise(other)


@pytest.mark.parametrize("name", ["A", "The", "!!!", "?", "¿", "…"])
def test_strict_form_is_never_empty_unless_the_name_is(name):
    assert strict_normalise(name) != ""
    assert strict_normalise(name) != strict_normalise("#")
    assert strict_normalise(" ") == ""
