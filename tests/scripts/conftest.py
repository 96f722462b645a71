from collections.abc import Iterator

import pytest
from planners import cache, in_cache, programs_kept

__all__ = ["cache", "in_cache"]


@pytest.fixture(autouse=True)
def _programs_kept() -> Iterator[None]:
    """Studies run the command in folders that go; later tests compile into their own again."""
    with programs_kept():
        yield
