import asyncio
import json

import pytest
from mcp import Client

from jaxkg.answer import Answer
from jaxkg.kg import KnowledgeGraph, demo_graph
from jaxkg.serve.facts import Facts
from jaxkg.serve.mcp import LARGEST_REPLY, server


def abstain(questions):
    return [Answer(question=q.text, abstained="no evidence") for q in questions]


def called(graph, *calls):
    async def run():
        async with Client(server(Facts.of(graph), abstain)) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            replies = [await client.call_tool(name, given) for name, given in calls]
            return names, replies

    return asyncio.run(run())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_tools_are_listed_and_answer():
    names, replies = called(
        demo_graph(),
        ("find_entities", {"name": "alien"}),
        ("entity", {"id": "Alien"}),
        ("check_claim", {"head": "Alien", "relation": "directed_by", "tail": "Ridley Scott"}),
        ("paths", {"start": "Alien", "end": "Gladiator"}),
        ("schema", {}),
        ("ask", {"question": "who directed Alien?"}),
        ("entity", {"id": "Nobody"}),
    )
    assert set(names) == {"ask", "find_entities", "entity", "schema", "paths", "check_claim"}
    found = [json.loads(reply.content[0].text) for reply in replies]
    assert found[0]["entities"][0]["id"] == "Alien"
    assert found[1]["id"] == "Alien"
    assert found[2]["supported"] is True
    assert found[3]["paths"]
    assert found[4]["relations"]
    assert found[5]["abstained"] == "no evidence"
    assert "no entity" in found[6]["error"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_reply_is_cut_to_size_and_says_so():
    hub = KnowledgeGraph.from_triples((f"film {n} {'x' * 80}", f"r{n}", "hub") for n in range(300))
    _, [reply] = called(hub, ("entity", {"id": "hub", "limit": 100}))
    text = reply.content[0].text
    assert len(text) <= LARGEST_REPLY
    record = json.loads(text)
    assert record["relations_cut"] + len(record["relations"]) == 300
