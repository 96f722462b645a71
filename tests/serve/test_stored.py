"""Looking things up in a store is looking them up in its graph."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.under_trial import JSON
from mcp import Client

from jaxkg.cli import serving
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, demo_graph
from jaxkg.kg.stores import around
from jaxkg.kg.stores.arrays import ArrayStore
from jaxkg.serve import stored
from jaxkg.serve.app import service
from jaxkg.serve.facts import Facts, NotThere
from jaxkg.serve.mcp import server
from jaxkg.serve.stored import StoredFacts, lookups
from jaxkg.systems.reader.system import Reader
from jaxkg.systems.stored import Reach, StoredQA
from jaxkg.text import HashingEncoder

DEMO = demo_graph()
WHOLE, PART = Facts.of(DEMO), StoredFacts(ArrayStore(DEMO))
TRIPLES = st.sets(
    st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=20
)


def by_relation(told):
    return {**told, "relations": sorted(told["relations"], key=lambda r: r["relation"])}


@pytest.mark.parametrize("name", ["Alien", "Ridley Scott", "Drama", "1979"])
def test_an_entity_has_the_same_facts(name):
    assert by_relation(PART.entity(name)) == by_relation(WHOLE.entity(name))
    assert by_relation(PART.entity(name, limit=1)) == by_relation(WHOLE.entity(name, limit=1))


@given(TRIPLES, st.integers(1, 4))
def test_the_same_walks_and_claims(triples, hops):
    kg = KnowledgeGraph.from_triples((f"e{h}", f"r{r}", f"e{t}") for h, r, t in triples)
    whole, part = Facts.of(kg), StoredFacts(ArrayStore(kg))
    ends = kg.entity_ids.tolist()
    one, two = ends[0], ends[-1]
    walks = [facts.paths(one, two, hops=hops, limit=50) for facts in (whole, part)]
    for told in walks:
        told["paths"] = sorted([[c["triple"] for c in path["citations"]] for path in told["paths"]])
    assert walks[0] == walks[1]
    for relation in (*kg.relations, *(f"^{name}" for name in kg.relations)):
        wanted, found = (facts.check(one, relation, two) for facts in (whole, part))
        assert found["supported"] == wanted["supported"]
        assert found["triples"] == wanted["triples"]
        told = [{fact["triple"] for fact in some["instead"]} for some in (wanted, found)]
        assert told[0] == told[1]


def test_names_are_found_and_what_is_not_there_is_told():
    for name in ("Alien", "alien", "Ridly Scott"):
        found = PART.entities(name)["entities"]
        assert found[0]["id"] == WHOLE.entities(name)["entities"][0]["id"]
        assert found[0]["degree"] == WHOLE.entity(found[0]["id"])["degree"]
    assert PART.entities("zzyzx") == {"entities": [], "left_out": 0}
    with pytest.raises(NotThere, match="nearest: 'Ridley Scott'"):
        PART.entity("Ridly Scott")
    with pytest.raises(NotThere, match="no relation"):
        PART.check("Alien", "no such", "Drama")
    with pytest.raises(JaxkgError, match="name an entity"):
        PART.entities(" ")
    twice = KnowledgeGraph.from_triples([("m1", "r", "m2")], names={"m1": "Heat", "m2": "Heat"})
    with pytest.raises(NotThere, match="2 entities"):
        StoredFacts(ArrayStore(twice)).entity("Heat")
    assert PART.schema()["relations"][0]["count"] == WHOLE.schema()["relations"][0]["count"]
    assert PART.schema(limit=2)["left_out"] == DEMO.num_relations - 2


@pytest.mark.parametrize("lookups", [Facts.of, lambda kg: StoredFacts(ArrayStore(kg))])
def test_words_of_names_come_before_what_is_spelt_alike(lookups):
    facts = lookups(
        KnowledgeGraph.from_triples(
            [("Accra", "in", "Ghana"), ("Maria Theresia of Austria", "in", "Accra")]
            + [("Maria Keller", "works in", "Research Unit"), ("Tom", "works in", "Field Unit")]
            + [("Anna", "works in", "Research Unit")]
        )
    )

    def found(name):
        return [entity["id"] for entity in facts.entities(name)["entities"]]

    assert found("maria")[:2] == ["Maria Keller", "Maria Theresia of Austria"]
    assert found("Unit")[:2] == ["Research Unit", "Field Unit"], "most facts first"
    assert found("Marja Keller") == ["Maria Keller"]


def test_the_beginnings_of_words_are_found_in_a_graph_that_is_read():
    facts = Facts.of(
        KnowledgeGraph.from_triples(
            [("Mariahilf", "in", "Wien"), ("Maria Keller", "likes", "Zoë"), ("m.7", "in", "Wien")],
            aliases={"m.7": ["Maria Hilf"]},
        )
    )

    def found(name):
        return [entity["id"] for entity in facts.entities(name)["entities"]]

    assert found("maria")[:3] == ["Maria Keller", "m.7", "Mariahilf"], "whole words first"
    assert found("mar kel")[0] == "Maria Keller"
    assert found("zoe")[0] == "Zoë"
    assert found("---") == []


def test_hubs_are_counted_and_told(monkeypatch):
    monkeypatch.setattr(stored, "_FACTS", 30)
    facts = [(f"f{n}", "genre", "Drama") for n in range(50)]
    kg = KnowledgeGraph.from_triples([*facts, ("f1", "by", "Mann"), ("Drama", "is", "Genre")])
    part = StoredFacts(ArrayStore(kg))
    told = part.entity("Drama")
    [hub] = [r for r in told["relations"] if r["relation"] == "^genre"]
    assert (hub["count"], hub["facts"], hub["left_out"], told["degree"]) == (50, [], 50, 51)
    assert part.check("f7", "genre", "Drama")["supported"]
    assert part.check("Drama", "^genre", "f7")["supported"]
    assert not part.check("Mann", "genre", "Drama")["supported"]
    assert part.paths("f1", "f2", hops=2)["paths"]
    assert not part.paths("Drama", "Mann", hops=1)["complete"]
    # Both ends too large to fetch: the one fact is asked for.
    big = KnowledgeGraph.from_triples(
        [("a", "r", f"x{n}") for n in range(40)]
        + [(f"y{n}", "r", "b") for n in range(40)]
        + [("a", "r", "b")]
    )
    both = StoredFacts(ArrayStore(big))
    assert both.check("a", "r", "b")["supported"]
    assert not both.check("a", "r", "y1")["supported"]
    assert around.runs_between(ArrayStore(big), [0], [1], [0], 100)[1].size.tolist() == []


def test_what_is_looked_up_where():
    assert lookups(None, None, lambda: WHOLE) is WHOLE
    assert isinstance(lookups(ArrayStore(DEMO), None, lambda: WHOLE), StoredFacts)
    qa = StoredQA(ArrayStore(DEMO), lambda kg: Reader.build(kg, HashingEncoder()))
    asked: Any = SimpleNamespace(system=qa)
    whole = lookups(qa.store, serving._whole(asked), lambda: WHOLE)
    assert not isinstance(whole, StoredFacts)
    assert by_relation(whole.entity("Alien")) == by_relation(WHOLE.entity("Alien"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_service_and_assistant_over_a_store():
    qa = StoredQA(
        ArrayStore(DEMO), lambda kg: Reader.build(kg, HashingEncoder()), reach=Reach(whole=0)
    )
    app = service(PART, qa.answer)

    async def served():
        async with (
            app.app.router.lifespan_context(app),
            httpx.AsyncClient(
                transport=httpx.ASGITransport(app), base_url="http://127.0.0.1"
            ) as client,
        ):
            ask = await client.post("/ask", json={"question": "who directed Alien?"})
            entity = await client.get("/entities/Alien")
            gone = await client.get("/entities/Nobody")
            return ask.json(), entity.json(), gone.status_code

    answer, entity, gone = asyncio.run(served())
    assert [e["name"] for e in answer["entities"]] == ["Ridley Scott"]
    assert DEMO.triple(answer["paths"][0]["citations"][0]["triple"])[0] == "Alien"
    assert entity["id"] == "Alien"
    assert gone == 404

    async def called():
        async with Client(server(PART, qa.answer)) as client:
            ask = await client.call_tool("ask", {"question": "who directed Alien?"})
            paths = await client.call_tool("paths", {"start": "Alien", "end": "Gladiator"})
            return [json.loads(reply.content[0].text) for reply in (ask, paths)]

    ask, paths = asyncio.run(called())
    assert ask["entities"][0]["id"] == "Ridley Scott"
    assert paths["paths"]


@pytest.mark.slow
def test_the_command_over_a_mapped_folder(tool, tmp_path):
    facts = tmp_path / "team.tsv"
    facts.write_text("Heron\tproject lead\tInes Okafor\nKite\tproject lead\tTom Brandt\n")
    build = tool.popen("kg", "build", str(facts), "-o", str(tmp_path / "team"), "--index")
    assert build.wait(120) == 0
    mapped = ("--kg", f"mapped:{tmp_path / 'team'}", "--reach", "whole=0")
    with tool.service(*mapped, "--set", "encoder=hashing") as running:
        body = json.dumps({"question": "Who is the project lead of Heron?"})
        answer = json.loads(running.ask("POST", "/ask", body, heads=JSON, seconds=60)[2])
    assert [entity["name"] for entity in answer["entities"]] == ["Ines Okafor"]
