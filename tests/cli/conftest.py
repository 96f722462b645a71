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


@pytest.fixture
def jaxkg(capsys: pytest.CaptureFixture[str]):
    """Run the command in this process: exit code, standard output, standard error."""
    from jaxkg.cli import main

    def run(*arguments: object) -> tuple[int, str, str]:
        code = 0
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code or 0
        out, err = capsys.readouterr()
        return code, out, err

    return run
