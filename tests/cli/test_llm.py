"""`--llm`: one call a question over real HTTP on loopback, counted; errors are one line."""

import json

import loopback
import pytest

from jaxkg.answer import Answer
from jaxkg.kg import demo_questions, write_questions

ASKED = "who directed [Alien]?"
PLANNED = ("--system", "planner")
CHOOSE_ALL = {"answers": [], "supporting_paths": [1], "rationale": "Path 1 says so."}


def choose(body):
    """Whatever the first numbered path ends in."""
    return json.dumps(CHOOSE_ALL)


@pytest.fixture
def llm(jaxkg, tmp_path):
    """Run the command against a server, its replies kept in the test's own folder.

    The model judges paths, but where an argument says when it chooses among readings.
    """

    def run(server, *arguments, model="loopback"):
        return jaxkg(
            *arguments,
            *(() if "--ask-model" in arguments else ("--set", "judge=paths")),
            *("--llm", model, "--base-url", server.url),
            *("--replies", tmp_path / "replies.sqlite"),
        )

    return run


@pytest.fixture
def few(tmp_path):
    file = tmp_path / "few.jsonl"
    write_questions(demo_questions()[:6], file)
    return file


def test_one_call_decides_and_is_counted(llm, serve):
    server = serve(choose)
    code, out, err = llm(server, "ask", *PLANNED, "--json", ASKED)
    answer = Answer.from_json(out)
    assert (code, err) == (0, "")
    assert [entity.entity for entity in answer.entities] == ["Ridley Scott"]
    assert (answer.system, answer.rationale) == ("planner+llm", "Path 1 says so.")
    assert (answer.usage.calls, len(server.bodies)) == (1, 1)
    assert answer.usage.prompt_tokens > 50
    assert "adjudicate" in answer.usage.stages
    _, told, _ = llm(server, "ask", *PLANNED, ASKED)
    assert "1 call to a model, " in told
    assert len(server.bodies) == 1, "the second time it is read from the disk"


def test_a_model_chooses_among_readings_where_the_system_is_unsure(llm, serve):
    """Of readings in any order the one of who wrote it; nobody asked who directed it."""

    def answer(body):
        lines = body["messages"][-1]["content"].splitlines()
        numbers = [line.partition(".")[0] for line in lines if "Dan O'Bannon" in line]
        return json.dumps({"reading": int(numbers[0])} if numbers else {})

    server = serve(answer)
    certain = llm(server, "ask", "--json", "--ask-model", "unsure", ASKED)[1]
    assert Answer.from_json(certain).usage.calls == len(server.bodies) == 0
    more = ("--set", "judge.weight=50", "--set", "judge.offered=6")
    code, out, err = llm(server, "ask", "--json", "--ask-model", "always", *more, ASKED)
    answer = Answer.from_json(out)
    assert (code, err) == (0, "")
    assert [entity.name for entity in answer.entities] == ["Dan O'Bannon"]
    assert answer.usage.calls == len(server.bodies) > 0
    assert any("the model chose among" in note for note in answer.notes)
    code, out, _ = llm(server, "ask", "--json", "--ask-model", "never", ASKED)
    assert Answer.from_json(out).system == "reader"


def test_without_a_planner_the_reader_answers_with_a_model_too(llm, serve, eight, tmp_path):
    _, out, _ = llm(serve(choose), "ask", "--json", ASKED)
    assert Answer.from_json(out).system == "reader+llm"
    run = tmp_path / "run"
    assert llm(serve(choose), "eval", "--questions", eight, "--limit", 1, "-o", run)[0] == 0
    assert '"system": "reader"' in (run / "run.json").read_text(encoding="utf-8")


def test_prompts_are_shown_beside_the_answer(llm, serve):
    code, out, err = llm(serve(choose), "ask", "--json", "--show-prompts", ASKED)
    assert code == 0
    assert Answer.from_json(out).entities
    for part in ("--- adjudicate, question q1 ---", "[system]", "[user]", ASKED.strip("?")[4:7]):
        assert part in err
    assert "1. " in err
    assert json.dumps(CHOOSE_ALL) in err


