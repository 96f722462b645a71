"""Memory is given back after what compiled programs, and only then."""

from __future__ import annotations

import ctypes
from unittest.mock import Mock

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


@pytest.mark.parametrize("library", [object(), OSError("no such library"), TypeError("no name")])
def test_giving_back_works_on_any_system(monkeypatch, library):
    monkeypatch.setattr(ctypes, "CDLL", Mock(side_effect=[library]))
    give_back()
    ctypes.CDLL.assert_called_once_with(None)


def test_the_allocator_is_told_to_hand_back_what_is_free(monkeypatch):
    library = Mock()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    give_back()
    library.malloc_trim.assert_called_once_with(0)
