import json

import numpy as np
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg.questions.formats import shortest_paths
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


def test_gold_subgraphs_tell_topics_and_paths(tmp_path):
    row = {
        "id": "cwq-1",
        "question": "Which team owned by Malcolm Glazer has Tim Howard playing for it?",
        "topics": ["Malcolm Glazer"],
        "answers": ["Manchester United F.C."],
        "triples": [
            ["m.0j", "sports.roster.team", "Manchester United F.C."],
            ["Manchester United F.C.", "sports.team.owner_s", "Malcolm Glazer"],
            ["Tim Howard", "sports.athlete.teams", "m.0j"],
        ],
        "literals": [],
    }
    path = tmp_path / "cwq.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    [question] = read_questions(path)
    assert question.topics == ("Malcolm Glazer", "Tim Howard")
    assert question.paths == (
        ("sports.team.owner_s",),
        ("sports.athlete.teams", "sports.roster.team"),
    )
    assert question.mention is None
    path.write_text(json.dumps({**row, "triples": [["a", "b"]]}) + "\n", encoding="utf-8")
    with pytest.raises(JaxkgError, match="three parts"):
        read_questions(path)


def test_shortest_paths_are_those_of_a_search_in_plain_python():
    draw = np.random.default_rng(5)
    found = 0
    for _ in range(60):
        rows = draw.integers(0, (7, 3, 7), (9, 3)).tolist()
        triples = [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in rows]
        got = shortest_paths(triples, "e0", ["e1", "e2"], most=3)
        both = {*triples, *((t, r, h) for h, r, t in triples)}
        walks, wanted = [("e0", ())], set()
        for _ in range(3):
            walks = [(t, (*path, r)) for node, path in walks for h, r, t in both if h == node]
            if wanted := {path for node, path in walks if node in ("e1", "e2")}:
                break
        assert set(got) == wanted
        found += bool(wanted)
    assert found > 20
