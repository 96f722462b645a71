import json

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg.questions.read import read_questions, split_brackets, split_questions, write_questions
from jaxkg.records import Question


def put(folder, name, *lines):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("marked", "clean", "topic"),
    [
        ("who made [Heat]?", "who made Heat?", "Heat"),
        ("[Heat] was made by whom", "Heat was made by whom", "Heat"),
        ("who made [ Heat ]?", "who made Heat?", "Heat"),
        ("who made [[REC]]", "who made [REC]", "[REC]"),
        ("who made [[REC] 2]?", "who made [REC] 2?", "[REC] 2"),
        ("qui a fait [Amélie] ?", "qui a fait Amélie ?", "Amélie"),
        ("who made Heat?", "who made Heat?", None),
        ("from [A] to [B]", "from [A] to [B]", None),
        ("what is ] or [", "what is ] or [", None),
        ("what is [", "what is [", None),
        ("what is ][[Heat]", "what is ][[Heat]", None),
        ("what is []", "what is []", None),
    ],
)
def test_split_brackets(marked, clean, topic):
    text, mention = split_brackets(marked)
    assert text == clean
    assert (mention and text[slice(*mention)]) == topic


def test_metaqa_with_question_types(tmp_path):
    path = put(
        tmp_path,
        "2-hop/qa_test.txt",
        "when did films by [Anthony Mann] come out\t1967|1949|1967",
        "which films share the writer of [Up!]\tUp",
    )
    put(
        tmp_path, "2-hop/qa_test_qtype.txt", "director_to_movie_to_year", "movie_to_writer_to_movie"
    )
    first, second = read_questions(path)
    assert first == Question(
        id="metaqa-2-test-1",
        text="when did films by Anthony Mann come out",
        topics=("Anthony Mann",),
        answers=("1967", "1949"),
        paths=(("^directed_by", "release_year"),),
        mention=(18, 30),
    )
    assert second.id == "metaqa-2-test-2"
    assert second.paths == (("written_by", "^written_by"),)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("tag_to_movie", ("^has_tags",)),
        ("movie_to_tags", ("has_tags",)),
        ("movie_to_imdbrating", ("has_imdb_rating",)),
        ("movie_to_imdbvotes", ("has_imdb_votes",)),
        (
            "movie_to_actor_to_movie_to_language",
            ("starred_actors", "^starred_actors", "in_language"),
        ),
        ("actor_to_movie_to_genre", ("^starred_actors", "has_genre")),
    ],
)
def test_metaqa_types_name_relations(tmp_path, name, path):
    questions = put(tmp_path, "3-hop/qa_dev.txt", "about [X]\tY")
    put(tmp_path, "3-hop/qa_dev_qtype.txt", name)
    assert read_questions(questions)[0].paths == (path,)


def test_metaqa_without_types_or_hop_folder(tmp_path):
    path = put(tmp_path, "elsewhere/qa_dev.txt", "who made [Heat]\tMichael Mann")
    [question] = read_questions(path)
    assert question.id == "metaqa-dev-1"
    assert question.paths == ()


def test_metaqa_types_must_match_the_questions(tmp_path):
    path = put(tmp_path, "1-hop/qa_dev.txt", "about [X]\tY", "about [Z]\tY")
    put(tmp_path, "1-hop/qa_dev_qtype.txt", "movie_to_year")
    with pytest.raises(JaxkgError, match=r"qa_dev_qtype.txt: 1 lines for the 2 questions"):
        read_questions(path)
    put(tmp_path, "1-hop/qa_dev_qtype.txt", "movie_to_year", "movie_to_nowhere")
    with pytest.raises(JaxkgError, match=r"qtype.txt:2: question type 'movie_to_nowhere'"):
        read_questions(path)
    put(tmp_path, "1-hop/qa_dev_qtype.txt", "movie_to_year", "actor_to_genre")
    with pytest.raises(JaxkgError, match=r"qtype.txt:2"):
        read_questions(path)


def test_pathquestion_answers_hold_brackets(tmp_path):
    path = put(
        tmp_path,
        "PQ-2H.txt",
        " what is the tracks of Foo 's album ?\tGo_(Live)(Come_(1)/Go_(Live)/)"
        "\tFoo#albums#Bar_(EP)#tracks#Go_(Live)#<end>#Go_(Live)",
        "the son of foo_bar 's wife ?\ta(a/)\tfoo_bar#spouse#x#children#a",
    )
    first, second = read_questions(path)
    assert first.id == "pq-2h-1"
    assert first.text == "what is the tracks of Foo 's album ?"
    assert first.topics == ("Foo",)
    assert first.answers == ("Come_(1)", "Go_(Live)")
    assert first.paths == (("albums", "tracks"),)
    assert first.text[slice(*first.mention)] == "Foo"
    assert second.text[slice(*second.mention)] == "foo_bar"
    assert second.answers == ("a",)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("q\ta(a/)\tx#r", "path 'x#r'"),
        ("q\tb(a/)\tx#r#a", r"answers 'b\(a/\)'"),
        ("q\ta(a)\tx#r#a", r"answers 'a\(a\)'"),
        ("q\ta(a/)\tx#r#a\tmore", "4 tab-separated fields"),
    ],
)
def test_pathquestion_errors(tmp_path, line, told):
    path = put(tmp_path, "PQ.txt", "q\ta(a/)\tx#r#a", line)
    with pytest.raises(JaxkgError, match=rf"PQ.txt:2: {told}"):
        read_questions(path)


