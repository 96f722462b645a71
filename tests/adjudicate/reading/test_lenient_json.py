import contextlib
import time

import pytest

from jaxkg.adjudicate.reading.lenient_json import CutOff, NotJson, read, values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ("{'a': 'b'}", {"a": "b"}),
        ("{'title': 'Schindler's List', 'n': 2}", {"title": "Schindler's List", "n": 2}),
        ("{'end': 'dogs'}", {"end": "dogs"}),
        ("{a: [1, 2,],}", {"a": [1, 2]}),
        ("{“a”: “b”}", {"a": "b"}),
        ('{"a": True, "b": None, "c": false}', {"a": True, "b": None, "c": False}),
        ('{"a": 1, // one\n "b": -2.5e1}', {"a": 1, "b": -25.0}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
        (r"{'a': 'tab\tquote\'\u00e9'}", {"a": "tab\tquote'é"}),
        (r"{'a': '\ud83d\ude00'}", {"a": "😀"}),
        ("{}", {}),
    ],
)
def test_reads_what_models_write(text, expected):
    assert read(text) == (expected, len(text))


def test_finds_outermost_values_in_order_and_skips_prose():
    text = 'I chose [the first] one: {"a": {"b": [1]}} and [2, 3]. {not json}'
    assert list(values(text)) == [{"a": {"b": [1]}}, [2, 3]]


@pytest.mark.parametrize(
    "text", ['{"a": [1, 2', '{"a": "x', "{'a': 'it", '{"a":', "[1, 2", '{"a": 1,', "["]
)
def test_half_a_value_is_cut_off(text):
    with pytest.raises(CutOff):
        list(values(text))


@pytest.mark.parametrize("text", ["{a b}", "[1 2]", "{'a' 1}", "[nonsense]", "{1: 2}"])
def test_what_is_no_json_is_not_guessed(text):
    with pytest.raises(NotJson):
        read(text)


def test_nothing_is_evaluated():
    assert list(values("{'a': __import__('os')}")) == []


@pytest.mark.parametrize("unit", ["[", "{'a':", "[1 x ", "{", "['", "// {"])
def test_garbage_costs_little_time(unit):
    started = time.perf_counter()
    with contextlib.suppress(CutOff):
        list(values(unit * 30_000))
    # What looks at all of it for each of its letters takes minutes.
    assert time.perf_counter() - started < 20
