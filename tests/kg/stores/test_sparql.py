"""An endpoint's store beside the store of the same facts in memory."""

import dataclasses

import numpy as np
import pytest
from sparql_server import Fault

from jaxkg.errors import JaxkgError
from jaxkg.kg import demo_questions
from jaxkg.kg.stores.around import Reach, everything, surroundings, topic_graph
from jaxkg.kg.stores.arrays import ArrayStore
from jaxkg.kg.stores.endpoint import Endpoint, EndpointSettings
from jaxkg.kg.stores.patterns import Patterns
from jaxkg.kg.stores.sparql import SparqlStore
from jaxkg.systems.reader.system import Reader
from jaxkg.systems.stored import StoredQA
from jaxkg.text import HashingEncoder

NOTHING_KEPT = EndpointSettings(keep=0, retries=1)


def store_of(url, settings=NOTHING_KEPT, **patterns):
    return SparqlStore(Endpoint(url, settings), Patterns(**patterns))


@pytest.mark.parametrize("reach", [Reach(hops=2), Reach(hops=3, fan=20), Reach(hops=1)])
@pytest.mark.parametrize("topic", ["Alien", "Drama", "Ridley Scott"])
@pytest.mark.parametrize("settings", [NOTHING_KEPT, EndpointSettings(keep=0, batch=3, page=5)])
def test_the_same_surroundings_as_in_memory(films, served, topic, reach, settings):
    arrays, endpoint = ArrayStore(films), store_of(served, settings)
    if settings.page == 5 and reach.hops > 1:
        reach = Reach(hops=2, fan=4)
    graphs = []
    for store in (arrays, endpoint):
        topics = store.named([topic])[0]
        assert len(topics) == 1
        found = surroundings(store, topics, reach)
        assert found.troubles == ()
        graphs.append((topic_graph(store, found), sorted(found.cuts.size.tolist())))
    (one, cuts), (two, other_cuts) = graphs
    assert cuts == other_cuts
    if not cuts:  # of relations with as many facts either may be cut
        assert one.fingerprint == two.fingerprint
    assert two.num_triples == one.num_triples > 0
    assert set(two.provenance) == {served}


def test_names_are_found_as_written_or_in_other_letters(films, served):
    store = store_of(served)
    found = store.search(["alien", "ridley scott", "nobody at all"])
    assert [store.described(np.array(some, int)).names for some in found] == [
        ["Alien"],
        ["Ridley Scott"],
        [],
    ]
    [alien] = store.named(["Alien"])[0]
    [id] = store.described(np.array([alien])).ids
    assert store.named([id])[0] == [alien]
    assert store.named(["alien"])[0] == []
    assert store.named(["http://films.test/nobody"])[0] == []


def test_many_names_are_one_request_and_asked_once(served):
    store = store_of(served)
    [[alien]] = store.named(["Alien"])
    [id] = store.described(np.array([alien])).ids
    sent = store.endpoint.sent
    names = ["Drama", id, "nobody", "http://films.test/nobody", '"no such text"', "Alien"]
    drama, mine, nobody, nowhere, literal, again = store.named(names)
    assert (len(drama), mine, nobody, nowhere, literal, again) == (1, [alien], [], [], [], [alien])
    assert store.endpoint.sent == sent + 2  # ids, names
    assert store.named(names[::-1])[::-1] == [drama, mine, nobody, nowhere, literal, again]
    assert store.endpoint.sent == sent + 2


def test_facts_are_asked_for_anew(films, served):
    store = store_of(served)
    head, relation, tail = films.triple(0)
    facts = [(head, relation, tail), (tail, relation, head), (head, "no such", tail)]
    facts += [('"text"', relation, tail), (head, relation, tail)]
    assert store.holds(facts) == [True, False, False, False, True]
    assert store.holds([(head, relation, "_:b0")]) == [True]


def test_numbers_of_the_graph(films, served):
    found = store_of(served).stats()
    assert (found["triples"], found["relations"]) == (films.num_triples, films.num_relations)
    assert found["labelled"] == films.num_entities
    assert sum(found["relation_counts"].values()) == films.num_triples


def test_a_graph_that_is_not_there(served):
    with pytest.raises(JaxkgError, match="has no facts; --graph IRI"):
        _ = store_of(served, graph="http://films.test/other").closed
    with pytest.raises(JaxkgError, match="is no IRI"):
        Patterns(graph="films> } DROP ALL #")


def test_an_endpoint_that_cannot_count_its_relations(proxy):
    from sparql_server import Fault

    proxy.faults.append(Fault(status=400, body=b"too much to count", kind="text/plain"))
    store = store_of(proxy.url)
    assert not store.closed
    found = surroundings(store, store.named(["Alien"])[0], Reach(hops=1))
    assert any("too much to count" in trouble for trouble in found.troubles)
    graph = topic_graph(store, found, whole_schema=False)
    assert "directed_by" in graph.relations
    with pytest.raises(JaxkgError, match="trained model needs to know"):
        topic_graph(store, found)


