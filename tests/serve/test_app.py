import gc
import json
import threading
import time

import jsonschema
import numpy as np
import pytest
from starlette import testclient

from jaxkg.answer import Answer
from jaxkg.kg import KnowledgeGraph
from jaxkg.records import Question, RankedEntity
from jaxkg.serve.app import QUERY, Limits, service
from jaxkg.serve.describe import openapi
from jaxkg.serve.examples import examples
from jaxkg.serve.facts import Facts
from jaxkg.serve.guard import Names
from jaxkg.serve.page import FILES

FACTS = Facts.of(
    KnowledgeGraph.from_triples(
        [("Heat", "directed_by", "Mann"), ("<script>alert(1)</script>", "directed_by", "Mann")]
    )
)
TOKEN = "a token of sixteen"
JSON = {"Content-Type": "application/json"}


def TestClient(app, **named):
    """A caller on this machine."""
    return testclient.TestClient(app, base_url="http://localhost", **named)


def answer(questions):
    if any(q.text == "break" for q in questions):
        raise RuntimeError("/home/me/secret and sk-123")
    return [
        Answer(question=q.text, question_id=q.id, entities=(RankedEntity("Mann", "Mann", 1.0, ()),))
        for q in questions
    ]


def soon_ready(client):
    for _ in range(500):
        if client.get("/readyz").status_code == 200:
            return
        time.sleep(0.01)
    raise AssertionError("it never gets ready")


@pytest.fixture(scope="module")
def client():
    with TestClient(service(FACTS, answer), raise_server_exceptions=False) as client:
        yield client


