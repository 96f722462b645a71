"""Records that are told in parts, and what feeds and runs hold."""

import json

import pytest
from named_facts import named_facts

from jaxkg.kg import read_graph


@pytest.fixture
def read(tmp_path):
    def run(name, text, **options):
        text = text if isinstance(text, str) else json.dumps(text)
        (tmp_path / name).write_text(text)
        return read_graph(tmp_path / name, **options)

    return run


def test_many_records_in_parts_are_things_called_by_the_title_of_a_part(read):
    def trial(n):
        contacts = [{"id": f"c{n}", "name": f"Dr {n}"}, {"id": f"d{n}", "name": f"Mr {n}"}]
        about = {"about": {"title": f"Trial of {n}", "ok": True}, "seen": f"2020-01-{n:02d}"}
        sponsor = {"id": f"s{n % 2}", "organisation": f"Org {n % 2}"}
        return {"study": about, "contact": contacts, "sponsor": sponsor}

    heard = []
    trials = {"total": 9, "trials": [trial(n) for n in range(1, 10)]}
    facts = named_facts(read("all.json", trials, on_reading=heard.append))
    assert facts >= {
        ("Trial of 3", "contact", "Dr 3"), ("Trial of 3", "contact", "Mr 3"),
        ("Trial of 3", "seen", "2020-01-03"), ("Trial of 3", "sponsor", "s1"),
    }  # fmt: skip
    assert sum(relation == "contact" for _, relation, _ in facts) == 18
    assert heard[0].count("'trials' read as a table") == 1


def test_runs_that_hold_results_are_no_things(read):
    runs = [
        {"tool": {"kind": "lint"}, "results": [{"id": f"{n}{at}", "rule": "E1"} for at in "ab"]}
        for n in range(3)
    ]
    facts = named_facts(read("log.json", {"runs": runs}))
    assert {head for head, relation, _ in facts if relation == "rule"} == {
        f"{n}{at}" for n in range(3) for at in "ab"
    }


def test_a_title_that_feeds_give_twice_is_one(read):
    episode = "<item><title>Eels</title><p:title>Eels</p:title><n>{}</n></item>"
    text = f"<rss><channel><name>Hedge</name>{episode.format(1)}{episode.format(2)}</channel></rss>"
    text = text.replace("Eels", "Owls", 2).replace("<rss>", '<rss xmlns:p="http://x.org/p">')
    facts = named_facts(read("feed.xml", text))
    assert {("Owls", "n", "1"), ("Eels", "n", "2")} <= facts