def test_literals_and_blank_nodes(tmp_path, serve, names_alone):
    from jaxkg.kg import read_graph

    xsd = "http://www.w3.org/2001/XMLSchema#"
    label, also = (
        "http://www.w3.org/2000/01/rdf-schema#label",
        "http://www.w3.org/2004/02/skos/core#altLabel",
    )
    file = tmp_path / "odd.nt"
    file.write_text(
        f'<http://a/1> <http://a/p> "5"^^<{xsd}integer> .\n'
        f'<http://a/1> <http://a/p> "true"^^<{xsd}boolean> .\n'
        '<http://a/1> <http://a/p> "say \\"no\\"\\n"@fr .\n'
        "<http://a/1> <http://a/q#p> _:who .\n"
        "_:who <http://a/r> <http://a/2> .\n"
        f'<http://a/1> <{label}> "Eins"@de .\n'
        f'<http://a/1> <{label}> "One"@en .\n'
        f'<http://a/1> <{also}> "Uno" .\n'
        f'<http://a/2> <{label}> "Two" .\n'
        f'<http://a/q#p> <{label}> "odd one" .\n',
        encoding="utf-8",
    )
    kg = read_graph(file)
    url = serve(file)
    store = store_of(url)
    graph = topic_graph(store, surroundings(store, store.named(["One"])[0], Reach(hops=2)))
    wanted = {kg.triple(row) for row in range(kg.num_triples)}
    # Behind a blank node nothing can be asked for; its label differs from server to server.
    found = {graph.triple(row) for row in range(graph.num_triples)}
    assert {t for t in found if not t[2].startswith("_:")} == {
        t for t in wanted if "_:" not in t[0] + t[2]
    }
    assert graph.relations == kg.relations
    assert graph.relation_labels == kg.relation_labels
    assert all(store.holds([fact for fact in found if fact[0] == "http://a/1"]))
    assert graph.name(graph.entity(f'"true"^^<{xsd}boolean>')) == "true"
    one = graph.entity("http://a/1")
    assert (graph.name(one), graph.aliases[one]) == ("One", ("Uno",))
    literal = graph.entity(f'"5"^^<{xsd}integer>')
    assert graph.name(literal) == "5"
    german = store_of(url, language="de")
    assert german.described(np.array(german.named(["Eins"])[0])).names == ["Eins"]
    own = store_of(url, labels=(also,), aliases=())
    assert own.described(np.array(own.named(["Uno"])[0])).names == ["Uno"]


def test_everything_is_the_graph(films, served):
    store = store_of(served)
    graph = topic_graph(store, everything(store))
    assert graph.fingerprint == films.fingerprint
    assert store.count == films.num_triples
    # Relations and their names, rows at a time, facts, names: nothing is asked fact by fact. By
    # pages of 200 it is a count and eight, a count and three, and one that is refused.
    assert store.endpoint.sent <= 6 + 13 * ("default-graph-uri" in served)
    pages = store_of(served, EndpointSettings(keep=0, page=100))
    assert topic_graph(pages, everything(pages)).fingerprint == films.fingerprint


def test_everything_of_an_endpoint_that_gives_few_rows(films, proxy):
    proxy.always = Fault(rows=100)
    store = store_of(proxy.url)
    found = everything(store)
    assert found.troubles == ()
    assert topic_graph(store, found).fingerprint == films.fingerprint


def test_what_is_missing_of_everything_is_told(films, proxy):
    store = store_of(proxy.url)
    assert store.closed
    proxy.faults.append(Fault(rows=7))
    found = everything(store)
    assert f"counted {films.num_triples - 7:,} facts that it did not send" in found.troubles[0]


def test_a_text_is_searched_for_once(films, served):
    store = store_of(served)
    first = store.search(["Alien", "nobody at all"])
    sent = store.endpoint.sent
    assert store.search(["nobody at all", "Alien"]) == first[::-1]
    assert store.endpoint.sent == sent
    assert store.search(["Heat", "Alien"])[1] == first[0]


def test_a_reply_of_many_bytes(films, served):
    if "default-graph-uri" in served:
        pytest.skip("Virtuoso has no texts of 16 MB")
    long = "x" * ((1 << 24) + 1)
    query = f'SELECT ("{long}" AS ?x) WHERE {{}}'
    assert len(Endpoint(served, NOTHING_KEPT).select(query).rows[0]["x"]["value"]) == len(long)


def test_answers_over_an_endpoint_are_those_of_the_graph(films, served):
    asked = demo_questions()[:12]
    encoder = HashingEncoder()

    def reader(kg):
        return Reader.build(kg, encoder)

    def told(answer):
        cited = [[(c.head, c.relation, c.tail) for c in p.citations] for p in answer.paths]
        return [e.entity for e in answer.entities], cited, answer.abstained is None, answer.query

    named = [dataclasses.replace(question, topics=()) for question in asked]
    whole = list(map(told, reader(films).answer(named)))
    for reach in (Reach(), Reach(whole=0, fan=10**6, facts=10**6)):
        qa = StoredQA(store_of(served), reader, reach=reach)
        answers = qa.answer(named)
        assert list(map(told, answers)) == whole
        assert [qa.check(answer) for answer in answers] == [()] * len(asked)
        sent = qa.requests()
        assert sent
        assert list(map(told, qa.answer(named))) == whole
        assert qa.requests() == sent
        assert qa.spent().endswith(f": {sent:,} requests, {sent / (2 * len(asked)):.3g} a question")
    assert StoredQA(ArrayStore(films), reader).spent() == ""
