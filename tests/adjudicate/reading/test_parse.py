import pytest
from asked_texts import Chosen
from pydantic import AliasChoices, BaseModel, Field

from jaxkg.adjudicate.reading import fit
from jaxkg.adjudicate.reading.parse import Unparsed, parse


class Verdict(BaseModel):
    answers: list[str]
    supporting_paths: list[int]
    rationale: str = ""


class Plan(BaseModel):
    hops: list[list[str]]
    reasoning: str = ""


class Score(BaseModel):
    relation: str
    score: float


class Scores(BaseModel):
    scores: list[Score]


class Renamed(BaseModel):
    why: str = Field(validation_alias=AliasChoices("why", "explanation"))


WHOLE = Verdict(answers=["Paris"], supporting_paths=[1, 3], rationale="so")


@pytest.mark.parametrize(
    "text",
    [
        '{"answers": ["Paris"], "supporting_paths": [1, 3], "rationale": "so"}',
        '```json\n{"answers": ["Paris"], "supporting_paths": [1, 3], "rationale": "so"}\n```',
        'Sure, here it is:\n{"answers": ["Paris"], "supporting_paths": [1, 3], "rationale": "so"}',
        '{"answers": ["Paris"], "supporting_paths": [1, 3], "rationale": "so"}\nHope it helps! {x}',
        "{'answers': ['Paris'], 'supporting_paths': [1, 3], 'rationale': 'so'}",
        '[{"answers": ["Paris"], "supporting_paths": [1, 3], "rationale": "so"}]',
        '{"Answer": "Paris", "supportingPaths": "1, 3", "Rationale": ["so"]}',
        '{"answers": "Paris", "suporting_path": ["Path 1", "path 3"], "rationale": "so"}',
        '{"answers": ["Paris"], "supporting_paths": "1 and 3", "rationale": "so", "extra": {}}',
        '{"result": {"answers": ["Paris"], "supporting_paths": [1, 3], "rationale": "so"}}',
        '<think>{"answers": ["Rome"], "supporting_paths": [2]} no</think>'
        '{"answers": ["Paris"], "supporting_paths": [1, 3], "rationale": "so"}',
        '{"answers": ["Rome"], "supporting_paths": [2]} Wait, rather: '
        '{"answers": ["Paris"], "supporting_paths": [1, 3], "rationale": "so"}',
        "Answer: Paris\nSupporting path(s): [1, 3]\nRationale (1–2 sentences): so",
        "**Answer:** Paris\n**Supporting path(s):** 1, 3\n**Rationale:** so",
        "Answer: Paris Supporting path(s): [1, 3] Rationale: so",
        "I weighed them.\n\n- answers: Paris\n- supporting paths: 1 and 3\n- rationale: so",
    ],
)
def test_every_dress_is_read(text):
    assert parse(text, Verdict) == WHOLE


@pytest.mark.parametrize(
    "text", ["1, 3", "[1, 3]", '["1", "3"]', "Paths 1 and 3.", "```\n[1, 3]\n```", "1\n3"]
)
def test_index_lists(text):
    assert parse(text, Chosen) == Chosen(indices=[1, 3])


@pytest.mark.parametrize(
    "text", ['[["a"], ["b"]]', '["a", "b"]', '{"hops": ["a", "b"]}', "{'hop': [['a'], ['b']]}"]
)
def test_root_arrays_and_flat_hops(text):
    assert parse(text, Plan).hops == [["a"], ["b"]]


def test_lists_of_objects_with_near_miss_keys():
    text = '[{"Relation": "r1", "scores": "0.7"}, {"relation": "r2", "score": 0.3}]'
    assert parse(text, Scores).scores == [
        Score(relation="r1", score=0.7),
        Score(relation="r2", score=0.3),
    ]


def test_other_spellings_of_a_key_are_the_schemas_choice():
    assert parse('{"explanation": "so"}', Renamed).why == "so"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("I do not know.", "none of the fields"),
        ("{}", "none of the fields"),
        ('{"foo": 1}', "none of the fields"),
        ("1, 3", "a bare list cannot stand"),
        ('{"answers": ["Paris"]}', "supporting_paths: Field required"),
        ('{"answers": ["Paris"], "supporting_paths": {"a": 1}}', "supporting_paths"),
        ('{"answers": ["Paris"], "supporting_paths": [1, 3', "cut off"),
        ('[1] is best: {"answers": ["Paris"', "cut off"),
        ("Answer: Paris\nSupporting path(s): [1", "cut off"),
        ("<think>let me see", "cut off"),
    ],
)
def test_what_cannot_be_read_says_why(text, reason):
    with pytest.raises(Unparsed, match=reason):
        parse(text, Verdict)


def test_half_a_list_is_not_taken_for_a_whole_one():
    """The complete inner array of a cut-off object must not be read as the reply."""
    with pytest.raises(Unparsed, match="cut off"):
        parse('{"supporting_paths": [1, 2], "indices": [4, ', Chosen)


def test_a_reply_that_hit_its_limit_counts_only_when_its_json_is_closed():
    assert parse('{"indices": [1]} and th', Chosen, cut_off=True) == Chosen(indices=[1])
    for text in ("1, 3", "indices: 1, 3"):
        assert parse(text, Chosen)
        with pytest.raises(Unparsed, match="cut off"):
            parse(text, Chosen, cut_off=True)


def test_a_bare_list_that_two_fields_could_take_is_not_guessed():
    class Two(BaseModel):
        first: list[int] = []
        second: list[int] = []

    with pytest.raises(Unparsed, match="bare list"):
        parse("[1, 2]", Two)


def test_the_failure_does_not_repeat_the_reply():
    with pytest.raises(Unparsed) as caught:
        parse('{"answers": ["Paris"], "supporting_paths": {"secret": "words"}}', Verdict)
    assert "words" not in str(caught.value)


def test_wide_ranges_are_not_written_out():
    assert fit.integers("2-4") == [2, 3, 4]
    assert fit.integers("1-1000000") == [1, 1000000]
    assert fit.integers("5-3") == [5, 3]