class TestAsking:
    def test_a_question_is_answered_with_the_record_of_json(self, client):
        reply = client.post("/ask", json={"question": "who directed [Heat]?", "id": "mine"})
        assert reply.status_code == 200
        assert Answer.from_json(reply.text).question == "who directed Heat?"
        assert reply.json()["question_id"] == "mine"

    def test_what_json_cannot_say_is_replaced(self):
        def strange(questions):
            who = RankedEntity("Caf\ud800", "Café", np.float64(0.5), ())
            return [Answer(question=q.text, entities=(who,)) for q in questions]

        with TestClient(service(FACTS, strange)) as client:
            found = client.post("/ask", json={"question": "who?"}).json()["entities"]
        assert (found[0]["entity"], found[0]["score"]) == ("Caf\ufffd", 0.5)

    def test_a_batch_comes_as_lines_in_order(self, client):
        body = "\n".join(json.dumps({"question": f"q {n}", "id": str(n)}) for n in range(300))
        reply = client.post("/ask/batch", content=body, headers=JSON)
        assert [json.loads(line)["question_id"] for line in reply.text.splitlines()] == [
            str(n) for n in range(300)
        ]

    def test_one_bad_question_of_a_batch_does_not_lose_the_others(self, client):
        reply = client.post("/ask/batch", json=["one", "break", "two"])
        one, broken, two = map(json.loads, reply.text.splitlines())
        assert (one["question"], two["question"]) == ("one", "two")
        assert broken["question_id"] == "q2"
        assert "log says why" in broken["error"]

    @pytest.mark.parametrize(
        ("body", "says"),
        [
            (b"", "not JSON"),
            (b"[" * 5000 + b"]" * 5000, "nested deeper"),
            (b'{"question": 3}', "a question is"),
            (b'{"question": "  "}', "a question is"),
            (b'{"question": "\\ud800"}', "surrogate"),
            (b'{"question": "x", "topics": "Heat"}', "topics is a list"),
            (b'{"question": "x", "id": 1}', "id is a text"),
            (b"\xff\xfe", "not UTF-8"),
            (
                b'{"question": "x", "topic": ["Heat"]}',
                "'topic' is no member of a question; nearest",
            ),
            (b'{"question": "x", "zzz": 1}', "there is question, topics, id"),
        ],
    )
    def test_what_is_no_question_is_told_in_one_line(self, client, body, says):
        reply = client.post("/ask", content=body, headers=JSON)
        assert reply.status_code == 400
        assert says in reply.json()["error"]
        assert "\n" not in reply.json()["error"]

    @pytest.mark.parametrize(
        ("path", "says"),
        [
            ("/entities?q=Heat&limt=3", "'limt' is no parameter here; nearest: 'limit'"),
            ("/paths?from=Heat&to=Mann&hop=2", "nearest: 'hops'"),
            ("/entities/Heat?relation=x", "there is limit"),
            ("/examples?limit=2", "there is none"),
        ],
    )
    def test_a_parameter_that_is_none_is_told(self, client, path, says):
        reply = client.get(path)
        assert reply.status_code == 400
        assert says in reply.json()["error"]

    def test_a_member_of_a_claim_that_is_none_is_told(self, client):
        claim = {"head": "Heat", "relation": "directed_by", "tail": "Mann", "tial": "x"}
        reply = client.post("/check", json=claim)
        assert (reply.status_code, "nearest: 'tail'" in reply.text) == (400, True)

    def test_the_description_tells_the_parameters_that_are_taken(self):
        for path, route in openapi()["paths"].items():
            told = [
                asked["name"]
                for how in route.values()
                for asked in how.get("parameters", ())
                if asked["in"] == "query"
            ]
            assert tuple(told) == QUERY.get(path.replace("{id}", "{id:path}"), ())

    def test_too_long_is_told(self, client):
        assert client.post("/ask", content=b"x" * 70_000, headers=JSON).status_code == 413
        assert client.post("/ask", json={"question": "x" * 4001}).status_code == 413

    def test_names_and_topics_are_bounded(self, client):
        long = "Heat " * 4000
        assert client.get("/entities", params={"q": long}).status_code == 413
        assert client.get("/paths", params={"from": "Heat", "to": long}).status_code == 413
        claim = {"head": long, "relation": "directed_by", "tail": "Mann"}
        assert client.post("/check", json=claim).status_code == 413
        asked = {"question": "x", "topics": [f"m.{n}" for n in range(65)]}
        assert client.post("/ask", json=asked).status_code == 413
        asked["topics"] = ["Heat"] * 5000
        assert client.post("/ask", json=asked).status_code == 200

    def test_a_batch_lets_others_through(self):
        batches = []

        def slow(questions):
            batches.append([q.text for q in questions])
            time.sleep(0.01)
            return answer(questions)

        limits = Limits(queue=8, batch=4)
        with TestClient(service(FACTS, slow, limits=limits)) as client:
            body = [f"q {n}" for n in range(200)]
            told = []
            sender = threading.Thread(
                target=lambda: told.append(client.post("/ask/batch", json=body).text)
            )
            sender.start()
            while not batches:
                time.sleep(0.005)
            codes = [client.post("/ask", json={"question": "mine"}).status_code for _ in range(5)]
            before = sum(map(len, batches))
            sender.join()
        assert codes == [200] * 5
        assert before < 150
        assert [json.loads(line)["question"] for line in told[0].splitlines()] == body

    def test_an_error_repeats_only_the_start_of_what_was_sent(self, client):
        reply = client.get(f"/entities/{'9' * 5000}")
        assert reply.status_code == 404
        assert 400 < len(reply.json()["error"]) < 520
        assert reply.json()["error"].endswith(" …")

    def test_an_error_inside_tells_nothing_of_the_machine(self, client):
        reply = client.post("/ask", json={"question": "break"})
        assert reply.status_code == 500
        assert "secret" not in reply.text
        assert "sk-" not in reply.text

    def test_an_answer_that_takes_too_long_is_given_up(self):
        import time

        def slow(questions):
            time.sleep(0.3)
            return answer(questions)

        with TestClient(service(FACTS, slow, limits=Limits(seconds=0.05))) as client:
            assert client.post("/ask", json={"question": "x"}).status_code == 504


