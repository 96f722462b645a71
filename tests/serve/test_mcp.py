import asyncio
import contextlib
import json
import os
import socket
import subprocess
import time

import pytest
from lib.under_trial import Assistant
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from jaxkg.answer import Answer
from jaxkg.cli import main
from jaxkg.deadline import OutOfTime, check
from jaxkg.kg import KnowledgeGraph, demo_graph
from jaxkg.serve.facts import Facts
from jaxkg.serve.mcp import LARGEST_REPLY, fault, server, written

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def abstain(questions):
    return [Answer(question=q.text, abstained="no evidence") for q in questions]


def called(graph, *calls):
    async def run():
        async with Client(server(Facts.of(graph), abstain)) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            replies = [await client.call_tool(name, given) for name, given in calls]
            return names, replies

    return asyncio.run(run())


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
    assert set(names) == {
        "ask", "find_entities", "entity", "schema", "tables", "select", "paths", "check_claim",
    }  # fmt: skip
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


def test_selects_are_answered_and_cited():
    facts = [("Alien", "is a", "film"), ("Heat", "is a", "film"), ("Alien", "by", "Ridley Scott")]
    _, replies = called(
        KnowledgeGraph.from_triples(facts),
        ("tables", {}),
        ("select", {"sql": "SELECT by FROM film WHERE name = 'Alien'"}),
        ("select", {"sql": "SELECT COUNT(*) FROM film WHERE by IS NULL"}),
        ("select", {"sql": "DELETE FROM film"}),
        ("select", {"sql": "SELECT SUM(name) FROM film"}),
        ("tables", {"question": "who directed it?"}),
    )
    tables, one, count, refused, unfit, few = (json.loads(r.content[0].text) for r in replies)
    assert tables["tables"] == [
        "CREATE TABLE film ( -- 2 rows\n  name TEXT -- 'Alien', 'Heat'\n"
        "  by TEXT -- 'Ridley Scott'\n)"
    ]
    assert tables["columns_left_out"] == 0
    assert [entity["name"] for entity in one["entities"]] == ["Ridley Scott"]
    assert one["paths"][0]["triples"][0]["relation"] == "by"
    assert [entity["name"] for entity in count["entities"]] == ["1"]
    assert "no SELECT" in refused["error"]
    assert "a total adds up" in unfit["error"]
    assert few["tables"]


def test_a_reply_is_cut_to_size_and_says_so():
    hub = KnowledgeGraph.from_triples((f"film {n} {'x' * 80}", f"r{n}", "hub") for n in range(300))
    _, [reply] = called(hub, ("entity", {"id": "hub", "limit": 100}))
    text = reply.content[0].text
    assert len(text) <= LARGEST_REPLY
    record = json.loads(text)
    assert record["relations_cut"] + len(record["relations"]) == 300


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


def test_an_argument_that_is_none_and_a_long_name_are_refused():
    long = "Alien " * 3000
    _, replies = called(
        demo_graph(),
        ("ask", {"question": "who directed Alien?", "topic": ["Alien"]}),
        ("find_entities", {"name": long}),
        ("entity", {"id": long}),
        ("paths", {"start": long, "end": "Alien"}),
        ("check_claim", {"head": "Alien", "relation": long, "tail": "x"}),
    )
    unknown, *longs = replies
    assert unknown.is_error
    assert "nearest: 'topics'" in unknown.content[0].text
    for reply in longs:
        assert "at most 16,000 characters" in json.loads(reply.content[0].text)["error"]


def test_schemas_say_that_there_are_no_other_arguments():
    async def run():
        async with Client(server(Facts.of(demo_graph()), abstain)) as client:
            return (await client.list_tools()).tools

    assert all(tool.input_schema["additionalProperties"] is False for tool in asyncio.run(run()))


def test_no_character_of_a_reply_acts_on_a_terminal():
    name = "Caf\xe9 \x1b[31m\x9b31m \u202egnp\u2066\u200f\U000e0041"
    text = written({"name": name})
    assert all(char.isprintable() for char in text)
    assert "Caf\xe9" in text
    assert json.loads(text) == {"name": name}


