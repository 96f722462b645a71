"""Memory is given back after what compiled programs, and only then."""

from __future__ import annotations

import pytest

from jaxkg.serve.memory import give_back, giving_back


def test_memory_is_given_back_after_calls_that_compiled_something():
    programs, freed = [2], []

    def answer(questions, *, more=0):
        programs[0] += more
        if more > 1:
            raise ValueError("no answer")
        return [question.upper() for question in questions]

    kept = giving_back(answer, lambda: programs[0], lambda: freed.append(programs[0]))
    assert kept(["a"]) == ["A"]
    assert not freed
    assert kept(["a", "b"], more=1) == ["A", "B"]
    assert freed == [3]
    kept(["c"])
    assert freed == [3]
    with pytest.raises(ValueError, match="no answer"):
        kept(["d"], more=2)
    assert freed == [3, 5]


def test_giving_back_works_on_any_system():
    give_back()
