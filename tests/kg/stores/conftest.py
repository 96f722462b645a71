import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sparql_server import Proxy, oxigraph, put_graph, virtuoso, write_ntriples

from jaxkg.kg import KnowledgeGraph, demo_graph, read_graph


@pytest.fixture(scope="session")
def film_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("films") / "films.nt"
    write_ntriples(demo_graph(), path)
    return path


@pytest.fixture(scope="session")
def films(film_file) -> KnowledgeGraph:
    """The demo graph as read from N-Triples: what is behind the endpoint."""
    return read_graph(film_file)


@pytest.fixture(
    scope="session", params=["oxigraph", pytest.param("virtuoso", marks=pytest.mark.slow)]
)
def serve(request, tmp_path_factory) -> Iterator[Callable[[Path], str]]:
    """Serves a file of N-Triples; the address of the endpoint that has it.

    Virtuoso gives few rows at a time, and sorts few.
    """
    with contextlib.ExitStack() as running:
        if request.param == "oxigraph":
            yield lambda file: running.enter_context(
                oxigraph(file, tmp_path_factory.mktemp("oxigraph"))
            )
            return
        if not shutil.which("virtuoso-t"):
            pytest.skip("virtuoso-t is not on the PATH (Debian: virtuoso-opensource-7-bin)")
        url = running.enter_context(virtuoso(tmp_path_factory.mktemp("virtuoso"), 200, 400))
        yield lambda file: put_graph(url, file, f"http://films.test/{file.parent.name}")


@pytest.fixture(scope="session")
def served(film_file, serve) -> str:
    """The address of an endpoint that has the films."""
    return serve(film_file)


@pytest.fixture
def proxy(served) -> Iterator[Proxy]:
    made = Proxy(served)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("JAXKG_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def names_alone(monkeypatch):
    """Let RDF files say other names as names alone, as graphs on disk and endpoints do."""
    monkeypatch.setattr("jaxkg.kg.files.rdf.read.other_names", lambda *_, **__: "")
