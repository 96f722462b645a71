from collections.abc import Iterator

import pytest
from planners import cache, in_cache, programs_kept

__all__ = ["cache", "in_cache"]


@pytest.fixture(autouse=True)
def _programs_kept(in_cache) -> Iterator[None]:
    with programs_kept():
        yield


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
