"""Plans without a model: inner questions, and what is found in steps."""

from __future__ import annotations

import dataclasses

import pytest

from jaxkg.systems.proh.decompose import inner_question, retrieve_in_steps
from jaxkg.systems.proh.retrieval import Anchors, Retrieved
from jaxkg.systems.proh.settings import PROH_L


@pytest.mark.parametrize(
    ("text", "asks", "rest"),
    [
        ("What currency had the country that Signmark is from?", "what country Signmark is from",
         "What currency had #1"),
        ("When did the country where Clonbrook is located, become a member?",
         "in what country Clonbrook is located", "When did #1, become a member"),
        ("What county borders the county in which Johnny Creek lies?",
         "in what county Johnny Creek lies", "What county borders #1"),
        ("Who leads the country that owns the ship which Ann Lee built?",
         "what ship Ann Lee built", "Who leads the country that owns #1"),
        ("Who is the wife of the author of Brand?", "Brand author", "Who is the wife of #1"),
        ("Who bombed Kenji Ota's birthplace?", "Kenji Ota birthplace", "Who bombed #1"),
        ("What year did the company Novair is part of dissolve?",
         "what company Novair is part of dissolve", "What year did #1"),
    ],
)  # fmt: skip
def test_the_innermost_question_about_a_name(text, asks, rest):
    inner = inner_question(text)
    assert (inner.asks, inner.rest) == (asks, rest)
    assert inner.filled("Ely").count("Ely") == 1


@pytest.mark.parametrize("text", ["Who wrote Brand?", "who is the best of all?", "", "Why?"])
def test_what_is_asked_in_one_piece(text):
    assert inner_question(text) is None


class Searched:
    """Finds what it is told to, and keeps what it was asked."""

    def __init__(self, found: dict[str, Retrieved], names: list[str]) -> None:
        self.found, self.asked = found, []
        graph = dataclasses.make_dataclass("Graph", ["entity_names"])(names)
        self.index = dataclasses.make_dataclass("Index", ["graph"])(graph)

    def retrieve(self, texts):
        self.asked += texts
        return [self.found.get(text, found()) for text in texts]


def found(chunks=(), entities=(), complete=True) -> Retrieved:
    ranked = tuple((chunk, 1.0 / (1 + place)) for place, chunk in enumerate(chunks))
    named = tuple((entity, 1.0) for entity in entities)
    return Retrieved(Anchors((), ()), (), ranked, named, complete)


def test_what_is_left_is_asked_of_each_answer():
    text, plain = "Who rules the country of Brand?", "Who wrote Brand?"
    searched = Searched(
        {
            "Brand country": found([5, 6], entities=[0, 1, 2, 3]),
            "Who rules Norway": found([7, 5], complete=False),
            "Who rules Sweden": found([8]),
        },
        ["Brand", "Norway", "Sweden", "Denmark"],
    )
    whole, other = found([1, 7]), found([9])
    one, two = retrieve_in_steps(searched, [text, plain], [whole, other], names=2)  # pyright: ignore
    assert searched.asked == ["Brand country", "Who rules Norway", "Who rules Sweden"]
    assert [chunk for chunk, _ in one.chunks] == [1, 5, 7, 8, 6]
    assert [score for _, score in one.chunks] == sorted((s for _, s in one.chunks), reverse=True)
    assert not one.complete
    assert two is other


@pytest.mark.slow
def test_without_a_model_an_inner_question_is_asked_first(ask_of, monkeypatch):
    for names, searches in ((0, 1), (2, 3)):
        qa = ask_of(settings=dataclasses.replace(PROH_L, names=names))
        asked = []
        retrieve = qa.retriever.retrieve
        monkeypatch.setattr(
            qa.retriever,
            "retrieve",
            lambda texts, *rest, asked=asked, retrieve=retrieve: (
                asked.append(list(texts)) or retrieve(texts, *rest)
            ),
        )
        answer = qa.ask("Where was the director of Alien born?")
        assert len(asked) == searches
        assert qa.check(answer) == ()
        scores = [entity.score for entity in answer.entities]
        assert scores == sorted(scores, reverse=True)
    assert asked[1] == ["Alien director"]
    assert "Where was Ridley Scott born" in asked[2]
