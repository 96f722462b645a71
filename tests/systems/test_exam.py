"""A model sits an exam; one that passes is trusted with what it writes."""

import json

import pytest

from jaxkg.adjudicate import Meter, OpenAIBackend, Replay, Scripted
from jaxkg.adjudicate.around.cache import Cache, kept_of
from jaxkg.adjudicate.requests import Reply
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.systems import exam, selecting
from jaxkg.systems.exam import Exam, examined, trust_of
from jaxkg.systems.selecting import SUREST, SelectWriter
from tests.systems.test_selecting import STRANGE, build

RIGHT = {
    "roof fan": "SELECT asgd_to FROM job WHERE asset = 'Roof fan'",
    "noticed": "SELECT rptd_by FROM job WHERE asset = 'Cold store'",
    "longer than planned": "SELECT name FROM job WHERE act_hrs > est_hrs",
    "not finished": "SELECT COUNT(*) FROM job WHERE cmpl_dt IS NULL",
    "oldest machine": "SELECT name FROM asset ORDER BY in_svc LIMIT 1",
    "on their hands": "SELECT asgd_to FROM job WHERE sts <> 'CLSD' GROUP BY asgd_to "
    "ORDER BY COUNT(*) DESC LIMIT 1",
    "complain": "SELECT asset FROM job WHERE rptd_by = 'Ida Krol' AND asset_loc = 'Basement'",
    "never had": "SELECT name FROM asset WHERE name NOT IN (SELECT asset FROM job)",
    "colour": "",
    "paid": "",
    "altogether": "SELECT SUM(act_hrs) FROM job WHERE asgd_to = 'Lea Fink'",
    "under repair": "SELECT asset_vndr FROM job WHERE sts IN ('WIP', 'OPEN')",
}


def sits(right):
    """A model that writes so many right SELECTs, and others for the rest."""

    def reply(request):
        question = request.messages[-1].content.rpartition("<question>")[2]
        [place] = [place for place, word in enumerate(RIGHT) if word in question]
        sql = [*RIGHT.values()][place] if place < right else "SELECT loc FROM asset"
        return json.dumps({"sql": sql})

    return Scripted(reply)


@pytest.mark.parametrize("right", [0, 8, 9, 12])
def test_the_exam_counts_what_is_found(right):
    backend = sits(right)
    assert examined(backend) == Exam(right, 12)
    assert Exam(right, 12).passed == (right >= 9)
    assert Exam(12, 12).share == SUREST
    assert len(backend.requests) == 12
    assert all("pattern" not in json.dumps(request.schema) for request in backend.requests)


def test_a_reply_that_cannot_be_read_is_wrong_and_a_call_that_fails_ends_the_exam():
    assert examined(Scripted(lambda _: '{"sql": "SELECT wings FROM asset"}')) == Exam(0, 12)
    assert examined(Scripted(lambda _: Reply(error="timeout", detail="slow"))) is None


def test_a_model_on_this_machine_is_trusted_by_an_exam_that_is_kept(tmp_path):
    """And sits none unasked."""
    path = tmp_path / "replies.sqlite"
    for right in (8, 12):
        fails = Cache(Scripted(lambda _: pytest.fail("it was asked"), model=f"m{right}"), path)
        assert trust_of(fails) is None
        with Cache(sits(right), path) as backend:
            backend.inner.model = f"m{right}"
            assert examined(backend) == Exam(right, 12)
        assert trust_of(Meter(fails)) == (SUREST if right == 12 else None)
        assert trust_of(fails, "never") is None
        assert trust_of(Scripted([]), "always") == SUREST
    assert trust_of(Replay(path, "m12")) == SUREST
    assert trust_of(Replay(path, "another")) is None
    assert kept_of(sits(12)) is None


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/v1", "https://models.example/v1"])
def test_a_model_elsewhere_sits_the_exam_when_it_is_first_asked(monkeypatch, url):
    monkeypatch.setattr(exam, "examined", lambda backend: Exam(11, 12))
    trusted = trust_of(OpenAIBackend("m", base_url=url))
    assert trusted == (12 / 14 if "example" in url else None)


def writes(sql):
    return lambda request: json.dumps({"sql": sql})


def names(answer):
    return [entity.name for entity in answer.entities]


PRICE = "What is the price of the Orion lamp?"
TRUSTED = ("judge.trust=always",)