def test_what_was_never_offered_is_dropped_and_a_refusal_withholds_the_answer(llm, serve):
    wrong = {"answers": ["Stanley Kubrick"], "supporting_paths": [1], "rationale": "I know it."}
    code, out, _ = llm(serve(lambda body: json.dumps(wrong)), "ask", "--json", ASKED)
    answer = Answer.from_json(out)
    assert code == 1
    assert answer.dropped == ("Stanley Kubrick",)
    assert answer.abstained.startswith("refused")


@pytest.mark.parametrize(
    ("status", "why"), [(401, "authentication: 401"), (404, "not_found: 404"), (200, "unparsed")]
)
def test_a_failed_call_is_one_line_beside_what_was_found(llm, serve, status, why):
    server = serve(lambda body: loopback.Behaviour(status=status, text="hard to say"))
    code, out, err = llm(server, "ask", *PLANNED, ASKED)
    assert code == 2
    assert "1. Ridley Scott" in out
    assert f"The model failed ({why}" in out
    assert "ranked by retrieval alone" in out
    assert err.endswith("; the answer above was found without it\n")
    assert err.startswith(f"jaxkg: the model failed: {why}")
    look = "--show-prompts prints what it said" if status == 200 else "`jaxkg llm check` says more"
    assert f"; {look}; " in err
    assert err.count("\n") == 1
    code, out, _ = llm(server, "ask", "--json", ASKED)
    assert code == 2
    assert Answer.from_json(out).error.startswith(why[:6])


TEAM = """Maria Keller\tleads\tAtlas
Anna Li\tworks in\tField Unit
Tom Ott\tworks in\tField Unit
Atlas\tbegan in\t2019
Boreas\tbegan in\t2021
"""


@pytest.fixture
def read_by(llm, tmp_path):
    """Ask the reader, whose findings a model that always says the same judges."""
    (tmp_path / "team.tsv").write_text(TEAM)
    reader = ("--kg", tmp_path / "team.tsv", "--system", "reader", "--set", "encoder=hashing")

    def run(server, question, *more):
        return llm(server, "ask", question, *reader, *more)

    return run


def says(answers, paths):
    return json.dumps({"answers": answers, "supporting_paths": paths, "rationale": "So."})


@pytest.mark.parametrize(
    ("question", "reply", "entities", "why"),
    [
        ("Who leads Atlas?", says([], []), [], "the model finds no path that answers"),
        ("Who works in Field Unit?", says(["Tom Ott"], [1]), ["Tom Ott"], None),
        ("Who works in Field Unit?", says([], [1]), ["Anna Li", "Tom Ott"], None),
        # What is found is not what the walk ends in, a year.
        ("Which projects began before 2020?", says(["Atlas"], [1]), ["Atlas"], None),
    ],
)
def test_a_model_may_leave_out_what_a_query_graph_finds(
    read_by, serve, question, reply, entities, why
):
    code, out, err = read_by(serve(lambda body: reply), question, "--json")
    answer = Answer.from_json(out)
    assert err == ""
    assert code == (1 if why else 0)
    assert [entity.entity for entity in answer.entities] == entities
    assert answer.abstained == why
    assert answer.reading, "how it was read stays told"


def test_no_model_chooses_a_number(read_by, serve):
    server = serve(choose)
    code, out, _ = read_by(server, "How many people work in Field Unit?", "--json")
    answer = Answer.from_json(out)
    assert (code, [entity.entity for entity in answer.entities]) == (0, ["2"])
    assert not server.bodies
    assert any("the model was not asked" in note for note in answer.notes)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--budget-calls", "3"], "--budget-calls says how to ask a language model; name one"),
        (["--show-prompts"], "name one: --llm MODEL"),
        (["--llm", "m"], "OPENAI_API_KEY"),
        (["--llm", "m", "--replay", "--no-cache"], "drop one"),
        (["--llm", "m", "--replay", "--replies", "{tmp}/none"], "no such file of recorded"),
        (["--llm", "m", "--base-url", "http://127.0.0.1:1", "--budget-price", "1"], "price table"),
        (["--system", "frobnicate"], "no system is called 'frobnicate'; there are planner,"),
        (["--system", "llm-planned"], "needs a language model: --llm MODEL"),
        (["--set", "width"], "write it NAME=VALUE"),
        (["--set", "widht=3"], "--set widht=3: no such setting here; there are hops,"),
        (["--system", "planner", "--set", "width=three"], "--set width=three: it is a whole"),
        (["--system", "planner", "--set", "mode=all"], "it is one of best, union"),
    ],
)
def test_options_that_cannot_be(jaxkg, tmp_path, arguments, why):
    assert why in jaxkg.refused("ask", ASKED, *(part.format(tmp=tmp_path) for part in arguments))


