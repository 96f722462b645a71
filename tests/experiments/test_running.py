"""A run with a language model: nothing waits for its end."""

import json
import time

import pytest

from jaxkg.adjudicate import Scripted
from jaxkg.evaluate import read_predictions
from jaxkg.experiments import running
from jaxkg.experiments.progress import progress_bars
from jaxkg.experiments.registry import build
from jaxkg.experiments.running import paced, run_questions
from jaxkg.kg import demo_graph, demo_questions
from jaxkg.systems.parts import Parts


def test_each_line_is_written_when_its_question_is_done(tmp_path, monkeypatch):
    """The seventh call is interrupted: six questions have their lines, and are told of."""
    monkeypatch.setattr(running, "_QUICK", 0.0)
    told = []

    def reply(request):
        if len(backend.requests) == 7:
            raise KeyboardInterrupt
        return json.dumps({"hops": [["directed_by"]], "alternatives": []})

    backend = Scripted(reply)
    parts = Parts(demo_graph(), lambda *step: None, backend=backend)
    system = build("llm-planned", parts)
    with pytest.raises(KeyboardInterrupt):
        run_questions(
            tmp_path,
            demo_questions()[:9],
            system,
            parts,
            name="llm-planned",
            link=False,
            fresh=False,
            show=lambda *step: told.append(step),
        )
    assert len(list(read_predictions(tmp_path))) == 6
    assert told == [("answer", done, 9) for done in range(7)]


def test_chunks_grow_while_they_are_quick_and_shrink_where_they_are_slow(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    sizes = []
    for chunk in paced(range(400), least=2, most=100):
        sizes.append(len(chunk))
        clock[0] += 0.5 if len(sizes) < 4 else 20.0
    assert sizes[:6] == [2, 8, 32, 100, 50, 25]
    assert sum(sizes) == 400
    assert min(sizes[:-1]) == 2


def test_what_is_waited_for_is_told_and_not_what_is_over(monkeypatch):
    with progress_bars() as show:
        show("read", 90, 90)
        show.about = lambda: "small: 2 calls answered"
        assert show.told() == "small: 2 calls answered", "the file is read"
        clock = [time.monotonic()]
        monkeypatch.setattr(time, "monotonic", lambda: clock[0])
        show("answer", 4, 10)
        assert show.told() == "answer 4 of 10, small: 2 calls answered"
        clock[0] += 30
        show("answer", 6, 10)
        assert show.told() == "answer 6 of 10, small: 2 calls answered, about 60 s left"