def freebase_line(**fields):
    return json.dumps({"id": "q", "question": "what does jamaica speak", **fields})


def test_freebase_test_lines(tmp_path):
    line = freebase_line(
        q_entity=["Jamaica", "Language"],
        a_entity=["Patois"],
        answer=["Patois", None, "English"],
        gold_paths=[["location.country.languages_spoken"], []],
    )
    path = put(tmp_path, "webqsp.jsonl", line)
    [question] = read_questions(path)
    assert question.topics == ("Jamaica", "Language")
    assert question.answers == ("Patois",)
    assert question.paths == (("location.country.languages_spoken",),)
    assert question.text[slice(*question.mention)] == "jamaica"
    [full] = read_questions(path, answer_field="answer")
    assert full.answers == ("Patois", "English")


def test_freebase_training_lines(tmp_path):
    linked = [{"concept": "Time zone"}, {"concept": "John F. Kennedy"}]
    path = put(
        tmp_path,
        "train.jsonl",
        freebase_line(id="a", core_entity="Jamaica", gold_paths=[], answer=["Patois"]),
        freebase_line(
            id="b", topic_key="john_f_kennedy", linked=linked, gold_paths=[["r"]], answer=[]
        ),
        freebase_line(id="c", topic_key="nobody", linked=linked, gold_paths=[], answer=["x"]),
    )
    a, b, c = read_questions(path)
    assert (a.topics, a.answers) == (("Jamaica",), ("Patois",))
    assert (b.topics, b.paths, b.answers) == (("John F. Kennedy",), (("r",),), ())
    assert c.topics == ()


def test_freebase_errors(tmp_path):
    path = put(tmp_path, "f.jsonl", freebase_line(q_entity=["x"]))
    with pytest.raises(JaxkgError, match=r"f.jsonl:1: no 'answer'"):
        read_questions(path)
    path = put(tmp_path, "f.jsonl", freebase_line(q_entity="x", answer=["y"]))
    with pytest.raises(JaxkgError, match=r"f.jsonl:1: 'q_entity' is 'x'; expected a list"):
        read_questions(path)
    path = put(tmp_path, "f.jsonl", freebase_line(topic_key="x", linked=[3], answer=["y"]))
    with pytest.raises(JaxkgError, match=r"f.jsonl:1: 'linked' without concepts"):
        read_questions(path, format="freebase")


def test_own_format(tmp_path):
    path = put(
        tmp_path,
        "My Set.jsonl",
        '{"question": "who made [Heat]?", "answers": ["Michael Mann"]}',
        "",
        '{"id": "x", "question": "a [note] here", "mention": null, "topics": ["t"],'
        ' "paths": [["r", "^s"]]}',
        '{"question": "who made Heat?", "mention": [9, 13]}',
    )
    first, second, third = read_questions(path)
    assert first == Question(
        "my set-1", "who made Heat?", answers=("Michael Mann",), mention=(9, 13)
    )
    assert second == Question("x", "a [note] here", ("t",), None, (("r", "^s"),))
    assert third == Question("my set-4", "who made Heat?", mention=(9, 13))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "not JSON"),
        ("[1]", "a JSON list"),
        ("{}", "no 'question', but nothing"),
        ('{"question": 3}', "'question' is 3; expected a non-empty string"),
        (
            '{"question": "q", "answer": ["a"]}',
            "unknown key 'answer'; expected keys among aliases, answers",
        ),
        ('{"question": "q", "topics": "t"}', "'topics' is 't'; expected a list of strings"),
        ('{"question": "q", "answers": [1]}', r"'answers' is \[1\]"),
        ('{"question": "q", "paths": ["r"]}', r"'paths' is \['r'\]"),
        ('{"question": "q", "paths": [[]]}', r"'paths' is \[\[\]\]"),
        ('{"question": "q", "mention": [0, 2]}', r"'mention' is \[0, 2\]; expected .* 0..1"),
        ('{"question": "q", "mention": [1, 1]}', r"'mention' is"),
        ('{"q": "q", "a": []}', r"no 'question', but 'q', 'a'; .* a line such as .\"question\": "),
        ('{"question": "q", "id": [3]}', r"'id' is \[3\]; expected a non-empty string"),
    ],
)
def test_own_format_errors_say_where(tmp_path, line, told):
    path = put(tmp_path, "own.jsonl", '{"question": "fine"}', line)
    with pytest.raises(JaxkgError, match=rf"own.jsonl:2: {told}"):
        read_questions(path)


def test_plain_text(tmp_path):
    path = put(tmp_path, "Ask.txt", "\ufeffwho made [Heat]?", "", "  who is [he] or [she]  ")
    first, second = read_questions(path)
    assert first == Question("ask-1", "who made Heat?", mention=(9, 13))
    assert second == Question("ask-3", "who is [he] or [she]")
    for name in ("none.txt", "none.jsonl", "none.csv"):
        with pytest.raises(JaxkgError, match=f"{name}: no questions in it"):
            read_questions(put(tmp_path, name))