def test_what_a_trusted_model_writes_is_the_answer_whatever_it_is():
    lookup = "SELECT town FROM student WHERE name = 'Bo Marsh'"
    system, _, backend = build("reader", writes(lookup), *TRUSTED)
    answer = system.ask(STRANGE)
    assert names(answer) == ["Rye"]
    assert answer.plan[0].probability == SUREST
    assert (answer.system, answer.usage.calls) == ("reader+llm", 1)
    [request] = backend.requests
    assert "any of them" in request.messages[0].content
    assert "pattern" not in json.dumps(request.schema)


@pytest.mark.parametrize(("ask", "calls"), [("unsure", 0), ("always", 1)])
def test_a_trusted_model_is_asked_where_the_reader_is_less_sure(ask, calls):
    other = writes("SELECT price FROM device WHERE name = 'Fox stand'")
    system, _, backend = build("reader", other, *TRUSTED, ask=ask)
    assert system.alone.ask(PRICE).plan[0].probability >= SUREST
    answer = system.ask(PRICE)
    assert names(answer) == (["15"] if calls else ["40"])
    assert len(backend.requests) == calls
    assert "choose" not in [request.stage for request in backend.requests]
    [unsure] = build("reader", other, "judge.trust=never", ask="unsure")[:1]
    assert names(unsure.ask(PRICE)) == ["40"]


@pytest.mark.parametrize(("confidence", "calls"), [(0.8, 1), (0.94, 0)])
def test_the_reader_answers_alone_where_it_is_surer_than_any_model(monkeypatch, confidence, calls):
    monkeypatch.setattr(selecting, "_confidence", lambda answer: confidence)
    other = writes("SELECT price FROM device WHERE name = 'Fox stand'")
    system, _, backend = build("reader", other, *TRUSTED)
    if not calls:  # nor is the model examined
        system.writer._trust = lambda: pytest.fail("it was examined")
    assert names(system.ask(PRICE)) == (["15"] if calls else ["40"])
    assert len(backend.requests) == calls


@pytest.mark.parametrize("trust", ["always", "never"])
def test_a_trusted_model_sees_more_columns_those_that_are_named_first(monkeypatch, trust):
    monkeypatch.setattr(selecting, "TOKENS", 60)
    shown = []
    for most in (2000, 60):
        monkeypatch.setattr(selecting, "MORE_TOKENS", most)
        system, _, backend = build("reader", writes(""), f"judge.trust={trust}", "encoder=hashing")
        system.ask("Zorbed Ada Quill flimming?")
        shown.append(backend.requests[-1].messages[-1].content)
    assert ("device_price REAL" in shown[0]) == (trust == "always")
    assert ("CREATE TABLE device" in shown[0]) == (trust == "always")
    assert "student TEXT" in shown[1] or trust == "never"
    texts = ["v" * 9 + letter for letter in "abcdefghijklmnopqrst"]
    kg = KnowledgeGraph.from_triples(
        [(f"t{n}", "is a", "thing") for n in range(20)]
        + [(f"t{n}", "hue", text) for n, text in enumerate(texts)]
    )
    monkeypatch.setattr(selecting, "MORE_TOKENS", 2000)
    backend = Scripted(writes(""))
    how = lambda: SUREST if trust == "always" else None  # noqa: E731
    SelectWriter(QuerySets(kg), backend, trust=how).write([("what", "q")], [()])
    told = backend.requests[-1].messages[-1].content
    assert (texts[9] in told) == (trust == "always")


@pytest.mark.parametrize(
    ("sql", "answers", "told"),
    [
        ("SELECT price FROM device WHERE name = 'Orion lamp'", ["40"], "answers the same"),
        ("SELECT price FROM device WHERE name LIKE '%zorb%'", ["40"], "finds nothing"),
        ("SELECT wings FROM device", ["40"], "nothing that can be read"),
        ("", [], "the model wrote nothing"),
    ],
)
def test_what_a_trusted_model_does_not_find_is_withheld_only_where_it_writes_nothing(
    sql, answers, told
):
    system, _, backend = build("reader", writes(sql), *TRUSTED, ask="always")
    answer = system.ask(PRICE)
    assert names(answer) == answers
    assert told in " ".join(answer.notes)
    assert len(backend.requests) == (2 if "wings" in sql else 1), "one repair"
    if not answers:
        assert answer.abstained == "the model finds nothing in the graph that says it"
        assert (answer.readings[0].preview, answer.query, answer.paths) == (("40",), None, ())


def test_trust_takes_three_words():
    with pytest.raises(JaxkgError, match="trust"):
        build("reader", writes(""), "judge.trust=maybe")
