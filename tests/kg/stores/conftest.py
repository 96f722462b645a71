from collections.abc import Iterator

import pytest
from sparql_server import Proxy, oxigraph, write_ntriples

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


@pytest.fixture(scope="session")
def served(film_file, tmp_path_factory) -> Iterator[str]:
    """The address of an Oxigraph that has the films."""
    with oxigraph(film_file, tmp_path_factory.mktemp("oxigraph")) as url:
        yield url


@pytest.fixture
def proxy(served) -> Iterator[Proxy]:
    made = Proxy(served)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("JAXKG_CACHE", str(tmp_path / "cache"))
