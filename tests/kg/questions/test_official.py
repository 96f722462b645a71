"""Question sets as their authors offer them, a question or two of each made up in its layout."""

import json

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg.questions.official import patterns
from jaxkg.kg.questions.read import read_questions

NS = "PREFIX ns: <http://rdf.freebase.com/ns/>\n"
CWQ = {
    "ID": "WebQTest-1_a",
    "question": "Which team owned by Glazer has Howard playing for it? ",
    "compositionality_type": "conjunction",
    "sparql": NS + "SELECT DISTINCT ?x\nWHERE {\nFILTER (?x != ns:m.9)\n"
    "ns:m.1 ns:athlete.teams ?y .\n?y ns:roster.team ?x .\n?x ns:team.owner ns:m.2 .\n}",
    "answers": [{"answer_id": "m.7", "answer": "Manchester", "aliases": []}],
}
WEBQSP = {
    "QuestionId": "WebQTest-0",
    "RawQuestion": "what does jamaican people speak?",
    "ProcessedQuestion": "what does jamaican people speak",
    "Parses": [
        {
            "TopicEntityMid": "m.03_r3",
            "InferentialChain": ["location.country.languages_spoken"],
            "Answers": [{"AnswerArgument": "m.04ygk0", "EntityName": "Jamaican Creole"}],
        },
        {"TopicEntityMid": "m.03_r3", "InferentialChain": None, "Answers": []},
    ],
}
GRAIL = {
    "qid": 2101,
    "question": "who wrote it",
    "answer": [{"answer_type": "Entity", "answer_argument": "m.5", "entity_name": "A"}],
    "function": "none",
    "graph_query": {
        "nodes": [
            {"nid": 0, "node_type": "class", "id": "book.author", "question_node": 1},
            {"nid": 1, "node_type": "entity", "id": "m.3", "question_node": 0},
        ],
        "edges": [{"start": 1, "end": 0, "relation": "book.written_work.author"}],
    },
}
LCQUAD = {
    "_id": "1501",
    "corrected_question": "How many movies did Kubrick direct?",
    "sparql_query": "SELECT DISTINCT COUNT(?uri) WHERE {?uri "
    "<http://dbpedia.org/ontology/director> <http://dbpedia.org/resource/Stanley_Kubrick> . }",
}
QALD = {
    "id": "3",
    "question": [{"language": "de", "string": "Wer?"}, {"language": "en", "string": "Who?"}],
    "query": {
        "sparql": "PREFIX dbo: <http://dbpedia.org/ontology/> PREFIX res: "
        "<http://dbpedia.org/resource/> SELECT ?u WHERE { res:Apollo_11 dbo:crew ?c ; a "
        "dbo:Flight . ?c dbo:birthPlace ?u . OPTIONAL { ?u dbo:x ?z } }"
    },
    "answers": [{"results": {"bindings": [{"u": {"type": "uri", "value": "http://d.org/O"}}]}}],
}
DB = "http://dbpedia.org/"


def put(folder, name, content):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("content", "id", "topics", "answers", "paths"),
    [
        ([CWQ], "WebQTest-1_a", ("m.1", "m.2"), ("m.7",),
         (("athlete.teams", "roster.team"), ("team.owner",))),
        ({"Version": "1.0", "Questions": [WEBQSP]}, "WebQTest-0", ("m.03_r3",), ("m.04ygk0",),
         (("location.country.languages_spoken",),)),
        ([GRAIL], "2101", ("m.3",), ("m.5",), (("book.written_work.author",),)),
        ([{**GRAIL, "function": "count"}], "2101", ("m.3",), ("m.5",), ()),
        ([LCQUAD], "1501", (f"{DB}resource/Stanley_Kubrick",), None, ()),
        ({"questions": [QALD]}, "3", (f"{DB}resource/Apollo_11",), ("http://d.org/O",),
         ((f"{DB}ontology/crew", f"{DB}ontology/birthPlace"),)),
    ],
)  # fmt: skip
def test_json_of_each_set(tmp_path, content, id, topics, answers, paths):
    [question] = read_questions(put(tmp_path, "set.json", json.dumps(content, indent=1)))
    assert (question.id, question.topics, question.answers) == (id, topics, answers)
    assert question.paths == paths
    assert question.text[0].isupper() or question.text == question.text.lower()


