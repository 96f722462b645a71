"""JSON from elsewhere: a value within bounds, or one clear error."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import DEEPEST, OutOfBounds, first_value, read_json, whole


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 200_000, "nested deeper than 64"),
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), "nested deeper than 64"),
        ('{"a":' * 70 + "1" + "}" * 70, "nested deeper than 64"),
        ('{"n": ' + "9" * 5000 + "}", "5,000 digits, more than 100"),
        ("1e999", "too large"),
        ("[NaN]", "NaN is no JSON number"),
        ("[-Infinity]", "-Infinity is no JSON number"),
        (r'{"name": "\ud800"}', "half of a surrogate pair"),
        ('{"name": "\ud800"}', "half of a surrogate pair"),
        (r'{"\udfff": 1}', "half of a surrogate pair"),
        ('{"a": 1, "b": 2, "a": 3}', "the key 'a' comes twice"),
        ('{"a" 1}', "not JSON (Expecting ':' delimiter, at character 6)"),
        ("", "not JSON"),
        ("1 2", "not JSON (Extra data"),
        (b"\xff", "not UTF-8 (at byte 1)"),
        ("[1, 2, 3]" * 10, "larger than the 20 characters"),
    ],
)
def test_what_is_out_of_bounds_is_told_in_one_line(text, why):
    with pytest.raises(JaxkgError) as caught:
        read_json(text, "x.json:3", largest=20 if "larger" in why else 1 << 20)
    assert str(caught.value).startswith("x.json:3: ")
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_what_is_sound_is_read():
    value = {"a": [1, 2.5, None, True, "é\U0001f600"], "b": {"c": int("9" * 100)}}
    assert read_json(json.dumps(value)) == value
    assert read_json(b"\xef\xbb\xbf" + json.dumps(value, ensure_ascii=False).encode()) == value
    deep = "[" * DEEPEST + "]" * DEEPEST
    assert read_json(deep) == json.loads(deep)
    assert len(read_json("[" + "[]," * 1000 + "[]]")) == 1001


def test_replies_are_taken_as_they_come_but_for_the_bounds():
    found = read_json(r'{"a": NaN, "b": "x\ud800y", "a": Infinity}', strict=False)
    assert found == {"a": math.inf, "b": "x\ufffdy"}
    for text in ("[" * 200_000, "9" * 5000):
        with pytest.raises(JaxkgError):
            read_json(text, strict=False)
    assert first_value(r"so: [1, {}] ok", 4) == ([1, {}], 11)
    with pytest.raises(OutOfBounds):
        first_value("[" * 200_000, 0)
    with pytest.raises(json.JSONDecodeError):
        first_value("so", 0)
    assert whole("a\udc00") == "a\ufffd"


_PIECES = st.lists(
    st.sampled_from(['{"a":', "[", "]", "}", ",", ":", '"x"', r'"\ud800"', "9" * 4400, "1e400"])
    | st.text(max_size=3),
    max_size=12,
)


@given(_PIECES.map("".join), st.booleans())
def test_any_text_is_a_value_that_can_be_written_or_one_error(text, strict):
    told = ""
    try:
        value = read_json(text, strict=strict)
        json.dumps(value, ensure_ascii=False, allow_nan=not strict).encode()
    except JaxkgError as error:
        told = str(error)
    assert "\n" not in told
