"""Two questions in one, read by one and a table of both."""

import pytest
from row_facts import table_facts

from jaxkg.kg import KnowledgeGraph
from jaxkg.query import Column, Rows
from jaxkg.records import Question
from jaxkg.systems.reader.system import Reader
from jaxkg.systems.reader.twofold import two_questions
from jaxkg.text.best import best_encoder


@pytest.fixture(scope="module")
def reader():
    rows = "Logic|course|Ann Berg|R1\nOptics|course|Bo Lund|R2\nAlgebra|course|Ann Berg|R3"
    facts = table_facts(rows, "is a", "lecturer", "room")
    people = "Ann Berg|person|ann@x.org\nBo Lund|person|bo@x.org"
    facts += table_facts(people, "is a", "email")
    return Reader.build(KnowledgeGraph.from_triples(facts))


def answer_of(reader, text):
    [answer] = reader.answer([Question("q", text)])
    return answer


def test_the_second_is_asked_of_what_answers_the_first(reader):
    answer = answer_of(reader, "Who is the lecturer of Optics and what is their email?")
    assert [(row.name, row.cells) for row in answer.entities] == [("Bo Lund", ("bo@x.org",))]
    assert {path.sentence for path in answer.paths} == {
        "Optics, lecturer: Bo Lund", "Bo Lund, email: bo@x.org"
    }  # fmt: skip


def test_the_second_is_asked_of_the_topic_of_the_first(reader):
    answer = answer_of(reader, "Who is the lecturer of Optics and in which room is it?")
    assert [row.cells for row in answer.entities] == [("Bo Lund", "R2")]


def test_the_second_is_asked_of_what_the_first_puts_first():
    encoder, _ = best_encoder()
    if encoder.name == "hashing":
        pytest.skip("MiniLM is not installed")
    rows = "Tern|boat|Ida|9|Quay A\nRook|boat|Bo|12|Quay B"
    facts = table_facts(rows, "is a", "skipper", "length", "moored at")
    own = Reader.build(KnowledgeGraph.from_triples(facts), encoder)
    text = "Who is the skipper of the longest boat and where is it moored?"
    read = own.understand(text).readings[0]
    assert isinstance(read.candidate.query, Rows)
    assert [column.path for column in read.candidate.query.columns] == [
        ("skipper",),
        ("moored at",),
    ]


def test_how_many_is_a_column_of_numbers(reader):
    read = reader.understand("Who is the lecturer of Logic and how many courses do they have?")
    query = read.readings[0].candidate.query
    assert isinstance(query, Rows)
    assert query.columns == (Column(("^lecturer",), "count"),)


@pytest.mark.parametrize("text", [
    "Who is the lecturer of Logic and Optics?", "Who is Ann Berg and Bo Lund?",
    "Logic and what it is",
])  # fmt: skip
def test_others_are_one_question(text):
    assert two_questions(text) is None


def test_where_the_second_cannot_be_read_it_is_one_question(reader):
    answer = answer_of(reader, "Who is the lecturer of Optics and what is the weather like?")
    assert not any(row.cells for row in answer.entities)


def test_a_question_with_a_given_topic_is_one(reader):
    asked = Question("q", "Who is the lecturer of Optics and what is their email?", ("Optics",))
    [answer] = reader.answer([asked])
    assert not any(row.cells for row in answer.entities)
