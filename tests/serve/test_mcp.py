import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import time

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

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
        ("ask", {"question": " "}),
        ("ask", {"question": "x" * 4001}),
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
    assert "a question is" in found[7]["error"]
    assert "at most 4,000 characters" in found[8]["error"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_reply_is_cut_to_size_and_says_so():
    hub = KnowledgeGraph.from_triples((f"film {n} {'x' * 80}", f"r{n}", "hub") for n in range(300))
    _, [reply] = called(hub, ("entity", {"id": "hub", "limit": 100}))
    text = reply.content[0].text
    assert len(text) <= LARGEST_REPLY
    record = json.loads(text)
    assert record["relations_cut"] + len(record["relations"]) == 300


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_questions_are_answered_one_at_a_time_and_faults_stay_in_the_log():
    inside, most = [], []

    def answer(questions):
        inside.append(questions)
        time.sleep(0.05)
        most.append(len(inside))
        inside.pop()
        raise RuntimeError("/home/me/secret")

    async def run():
        async with Client(server(Facts.of(demo_graph()), answer)) as client:
            calls = [client.call_tool("ask", {"question": "who?"}) for _ in range(4)]
            return [reply.content[0].text for reply in await asyncio.gather(*calls)]

    assert set(asyncio.run(run())) == {
        '{"error": "this could not be answered; the server\'s log says why"}'
    }
    assert most == [1, 1, 1, 1]


@contextlib.asynccontextmanager
async def over_stdio(command, environment):
    parameters = StdioServerParameters(command=command[0], args=command[1:], env=environment)
    async with Client(stdio_client(parameters)) as client:
        yield client


@contextlib.asynccontextmanager
async def over_http(command, environment):
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        port = some.getsockname()[1]
    command = [*command, "--transport", "http", "--port", str(port)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(600):
                with contextlib.suppress(OSError):
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                assert process.poll() is None
                await asyncio.sleep(0.2)
            async with Client(f"http://127.0.0.1:{port}/mcp") as client:
                yield client
        finally:
            process.terminate()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("transport", [over_stdio, over_http])
def test_an_assistant_lists_calls_errs_and_changes_its_mind(transport, tmp_path):
    environment = {**os.environ, "JAXKG_CACHE": str(tmp_path)} | {
        "JAX_NUMPY_DTYPE_PROMOTION": "standard",
        "JAX_NUMPY_RANK_PROMOTION": "allow",
    }
    command = [sys.executable, "-m", "jaxkg", "mcp", "--system", "planner"]

    async def run():
        async with transport(command, environment) as client:
            tools = (await client.list_tools()).tools
            assert {tool.name for tool in tools} >= {"ask", "check_claim"}
            assert all(tool.description for tool in tools)
            # A first question of the planner compiles programs: there is time to give it up.
            first = asyncio.create_task(client.call_tool("ask", {"question": "who made Heat?"}))
            await asyncio.sleep(0.1)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            replies = await asyncio.gather(
                client.call_tool("ask", {"question": "who directed Alien?"}),
                client.call_tool("check_claim", {"head": "Alien", "relation": "x", "tail": "y"}),
                client.call_tool("entity", {"id": 7, "limit": "many"}),
            )
            unknown = await client.call_tool("no such tool", {})
            assert unknown.is_error
            again = await client.call_tool("schema", {"limit": 1})
            return [*replies, again]

    asked, claimed, mistyped, again = asyncio.run(asyncio.wait_for(run(), 300))
    assert json.loads(asked.content[0].text)["entities"][0]["id"] == "Ridley Scott"
    assert "no relation" in json.loads(claimed.content[0].text)["error"]
    assert mistyped.is_error
    assert json.loads(again.content[0].text)["left_out"] == 16
