"""Replies of real language models, kept in `replies.sqlite.gz`: what is read of them, offline.

Rows of `scripts/tables/table_llm.py` are measured again from them by `--replay`.
"""

import gzip
import importlib
import json
import pkgutil
import sqlite3
import sys
from collections import Counter
from pathlib import Path

import pytest
from pydantic import BaseModel

from jaxkg.adjudicate import Replay, calls
from jaxkg.adjudicate.reading.parse import Unparsed, parse
from jaxkg.adjudicate.requests import Message, Request
from jaxkg.errors import JaxkgError
from jaxkg.systems import baselines

HERE = Path(__file__).parent
ARCHIVE = HERE / "replies.sqlite.gz"
SCRIPTS = HERE.parents[1] / "scripts"
MODULES = [
    importlib.import_module(f"{calls.__name__}.{module.name}")
    for module in pkgutil.iter_modules(calls.__path__)
]
SCHEMAS = {
    name: kind
    for module in (*MODULES, baselines)
    for name, kind in vars(module).items()
    if isinstance(kind, type) and issubclass(kind, BaseModel)
}


@pytest.fixture(scope="module")
def rows():
    """Each request with its reply, as both were stored."""
    database = sqlite3.connect(":memory:")
    content = bytearray(gzip.decompress(ARCHIVE.read_bytes()))
    content[18:20] = b"\1\1"
    database.deserialize(bytes(content))
    found = database.execute("SELECT key, asked, reply FROM replies ORDER BY key").fetchall()
    database.close()
    return [(key, json.loads(asked), json.loads(reply)) for key, asked, reply in found]


def request_of(asked):
    messages = tuple(Message(*turn) for turn in asked["messages"])
    fields = {name: value for name, value in asked.items() if name not in ("messages", "model")}
    return Request(messages, **fields)


def test_each_reply_is_found_by_its_request(rows):
    assert ARCHIVE.stat().st_size < 5_000_000
    assert all(key == request_of(asked).key(asked["model"]) for key, asked, _ in rows)
    for model in {asked["model"] for _, asked, _ in rows}:
        mine = [(asked, reply) for _, asked, reply in rows if asked["model"] == model]
        with Replay(ARCHIVE, model) as replay:
            replies = replay.complete([request_of(asked) for asked, _ in mine])
        assert [reply.text for reply in replies] == [reply["text"] for _, reply in mine]
        assert all(reply.cached for reply in replies)


def test_what_was_never_asked_is_refused_in_a_line(rows):
    asked = rows[0][1]
    refused = pytest.raises(JaxkgError, match=r"1 of 1 requests to .* were never recorded")
    with Replay(ARCHIVE, asked["model"]) as replay, refused as told:
        replay.complete([request_of({**asked, "seed": 7})])
    assert "\n" not in str(told.value)


def unread(schema_name, reply):
    try:
        parse(reply["text"], SCHEMAS[schema_name], cut_off=reply["finish"] == "length")
    except Unparsed as error:
        return str(error)
    return None


def test_replies_of_every_prompt_kind_are_read(rows):
    kinds, lost = Counter(), {}
    for key, asked, reply in rows:
        if asked["schema"] is None or reply["error"] is not None:
            continue
        kinds[asked["schema_name"]] += 1
        if (why := unread(asked["schema_name"], reply)) is not None:
            lost[key[:8]] = (asked["schema_name"], why)
    assert kinds.keys() <= SCHEMAS.keys()
    assert len(kinds) >= 5
    # Cut off, looping or of another form: they are told as such, and nothing is made of them.
    assert Counter(kind for kind, _ in lost.values()) == UNREAD, lost


UNREAD = {"PlanReply": 2, "RecalledAlone": 11, "Adjudication": 4}
"""Replies of each kind that cannot be read, first ones and repairs."""


@pytest.mark.slow
def test_a_row_is_measured_again_from_the_archive(data_dir, tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(SCRIPTS / "tables"))
    script = importlib.import_module("table_llm")
    lines = (SCRIPTS / "results" / "table_llm.jsonl").read_text("utf-8").splitlines()
    stored = [json.loads(line) for line in lines]
    [record] = [each for each in stored if each["name"] == "table_llm-planning"]
    asked = record["tables"][0]["rows"][0]
    arm, count = asked[2], asked[1]
    file = tmp_path / "again.json"
    script.main(["planning", "--llm", "qwen2.5-coder-1.5b", "--replay", "--sets", asked[0],
                 "--arms", arm, "--questions", str(count), "--data", str(data_dir),
                 "--json", str(file)])  # fmt: skip
    [again] = json.loads(file.read_text())["tables"][0]["rows"]
    assert again == asked
    sys.modules.pop("table_llm", None)
