from collections.abc import Iterator
from pathlib import Path

import pytest
from planners import cache, in_cache, programs_kept

from jaxkg.kg import demo_questions, write_questions

__all__ = ["cache", "in_cache"]


@pytest.fixture(autouse=True)
def _no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own endpoint, keys and prices take no part."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "JAXKG_LLM_MODEL", "JAXKG_PRICES"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _programs_kept(in_cache) -> Iterator[None]:
    with programs_kept():
        yield


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine is no reason for words on standard error."""
    monkeypatch.setattr("jaxkg.experiments.progress.PATIENCE", 1e6)


@pytest.fixture
def eight(tmp_path: Path) -> Path:
    """A file of eight questions."""
    file = tmp_path / "eight.jsonl"
    write_questions(demo_questions()[:8], file)
    return file


class Command:
    """The command in this process: exit code, standard output, standard error."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        from jaxkg.cli import main

        code = 0
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code or 0
        return code, *self._capsys.readouterr()

    def done(self, *arguments: object) -> str:
        """What it prints where it ends well."""
        code, out, err = self(*arguments)
        assert code == 0, err
        return out

    def refused(self, *arguments: object) -> str:
        """Its one line on standard error where it prints nothing else and ends with 2."""
        code, out, err = self(*arguments)
        assert (code, out) == (2, ""), err
        assert err.startswith("jaxkg: ")
        assert err.count("\n") == 1
        return err


@pytest.fixture
def jaxkg(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)