@pytest.mark.parametrize(
    ("line", "code", "id"),
    [
        ('{"jsonrpc":"2.0","id":1,"method":"ping"}', None, None),
        ('{"jsonrpc":"2.0","method":"notifications/initialized"}', None, None),
        ('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\\ud800"}}', -32600, 1),
        ('{"jsonrpc":"2.0","id":"a","method":"ping","params":[1]}', -32600, "a"),
        ('{"jsonrpc":"2.0","id":1}', -32600, 1),
        ('{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        ('{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
        ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
        ("no json", -32700, None),
        ("[" * 100_000, -32700, None),
        ('{"a":' * 100_000, -32700, None),
    ],
)
def test_what_is_no_message_is_told(line, code, id):
    error = fault(line)
    assert (error and error.error.code) == code
    assert (error and error.id) == id


def test_a_question_that_takes_too_long_is_stopped_and_the_next_one_answered():
    stopped = []

    def answer(questions):
        if questions[0].text == "quick?":
            return abstain(questions)
        try:
            while True:
                check()
        except OutOfTime:
            stopped.append(questions[0].text)
            raise

    async def run():
        tools = server(Facts.of(demo_graph()), answer, seconds=0.2)
        async with Client(tools) as client:
            late = await client.call_tool("ask", {"question": "late?"})
            left = asyncio.create_task(client.call_tool("ask", {"question": "left?"}))
            await asyncio.sleep(0.05)
            left.cancel()
            next_one = await client.call_tool("ask", {"question": "quick?"})
            return late.content[0].text, next_one.content[0].text

    late, quick = asyncio.run(asyncio.wait_for(run(), 30))
    assert late == '{"error": "no answer in time"}'
    assert "no evidence" in quick
    assert stopped == ["late?", "left?"]


def test_a_model_is_asked_only_where_one_is_named(serve, tmp_path, monkeypatch):
    asked, replies = serve(lambda body: json.dumps({"reading": 1})), []

    def run(tools, transport):
        async def ask():
            async with Client(tools) as client:
                reply = await client.call_tool("ask", {"question": "who directed Alien?"})
                replies.append(json.loads(reply.content[0].text))

        asyncio.run(ask())

    monkeypatch.setattr("jaxkg.serve.mcp._Tools.run", run)
    monkeypatch.setattr("jaxkg.serve.protocol.end_within", lambda seconds: None)
    monkeypatch.setattr("jaxkg.cli.serving._log", lambda: None)
    monkeypatch.setenv("JAXKG_CACHE", str(tmp_path))
    monkeypatch.delenv("JAXKG_LLM_MODEL", raising=False)
    model = ["--llm", "able", "--base-url", asked.url, "--ask-model", "always"]
    for options in [], model:
        with contextlib.suppress(SystemExit):
            main(["mcp", "--set", "encoder=hashing", *options])
        assert bool(asked.bodies) == bool(options)
    assert [[e["name"] for e in reply["entities"]] for reply in replies] == [["Ridley Scott"]] * 2


@pytest.mark.slow
def test_every_line_is_answered_and_the_end_of_input_is_the_end(tool):
    half = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"schema","x":"\\ud800"}}'
    sent = [half, "no json", "[]", "[" * 100_000, '{"jsonrpc":"2.0","id":2,"method":"ping"}']
    talk, told = Assistant(tool), []
    with talk.process as process:
        try:
            for line in sent:
                talk.line(line)
                told.append(talk.reply(30))
            process.stdin.close()
            assert process.wait(30) == 0
        finally:
            process.kill()
    assert [reply["id"] for reply in told] == [1, None, None, None, 2]
    assert ["error" in reply for reply in told][:4] == [True] * 4


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
@pytest.mark.parametrize("transport", [over_stdio, over_http])
def test_an_assistant_lists_calls_errs_and_changes_its_mind(transport, tool, tmp_path):
    environment = {**os.environ, "JAXKG_CACHE": str(tmp_path)}
    command = [*tool.command, "mcp", "--system", "planner"]

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