def test_lines_end_only_at_line_ends(tmp_path):
    path = put(tmp_path, "odd.txt", "who made a\x85b\u2028c?", "second")
    assert [q.text for q in read_questions(path)] == ["who made a\x85b\u2028c?", "second"]


def test_reading_errors(tmp_path):
    with pytest.raises(JaxkgError, match="no such question file"):
        read_questions(tmp_path / "absent.txt")
    latin = tmp_path / "latin.txt"
    latin.write_bytes("who made Amélie".encode("latin-1"))
    with pytest.raises(JaxkgError, match=r"latin.txt: not UTF-8 text \(byte 11\)"):
        read_questions(latin)
    path = put(tmp_path, "two.jsonl", *['{"id": "same", "question": "q"}'] * 2)
    with pytest.raises(JaxkgError, match="'same' is given twice"):
        read_questions(path)
    path = put(tmp_path, "plain.txt", "who?")
    with pytest.raises(JaxkgError, match="unknown question format 'metaq'"):
        read_questions(path, format="metaq")
    with pytest.raises(JaxkgError, match="answer_field is for the freebase format"):
        read_questions(path, answer_field="answer")
    with pytest.raises(JaxkgError, match=r"plain.txt:1: 1 tab-separated fields"):
        read_questions(path, format="metaqa")
    path = put(tmp_path, "bare.txt", "who made Heat\tMichael Mann")
    with pytest.raises(JaxkgError, match=r"bare.txt:1: no topic; expected exactly one \[topic"):
        read_questions(path)
    path = put(tmp_path, "gap.txt", "who made [Heat]\ta||b")
    with pytest.raises(JaxkgError, match=r"gap.txt:1: an empty answer"):
        read_questions(path)


def test_write_then_read_gives_the_same(tmp_path):
    questions = [
        Question("a", "who made Heat?", ("Heat",), ("Michael Mann",), (("directed_by",),), (9, 13)),
        Question("b", "a [bracket] that marks nothing", mention=None),
        Question("c", "no gold known, Amélie\u2028?", answers=None),
        Question("d", "gold known to be empty", answers=()),
    ]
    path = tmp_path / "out.jsonl"
    write_questions(questions, path)
    assert read_questions(path) == questions
    assert [p.name for p in tmp_path.iterdir()] == ["out.jsonl"]


def paraphrases():
    return [
        Question(f"{fact}-{n}", "?", (f"t{fact}",), paths=((f"r{fact % 3}",),))
        for n in range(4)
        for fact in range(50)
    ]


def test_split_parts_and_groups():
    questions = paraphrases()
    half, rest = split_questions(questions, seed=0, parts=(1, 1), group=lambda q: q.paths)
    assert {q.paths for q in half}.isdisjoint({q.paths for q in rest})
    everything, nothing = split_questions(questions, seed=0, parts=(1, 0))
    assert everything == questions
    assert nothing == []
    with pytest.raises(JaxkgError, match="positive sum"):
        split_questions(questions, seed=0, parts=(0, 0))


@pytest.mark.parametrize(
    ("file", "count", "first"),
    [
        ("metaqa/1-hop/qa_dev.txt", 9992, "metaqa-1-dev-1"),
        ("metaqa/3-hop/qa_test.txt", 14274, "metaqa-3-test-1"),
        ("pathquestion/PQ-3H.txt", 5198, "pq-3h-1"),
        ("pathquestion/PQL-2H.txt", 1594, "pql-2h-1"),
        ("freebase_webqsp_cwq/webqsp_test.jsonl", 1628, "WebQTest-0"),
        ("freebase_webqsp_cwq/webqsp_validation_paths.jsonl", 246, "WebQTrn-9"),
    ],
)
def test_benchmarks_read_whole(data_dir, file, count, first):
    questions = read_questions(data_dir / file)
    assert len(questions) == count
    assert questions[0].id == first
    for question in questions:
        if question.mention and file.startswith(("metaqa", "pathquestion")):
            assert question.text[slice(*question.mention)] == question.topics[0]
    if not file.startswith("freebase"):
        assert all(q.mention and q.answers and len(q.paths) == 1 for q in questions)


@pytest.mark.parametrize(
    ("questions", "kb"),
    [("PQ-2H.txt", "2H-kb.txt"), ("PQ-3H.txt", "3H-kb.txt"), ("PQL-2H.txt", "PQL2-KB.txt")],
)
def test_pathquestion_paths_execute_to_the_answers(data_dir, questions, kb):
    folder = data_dir / "pathquestion"
    steps = {}
    for line in (folder / kb).read_text(encoding="utf-8").split("\n"):
        if line:
            head, relation, tail = line.split("\t")
            steps.setdefault((head, relation), set()).add(tail)
    for question in read_questions(folder / questions):
        reached = set(question.topics)
        for relation in question.paths[0]:
            reached = set().union(*(steps.get((node, relation), ()) for node in reached))
        assert reached == set(question.answers), question