def test_who_asks_again_is_answered_though_the_kept_reply_cannot_be_read(llm, serve):
    server = serve(lambda body: "hard to say")
    assert llm(server, "ask", ASKED)[0] == 2
    server.answer = choose
    for _ in range(2):
        code, out, _ = llm(server, "ask", "--json", ASKED)
        assert code == 0
        assert [entity.entity for entity in Answer.from_json(out).entities] == ["Ridley Scott"]
    assert len(server.bodies) == 2, "what could be read stays"


def test_a_run_counts_what_became_of_every_question(llm, serve, few, tmp_path):
    """One reply names nobody offered, one cannot be read, one call fails; the rest are right."""
    replies = {}

    def answer(body):
        number = replies.setdefault(body["messages"][-1]["content"], len(replies))
        if number == 0:
            return json.dumps({**CHOOSE_ALL, "answers": ["Nobody At All"]})
        return "hard to say" if number == 1 else choose(body)

    server = serve(answer)
    run = tmp_path / "run"
    arguments = ("eval", *PLANNED, "-o", run, "--json", "--questions", few, "--concurrency", 1)
    code, out, err = llm(server, *arguments)
    report = json.loads(out)
    assert code == 0
    assert "loopback: 6 calls (6 paid now, 0 from the cache)" in err
    counts = report["counts"]
    assert (counts["asked"], counts["answered"], counts["abstained"]) == (6, 4, 1)
    assert (counts["unparsed"], counts["failed"]) == (1, 0)
    assert (counts["dropped"], counts["fault"]) == (1, 1)
    assert "refused" not in counts
    assert report["metrics"]["calls"]["value"] == 1.0
    assert report["metrics"]["prompt_tokens"]["value"] > 50
    assert report["metrics"]["grounded"] == {"value": 1.0, "low": 1.0, "high": 1.0, "n": 4}
    assert "the model named what was never offered (dropped) | 1" in (run / "report.md").read_text()

    # Asked again: only what could not be read, though its reply is on the disk.
    code, out, err = llm(server, *arguments, "--retry")
    assert json.loads(out)["counts"] == counts
    assert "1 calls (1 paid now, 0 from the cache)" in err
    assert len(server.bodies) == 7
    # From the kept replies alone, in another folder: no server takes part.
    code, out, _ = llm(
        server, "eval", *PLANNED, "--questions", few, "-o", tmp_path / "again", "--json", "--replay"
    )
    assert json.loads(out)["counts"] == counts
    assert len(server.bodies) == 7
    # What is readable the next time is kept, and nobody is asked after that.
    server.answer = choose
    for _ in range(2):
        code, out, err = llm(server, *arguments, "--retry")
        assert json.loads(out)["counts"]["unparsed"] == 0
        assert len(server.bodies) == 8