class TestLookingUp:
    def test_entities_and_one_entity(self, client):
        assert client.get("/entities", params={"q": "heat"}).json()["entities"][0]["id"] == "Heat"
        assert client.get("/entities/Heat").json()["relations"][0]["count"] == 1
        assert client.get("/entities/%3Cscript%3Ealert(1)%3C%2Fscript%3E").status_code == 200
        assert client.get("/entities/Nobody").status_code == 404
        assert client.get("/entities", params={"q": "Heat", "limit": "0"}).status_code == 400

    def test_paths_claims_and_schema(self, client):
        given = {"from": "Heat", "to": "Mann"}
        assert len(client.get("/paths", params=given).json()["paths"]) == 1
        assert client.get("/paths").status_code == 400
        claim = {"head": "Heat", "relation": "directed_by", "tail": "Mann"}
        assert client.post("/check", json=claim).json()["supported"] is True
        assert client.post("/check", json={"head": "Heat"}).status_code == 400
        assert client.get("/schema").json()["relations"][0]["count"] == 2

    @pytest.mark.parametrize(
        ("path", "asked", "body"),
        [
            ("/ask", {}, {"question": "who directed [Heat]?"}),
            ("/ask/batch", {}, {"question": "who directed [Heat]?"}),
            ("/entities", {"q": "heat"}, None),
            ("/entities/{id}", {}, None),
            ("/paths", {"from": "Heat", "to": "Mann"}, None),
            ("/check", {}, {"head": "Heat", "relation": "directed_by", "tail": "Mann"}),
            ("/check", {}, {"head": "Mann", "relation": "^directed_by", "tail": "Mann"}),
            ("/schema", {}, None),
            ("/examples", {}, None),
        ],
    )
    def test_a_reply_is_as_described(self, client, path, asked, body):
        how = "GET" if body is None else "POST"
        reply = client.request(how, path.replace("{id}", "Heat"), params=asked, json=body)
        told = openapi()
        [kind] = told["paths"][path][how.lower()]["responses"]["200"]["content"].values()
        strict = {**told["components"]["schemas"]}
        for name, record in strict.items():  # nothing that is not told
            strict[name] = {**record, "additionalProperties": False}
        schema = {**kind["schema"], "components": {"schemas": strict}}
        jsonschema.validate(reply.json(), schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({}, schema)

    @pytest.mark.parametrize(
        ("how", "path", "status", "says"),
        [
            ("GET", "/asks", 404, "/openapi.json"),
            ("GET", "/ask", 405, "POST"),
            ("DELETE", "/schema", 405, "GET"),
        ],
    )
    def test_what_is_not_served_is_told_as_json(self, client, how, path, status, says):
        reply = client.request(how, path)
        assert reply.status_code == status
        assert says in reply.json()["error"]
        assert ("allow" in reply.headers) == (status == 405)

    def test_head_is_answered_as_get_and_any_other_method_is_refused(self, client):
        for route in client.app.app.routes:
            path = route.path.replace("{id:path}", "Heat")
            if "GET" in route.methods:
                get, head = client.get(path), client.head(path)
                assert (head.status_code, head.content) == (get.status_code, b"")
                assert head.headers["content-length"] != "0"
            for how in {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"} - route.methods:
                reply = client.request(how, path)
                assert reply.status_code == 405
                assert reply.headers["allow"] == ", ".join(sorted(route.methods))

    def test_every_route_is_described(self, client):
        described = set(client.get("/openapi.json").json()["paths"])
        routes = {route.path.replace(":path", "") for route in client.app.app.routes}
        pages = {*FILES, "/openapi.json"}
        assert described == routes - pages


class TestExamples:
    tried = (
        Question("1", "who made Heat?", answers=("Mann",)),
        Question("2", "who made it?", answers=("x",)),
        Question("3", "break", answers=("Mann",)),
    )

    def test_those_answered_rightly_are_shown(self):
        with TestClient(service(FACTS, answer, examples=self.tried)) as client:
            soon_ready(client)
            assert client.get("/examples").json() == {
                "questions": ["who made Heat?"],
                "complete": True,
            }

    def test_who_comes_before_they_are_tried_is_told_to_come_again(self):
        tried = threading.Event()

        def late(questions):
            assert tried.wait(60)
            return answer(questions)

        with TestClient(service(FACTS, late, examples=self.tried[:1])) as client:
            assert client.get("/examples").json() == {"questions": [], "complete": False}
            tried.set()
            while not (found := client.get("/examples").json())["complete"]:
                pass
            assert found["questions"] == ["who made Heat?"]

    def test_batches_of_every_size_are_tried_before_it_is_ready(self):
        sizes = []

        def counted(questions):
            sizes.append(len(questions))
            return answer(questions)

        app = service(FACTS, counted, examples=self.tried[:2], limits=Limits(batch=8))
        with TestClient(app) as client:
            soon_ready(client)
        assert sizes == [1, 1, 1, 2, 4, 8]

    @pytest.mark.parametrize("queue", [1, 2])
    def test_a_short_queue_does_not_keep_it_from_getting_ready(self, queue):
        limits = Limits(queue=queue, batch=4)
        with TestClient(service(FACTS, answer, examples=self.tried, limits=limits)) as client:
            soon_ready(client)
            assert client.get("/examples").json()["complete"]

    def test_whatever_fails_it_gets_ready_and_the_log_says_what(self, caplog):
        def only_alone(questions):
            if len(questions) > 1:
                raise RuntimeError("too many at once")
            return answer(questions)

        app = service(FACTS, only_alone, examples=self.tried[:1], limits=Limits(batch=4))
        with TestClient(app) as client:
            soon_ready(client)
        assert "warming up: too many at once" in caplog.text

    def test_nothing_is_asked_that_nobody_asked_for(self):
        with TestClient(service(FACTS, answer, examples=self.tried, warm=False)) as client:
            assert len(client.get("/examples").json()["questions"]) == 3
            assert "jaxkg_batched_questions_total 0" in client.get("/metrics").text


def test_examples_are_about_what_the_graph_says():
    kg = KnowledgeGraph.from_triples(
        [("Heat", "directed_by", "Mann"), ("Heat", "has_genre", "Crime"), ("Mann", "age", "80")]
        + [("x" * 90, "directed_by", "y"), ("m.1", "likes", "z"), ("m.2", "likes", "z")],
        names={"m.1": "Twin", "m.2": "Twin"},
    )
    assert {(q.text, *q.answers) for q in examples(kg)} == {
        ("What is Heat directed by?", "Mann"),
        ("What is the genre of Heat?", "Crime"),
        ("What is the age of Mann?", "80"),
    }


class TestHealth:
    def test_what_stays_is_looked_through_for_garbage_once(self):
        with TestClient(service(FACTS, answer)) as client:
            soon_ready(client)
            assert gc.get_freeze_count() > 1000
        assert gc.get_freeze_count() == 0

    def test_what_happened_is_counted(self, client):
        client.post("/ask", json={"question": "x"})
        text = client.get("/metrics").text
        assert 'jaxkg_requests_total{route="/ask",status="200"}' in text
        assert "jaxkg_answer_seconds_count" in text


class TestGuard:
    def test_a_token_is_wanted_for_all_that_tells_of_the_graph(self):
        with TestClient(service(FACTS, answer, token=TOKEN)) as client:
            assert client.get("/schema").status_code == 401
            assert client.get("/healthz").status_code == 200
            wrong = {"Authorization": f"Bearer {TOKEN}x"}
            assert client.get("/schema", headers=wrong).status_code == 401
            right = {"Authorization": f"Bearer {TOKEN}"}
            assert client.get("/schema", headers=right).status_code == 200

    def test_many_wrong_tokens_are_slowed_and_counted(self, monkeypatch, caplog):
        monkeypatch.setattr("jaxkg.serve.guard._WRONG_TOKENS", 5)
        with TestClient(service(FACTS, answer, token=TOKEN)) as client:
            wrong = {"Authorization": f"Bearer {TOKEN}x"}
            begun = time.monotonic()
            codes = [client.get("/schema", headers=wrong).status_code for _ in range(10)]
            assert time.monotonic() - begun > 0.9  # five at once, then five a second
            assert codes == [401] * 10
            assert "wrong tokens" in caplog.text
            right = {"Authorization": f"Bearer {TOKEN}"}
            counted = client.get("/metrics", headers=right).text
            assert 'route="none",status="401"} 10' in counted

    def test_right_tokens_are_never_slowed(self):
        with TestClient(service(FACTS, answer, token=TOKEN)) as client:
            right = {"Authorization": f"bearer {TOKEN}"}
            assert {client.get("/schema", headers=right).status_code for _ in range(60)} == {200}

    def test_wrong_tokens_use_up_the_rate(self):
        limits = Limits(per_second=0.001, burst=2)
        with TestClient(service(FACTS, answer, token=TOKEN, limits=limits)) as client:
            codes = [client.get("/schema").status_code for _ in range(3)]
            assert codes == [401, 401, 429]

    @pytest.mark.parametrize("path", ["/ask", "/ask/batch", "/check"])
    @pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "x"])
    def test_what_a_page_can_send_unasked_is_not_taken(self, client, path, kind):
        reply = client.post(path, content=b'{"question": "x"}', headers={"Content-Type": kind})
        assert reply.status_code == 415
        assert "application/json" in reply.json()["error"]

    @pytest.mark.parametrize(
        "head",
        [
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://localhost:9"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ],
    )
    def test_a_page_of_another_origin_asks_nothing(self, client, head):
        assert client.post("/ask", json={"question": "x"}, headers=head).status_code == 403
        assert client.get("/schema", headers=head).status_code == 403
        assert client.get("/", headers=head).status_code == 200

    def test_the_own_page_asks(self, client):
        own = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
        assert client.post("/ask", json={"question": "x"}, headers=own).status_code == 200

    def test_a_named_page_asks_and_reads(self):
        names = Names(origins=("https://kg.example",))
        app = service(FACTS, answer, names=names, token=TOKEN)
        with TestClient(app) as client:
            page = {"Origin": "https://kg.example", "Sec-Fetch-Site": "cross-site"}
            wanted = {"Access-Control-Request-Method": "POST"}
            wanted["Access-Control-Request-Headers"] = "authorization,content-type"
            before = client.options("/ask", headers=page | wanted)
            assert before.headers["access-control-allow-origin"] == page["Origin"]
            assert client.options("/ask", headers=wanted | {"Origin": "null"}).status_code == 403
            page["Authorization"] = f"Bearer {TOKEN}"
            reply = client.post("/ask", json={"question": "x"}, headers=page)
            assert reply.status_code == 200
            assert reply.headers["access-control-allow-origin"] == page["Origin"]

    @pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "localhost.evil"])
    @pytest.mark.parametrize("path", ["/schema", "/", "/healthz", "/nothing"])
    def test_under_another_name_nothing_is_told(self, client, host, path):
        reply = client.get(path, headers={"Host": host})
        assert reply.status_code == 421
        assert "--allow-host" in reply.json()["error"]

    def test_every_reply_has_the_same_headers(self, client):
        for how, path, head in [
            ("GET", "/", {}),
            ("GET", "/schema", {}),
            ("GET", "/nothing", {}),
            ("PUT", "/schema", {}),
            ("GET", "/ask/", {}),
            ("GET", "/schema", {"Host": "evil.example"}),
            ("GET", "/schema", {"Origin": "null"}),
            ("HEAD", "/healthz", {}),
        ]:
            reply = client.request(how, path, headers=head, follow_redirects=False)
            assert reply.headers["x-content-type-options"] == "nosniff", (how, path)
            assert reply.headers["cache-control"] == "no-store", (how, path)
            assert reply.headers["cross-origin-resource-policy"] == "same-origin", (how, path)

    def test_a_redirect_names_no_host(self, client):
        reply = client.get("/schema/?limit=1", follow_redirects=False)
        assert (reply.status_code, reply.headers["location"]) == (307, "/schema?limit=1")

    def test_a_caller_that_asks_too_often_is_told_when_to_come_back(self):
        limits = Limits(per_second=0.001, burst=2)
        with TestClient(service(FACTS, answer, limits=limits)) as client:
            codes = [client.get("/schema").status_code for _ in range(3)]
            assert codes == [200, 200, 429]
            assert int(client.get("/schema").headers["retry-after"]) >= 1

    def test_the_page_lets_nothing_in(self, client):
        reply = client.get("/")
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert "<script src=" in reply.text
        assert "onclick" not in reply.text
