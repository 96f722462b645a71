"""Names kept of a real endpoint: found as in memory, misspelt too, and of that endpoint alone."""

import contextlib
from unittest import mock

import numpy as np
import pytest
from sparql_server import Fault

from jaxkg.cli import main
from jaxkg.errors import JaxkgError
from jaxkg.experiments.loading import StoreOptions, load_store
from jaxkg.kg import save_graph
from jaxkg.kg.stores.arrays import ArrayStore, save_index
from jaxkg.kg.stores.endpoint import Endpoint, EndpointSettings
from jaxkg.kg.stores.patterns import Patterns
from jaxkg.kg.stores.sparql import SparqlStore, open_labels, save_labels
from jaxkg.records import Question
from jaxkg.systems.stored import StoredQA

NOTHING_KEPT = EndpointSettings(keep=0, retries=0)


@pytest.fixture(scope="module")
def folder(served, tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels") / "names"
    store = SparqlStore(Endpoint(served, NOTHING_KEPT))
    assert save_labels(store, folder) > 100
    return folder


def store_of(served, folder):
    store = load_store(f"sparql:{served}", StoreOptions(endpoint="keep=0", labels=folder))
    assert isinstance(store, SparqlStore)
    return store


def names(store, rows):
    return store.described(np.array(rows, np.int64)).names


def test_names_are_found_as_in_memory_and_without_asking(films, served, folder):
    store, whole = store_of(served, folder), ArrayStore(films)
    texts = ["alien", "RIDLEY SCOTT", "dark knights", "nobody at all"]
    found = store.search(texts)
    assert store.endpoint.sent == 0
    assert [names(store, some) for some in found] == [
        names(whole, some) for some in whole.search(texts)
    ]
    assert [len(some) for some in found] == [1, 1, 1, 0]
    assert names(store, store.near("Ridley Scot")) == ["Ridley Scott"]


def test_a_misspelt_topic_is_found_with_names_alone(served, folder):
    question = Question("q", "which films did Ridley Scot direct?")
    bare, kept = store_of(served, None), store_of(served, folder)
    [nothing], [found] = (StoredQA(some, mock.Mock()).topics([question]) for some in (bare, kept))
    assert nothing == ()
    assert names(kept, found) == ["Ridley Scott"]


def test_the_command_keeps_them(capsys, served, tmp_path):
    def said(*words):
        with contextlib.suppress(SystemExit):
            main(list(words))
        return " ".join(capsys.readouterr())

    kept = str(tmp_path / "names")
    assert "entities" in said("kg", "labels", f"sparql:{served}", "-o", kept)
    about = ["--kg", f"sparql:{served}", "--reach", "whole=0"]
    asked = ["ask", "which films did Ridley Scot direct?", *about, "--set", "encoder=hashing"]
    assert "Gladiator" not in said(*asked)
    assert "Gladiator" in said(*asked, "--labels", kept)
    assert "no endpoint" in said("kg", "labels", "films.nt", "-o", kept)


def test_names_of_another_endpoint_language_or_none_are_refused(films, served, folder, tmp_path):
    for store in (
        SparqlStore(Endpoint("http://127.0.0.1:9/query", NOTHING_KEPT)),
        SparqlStore(Endpoint(served, NOTHING_KEPT), Patterns(language="de")),
    ):
        with pytest.raises(JaxkgError, match="not names of"):
            open_labels(store, folder)
    save_index(save_graph(films, tmp_path / "graph"), films)
    with pytest.raises(JaxkgError, match="of a graph, not names"):
        open_labels(store_of(served, None), tmp_path / "graph")
    with pytest.raises(JaxkgError, match="no saved graph"):
        open_labels(store_of(served, None), tmp_path / "nothing")
    with pytest.raises(JaxkgError, match="--labels are of"):
        load_store(None, StoreOptions(labels=folder))


def test_names_that_are_not_all_are_not_kept(proxy, tmp_path):
    proxy.always = Fault(status=206, rows=5)
    with pytest.raises(JaxkgError, match="not all names were read"):
        save_labels(SparqlStore(Endpoint(proxy.url, NOTHING_KEPT)), tmp_path / "names")
    assert not (tmp_path / "names").exists()