def test_opened_graph_queries_are_told_by_names(tmp_path):
    nodes = [
        {"nid": 0, "node_type": "class", "id": "book.author", "question_node": 1},
        {"nid": 1, "node_type": "entity", "id": "m.3", "question_node": 0},
        {"nid": 2, "node_type": "literal", "id": "1990^^date", "question_node": 0},
    ]
    names = ("Author", "Dune", "1990")
    nodes = [{**n, "friendly_name": name, "function": "none"} for n, name in zip(nodes, names)]
    row = {"id": "7", "question": "who wrote it", "answers": ["Herbert"], "nodes": nodes}
    row["edges"] = [[1, "book.written_work.author", "Author", 0], [0, "author.born", "Born", 2]]
    [question] = read_questions(put(tmp_path, "opened.jsonl", json.dumps(row)))
    assert (question.id, question.topics, question.answers) == ("7", ("Dune",), ("Herbert",))
    assert question.paths == (("book.written_work.author",),)
    nodes[0]["function"] = "count"
    [counted] = read_questions(put(tmp_path, "opened.jsonl", json.dumps(row)))
    assert counted.paths == ()
    row["edges"] = [[1, "book.written_work.author"]]
    with pytest.raises(JaxkgError, match=r"opened.jsonl:1: no graph query as GrailQA has them"):
        read_questions(put(tmp_path, "opened.jsonl", json.dumps(row)))


def test_simple_questions_are_four_columns(tmp_path):
    line = (
        "www.freebase.com/m/04whkz5\twww.freebase.com/book/written_work/subjects\t"
        "www.freebase.com/m/01cj3p\twhat is the book about"
    )
    [question] = read_questions(put(tmp_path, "train.txt", line + "\n"))
    assert (question.topics, question.answers) == (("m.04whkz5",), ("m.01cj3p",))
    assert question.paths == (("book.written_work.subjects",),)
    assert (question.id, question.text) == ("train-1", "what is the book about")
    with pytest.raises(JaxkgError, match=r"line 2: 2 cells"):
        read_questions(put(tmp_path, "train.txt", f"{line}\nwww.freebase.com/a\tb\n"))


def test_triple_patterns_are_found_among_the_rest():
    wanted, found = patterns(
        NS + 'SELECT ?x WHERE { ?c ns:a.b "1990-01-01"^^xsd:date, ns:m.2 ; ns:c ?x . '
        'FILTER (?x != "}" && EXISTS { ?x ns:no ?no }) { ?x ns:d ?e } UNION { ?x ns:f ?e } } '
        "ORDER BY DESC(?e) LIMIT 1"
    )
    assert wanted == ("?x",)
    assert found == [
        ("?c", "a.b", '"1990-01-01"^^xsd:date'),
        ("?c", "a.b", "m.2"),
        ("?c", "c", "?x"),
        ("?x", "d", "?e"),
        ("?x", "f", "?e"),
    ]
    assert patterns("ASK { <a> <b> <c> }") == ((), [("a", "b", "c")])


def test_what_is_of_no_layout_is_said(tmp_path):
    broken = {key: value for key, value in CWQ.items() if key != "question"}
    with pytest.raises(JaxkgError, match="question 1 is not as CWQ"):
        read_questions(put(tmp_path, "cwq.json", [broken]))
    with pytest.raises(JaxkgError, match="no list of questions"):
        read_questions(put(tmp_path, "cwq.json", {"sparql": 3}))
    with pytest.raises(JaxkgError, match="given twice"):
        read_questions(put(tmp_path, "cwq.json", [CWQ, CWQ]))
