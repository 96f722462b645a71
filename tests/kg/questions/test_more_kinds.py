import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg.questions.read import read_questions
from jaxkg.records import Question


def put(folder, name, *lines):
    path = folder / name
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def test_further_keys_are_left_out_with_a_word(tmp_path):
    line = '{"id": 7, "question": "who made [Heat]?", "answers": ["M"], "source": "x", "split": 1}'
    path = put(tmp_path, "own.jsonl", line)
    with pytest.warns(UserWarning, match=r"left out, .*'source' \(line 1\), 'split' \(line 1\)"):
        [question] = read_questions(path)
    assert (question.id, question.answers, question.mention) == ("7", ("M",), (9, 13))
    array = put(tmp_path, "own.json", '[{"question": "a?"},', ' {"question": "b?"}]')
    assert [question.text for question in read_questions(array)] == ["a?", "b?"]


def test_a_table_of_questions(tmp_path):
    path = put(
        tmp_path,
        "asked.csv",
        "Id;Question;Answers;Note",
        'a;"who made [Heat]; and when?";Mann | 1995;x',
        "",
        ";who is she?;;",
    )
    with pytest.warns(UserWarning, match="'note'"):
        first, second = read_questions(path)
    assert first == Question(
        "a", "who made Heat; and when?", answers=("Mann", "1995"), mention=(9, 13)
    )
    assert second == Question("asked-4", "who is she?", answers=())
    assert read_questions(put(tmp_path, "x.csv", "question", "who?"))[0].answers is None
    for lines, told in (
        (["id,text", "1,who?"], "expected a column `question`"),
        (["question,id", "who?"], "x.csv:2: 1 cells; expected 2"),
        (["question,id", '"who?'], "not CSV"),
        (["question,id", ",1"], "'question' is ''"),
    ):
        with pytest.raises(JaxkgError, match=told):
            read_questions(put(tmp_path, "x.csv", *lines))
