"""MuSiQue and HotpotQA as question files."""

import json

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg.questions.passages import distinct_passages, passage_id
from jaxkg.kg.questions.read import read_questions, write_questions
from jaxkg.records import Passages

MUSIQUE = {
    "id": "2hop__1_2",
    "question": "Where was the director of Alien born?",
    "answer": "South Shields",
    "answer_aliases": ["S. Shields", "S. Shields"],
    "answerable": True,
    "question_decomposition": [
        {"id": 1, "question": "Alien >> director", "answer": "Scott", "paragraph_support_idx": 2},
        {"id": 2, "question": "Where was #1 born?", "answer": "South Shields"},
    ],
    "paragraphs": [
        {"idx": 0, "title": "Scott", "paragraph_text": "Born there.", "is_supporting": True},
        {"idx": 1, "title": "Heat", "paragraph_text": "A film.", "is_supporting": False},
        {"idx": 2, "title": "Alien", "paragraph_text": "By Scott.", "is_supporting": True},
    ],
}
HOTPOT = {
    "_id": "5a7f",
    "question": "Which band  had Peart?",
    "answer": "Rush",
    "type": "bridge",
    "level": "hard",
    "supporting_facts": [["Peart", 0], ["Rush", 1], ["Peart", 1]],
    "context": [["Rush", ["A band.", " Of Canada."]], ["Heat", ["A film."]], ["Peart", ["P."]]],
}


def put(folder, content, name="set.json"):
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder / name


def test_musique(tmp_path):
    [question] = read_questions(put(tmp_path, [MUSIQUE]))
    assert (question.id, question.answers) == ("2hop__1_2", ("South Shields",))
    assert question.aliases == ("S. Shields",)
    assert question.topics == question.paths == ()
    assert question.passages == Passages(
        (("Scott", "Born there."), ("Heat", "A film."), ("Alien", "By Scott.")),
        (0, 2),
        (("Alien >> director", "Scott"), ("Where was {1} born?", "South Shields")),
        "2 hops",
    )


def test_hotpotqa(tmp_path):
    [question] = read_questions(put(tmp_path, [HOTPOT]))
    assert (question.id, question.text) == ("5a7f", "Which band had Peart?")
    assert question.answers == ("Rush",)
    assert question.passages == Passages(
        (("Rush", "A band. Of Canada."), ("Heat", "A film."), ("Peart", "P.")), (0, 2), (), "bridge"
    )


def test_lines_are_read_as_a_list_is(tmp_path):
    lines = tmp_path / "set.jsonl"
    lines.write_text(json.dumps(MUSIQUE) + "\n\n" + json.dumps({**MUSIQUE, "id": "b"}) + "\n")
    assert [question.id for question in read_questions(lines)] == ["2hop__1_2", "b"]


@pytest.mark.parametrize(
    ("row", "drop"),
    [
        (MUSIQUE, ("answer", "answer_aliases", "question_decomposition")),
        (HOTPOT, ("answer", "supporting_facts", "type")),
    ],
)
def test_hidden_test_sets_leave_answers_open(tmp_path, row, drop):
    told = {key: value for key, value in row.items() if key not in drop}
    [question] = read_questions(put(tmp_path, [told]))
    assert question.answers is None
    assert question.passages is not None
    assert (question.passages.steps, question.passages.kind) == ((), "")


def test_what_the_texts_do_not_answer_has_no_answers(tmp_path):
    [question] = read_questions(put(tmp_path, [{**MUSIQUE, "answerable": False}]))
    assert (question.answers, question.aliases) == ((), ())


@pytest.mark.parametrize(
    ("row", "change", "told"),
    [
        (MUSIQUE, {"paragraphs": 3}, "'paragraphs' is 3"),
        (MUSIQUE, {"paragraphs": [{"title": "A"}]}, "'paragraph_text' is None"),
        (MUSIQUE, {"question": " "}, "'question' is ' '"),
        (MUSIQUE, {"answer": 7}, "'answer' is 7"),
        (MUSIQUE, {"answer_aliases": "x"}, "'answer_aliases' is 'x'"),
        (MUSIQUE, {"question_decomposition": [{"question": "a"}]}, "'answer of question_decomp"),
        (HOTPOT, {"context": [["Rush"]]}, "'context' is [['Rush']]"),
        (HOTPOT, {"context": [["Rush", [1]]]}, "'sentence of context' is 1"),
        (HOTPOT, {"supporting_facts": [["Nobody", 0]]}, "'supporting_facts' names 'Nobody'"),
        (HOTPOT, {"_id": None}, "'_id' is None"),
    ],
)
def test_a_bad_row_is_told_with_line_and_key(tmp_path, row, change, told):
    key = "_id" if "_id" in row else "id"
    path = put(tmp_path, [row, {**row, key: "other", **change}])
    with pytest.raises(JaxkgError) as error:
        read_questions(path)
    assert str(error.value).startswith(f"{path}:2: {told}")


def test_a_row_that_is_no_object_is_told(tmp_path):
    with pytest.raises(JaxkgError, match=r":2: a JSON int; expected an object as musique"):
        read_questions(put(tmp_path, [MUSIQUE, 3]))


def test_they_are_written_and_read_back(tmp_path):
    questions = read_questions(put(tmp_path, [MUSIQUE]))
    questions += read_questions(put(tmp_path, [HOTPOT]))
    write_questions(questions, tmp_path / "own.jsonl")
    assert read_questions(tmp_path / "own.jsonl") == questions


@pytest.mark.parametrize(
    ("passages", "told"),
    [
        ([], "'passages' is []"),
        ({"texts": [["A"]]}, "'texts' of 'passages'"),
        ({"texts": [["A", "b"]], "support": [1]}, "'support' of 'passages' is [1]"),
        ({"texts": [["A", "b"]], "steps": [1]}, "'steps' of 'passages'"),
        ({"texts": [["A", "b"]], "kinds": ""}, "'passages' is {"),
    ],
)
def test_bad_passages_of_our_own_form(tmp_path, passages, told):
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({"question": "why?", "passages": passages}))
    with pytest.raises(JaxkgError) as error:
        read_questions(path)
    assert str(error.value).startswith(f"{path}:1: {told}")


def test_a_passage_is_the_same_wherever_it_comes_from(tmp_path):
    questions = read_questions(put(tmp_path, [HOTPOT, {**HOTPOT, "_id": "b"}]))
    assert len(distinct_passages(questions)) == 3
    assert passage_id("A", "text ") == passage_id("A", "text") != passage_id("A", "other")
