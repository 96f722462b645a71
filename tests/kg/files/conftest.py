import pytest

from jaxkg.kg import read_graph


@pytest.fixture
def read(tmp_path):
    """Write a file and read it: `read("a|r|b", "kb.txt", ...)`."""

    def run(text, name="kb.ttl", **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_graph(path, **options)

    return run


@pytest.fixture
def folder(tmp_path):
    """Write files into a folder and read it: `folder({"a.csv": "..."})`."""

    def run(files, **options):
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        return read_graph(tmp_path, **options)

    return run
