from collections.abc import Callable

import pytest

from jaxkg.answer import Answer
from jaxkg.records import Citation, PlanCandidate, Question, RankedEntity, SupportingPath, Usage


@pytest.fixture
def question() -> Question:
    return Question(
        "q1",
        "who directed the films of Ann",
        topics=("m.ann",),
        answers=("m.1", "m.2"),
        paths=(("^starred_actors", "directed_by"),),
    )


@pytest.fixture
def answer() -> Answer:
    """Two answers: m.1 reached against an edge, m.3 (wrong) along one; the plan has the path."""
    inverse = Citation(7, "m.1", "directed", "m.film", "Bob", "Film", inverse=True)
    forward = Citation(8, "m.film", "written_by", "m.3", "Film", "Cid")
    start = Citation(6, "m.film", "starred_actors", "m.ann", "Film", "Ann", inverse=True)
    return Answer(
        question="who directed the films of Ann",
        question_id="q1",
        entities=(
            RankedEntity("m.1", "Bob", 0.9, ("p1",)),
            RankedEntity("m.3", "Cid", 0.4, ("p2",)),
        ),
        paths=(
            SupportingPath("p1", (start, inverse), ("^starred_actors", "^directed"), 0.3, "..."),
            SupportingPath("p2", (start, forward), ("^starred_actors", "written_by"), 0.8, "..."),
        ),
        plan=(
            PlanCandidate(("^starred_actors", "written_by"), 0.6),
            PlanCandidate(("^starred_actors", "directed_by"), 0.3, used=True),
        ),
        usage=Usage(calls=1, prompt_tokens=200, completion_tokens=10, price=0.01, seconds=0.5),
    )


@pytest.fixture
def make_line() -> Callable[..., dict]:
    """A minimal prediction line: gold names against ranked names, all else as given."""

    def build(key: str, gold: list[str] | None, *names: str, **more: object) -> dict:
        answers = [
            {"entity": name, "id": name, "score": 1.0 / (rank + 1), "paths": []}
            for rank, name in enumerate(names)
        ]
        return {"id": key, "question": f"question {key}", "gold": gold, "answers": answers, **more}

    return build
