import pytest


@pytest.fixture
def path(tmp_path):
    """Of a file of replies, in a folder that is not there yet."""
    return tmp_path / "folder" / "replies.sqlite"