def test_a_budget_stops_the_run_with_marked_answers(llm, serve, few, tmp_path):
    server = serve(choose)
    folder = tmp_path / "run"
    code, out, err = llm(
        server, "eval", *PLANNED, "--questions", few, "-o", folder, "--json", "--budget-calls", 2
    )
    assert code == 0
    assert len(server.bodies) == 2
    assert "failed: 4 budget" in err
    text = (folder / "predictions.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    partial = [line for line in lines if any("partial: " in note for note in line["notes"])]
    assert len(partial) == 4
    assert json.loads(out)["counts"]["answered"] == 6
    # Run again, it goes on with the budget it is given, and pays for no question twice.
    again = ("eval", *PLANNED, "--questions", few, "-o", folder, "--json")
    _, out, err = llm(server, *again, "--budget-calls", 3)
    assert "failed: 1 budget" in err
    assert json.loads(out)["counts"]["partial"] == 1
    _, out, _ = llm(server, *again)
    assert "partial" not in json.loads(out)["counts"]
    assert len(server.bodies) == 6


def test_a_run_of_which_nothing_could_be_read_is_no_success(llm, serve, few, tmp_path):
    arguments = ("eval", *PLANNED, "--questions", few, "-o", tmp_path / "run", "--json")
    code, out, err = llm(serve(lambda body: "hard to say"), *arguments)
    assert code == 2
    assert json.loads(out)["counts"]["unparsed"] == 6
    assert "all 6 questions failed or have replies that cannot be read" in err


def test_an_outage_stops_the_run_and_keeps_nothing(llm, serve, few, tmp_path):
    server = serve(choose, key="right")
    arguments = ("eval", *PLANNED, "--questions", few, "-o", tmp_path / "run")
    code, out, err = llm(server, *arguments)
    assert (code, out) == (2, "")
    assert "every call for 1 question failed, so nothing is saved for it: authentication" in err
    assert (tmp_path / "run" / "predictions.jsonl").read_text() == ""
    server.key = None
    assert llm(server, *arguments)[0] == 0


def test_the_endpoint_is_described_in_plain_words(jaxkg, serve, monkeypatch):
    server = serve(lambda body: '{"is_city": true}' if "response_format" in body else "ready")
    out = jaxkg.done("llm", "check", "--llm", "loopback", "--base-url", server.url)
    for part in (
        "model loopback: answers, ",
        "the model does NOT keep to a list of allowed values.",
        "readable.",
    ):
        assert part in out
    monkeypatch.setenv("OPENAI_BASE_URL", serve(models=("one", "two")).url)
    monkeypatch.setenv("JAXKG_LLM_MODEL", "three")
    code, out, _ = jaxkg("llm", "check")
    assert code == 2
    assert "Models there: one, two" in out
    jaxkg.refused("llm", "check", "--base-url", "ftp://nowhere", "--llm", "m")


def test_the_environment_names_the_model_of_every_command(jaxkg, serve, monkeypatch, tmp_path):
    server = serve(choose)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("JAXKG_LLM_MODEL", "loopback")
    own = ("--replies", tmp_path / "replies.sqlite")
    _, out, _ = jaxkg("ask", "--json", *PLANNED, *own, "--set", "judge=paths", ASKED)
    assert Answer.from_json(out).system == "planner+llm"
    _, out, _ = jaxkg("ask", "--json", *PLANNED, "--llm", "none", ASKED)
    assert Answer.from_json(out).system == "planner"
    assert len(server.bodies) == 1


def test_how_it_is_asked_is_in_the_request(llm, serve, tmp_path):
    server = serve(choose)
    (tmp_path / "body.json").write_text('{"chat_template_kwargs": {"enable_thinking": false}}')
    said = ("--extra-body", tmp_path / "body.json", "--max-tokens", 77, "--llm-seed", 5)
    assert llm(server, "ask", *PLANNED, *said, ASKED)[0] == 0
    body = server.bodies[0]
    assert (body["max_tokens"], body["seed"]) == (77, 5)
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    schema = body["response_format"]["json_schema"]["schema"]["properties"]
    assert "rationale" not in schema, "reasons are asked for only where they are wanted"
    assert schema["answers"]["items"]["enum"] == ["Ridley Scott"]
    assert schema["paths"]["items"]["enum"] == [1]
    assert llm(server, "ask", *PLANNED, "--why", ASKED)[0] == 0
    wanted = server.bodies[1]["response_format"]["json_schema"]["schema"]["properties"]
    assert "rationale" in wanted
    code, _, err = llm(server, "ask", *PLANNED, "--extra-body", "[1]", ASKED)
    assert (code, err.count("\n")) == (2, 1)
    assert "neither a JSON object nor a file of one" in err
