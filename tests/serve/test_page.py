"""The page in a real browser: what is drawn, typed, fetched and complained of."""

import importlib.util
import os
from pathlib import Path
from urllib.parse import quote

import pytest

from jaxkg.answer import Answer
from jaxkg.cite import cite_path
from jaxkg.kg import KnowledgeGraph
from jaxkg.records import Link, OtherReading, PlanCandidate, Question, RankedEntity
from jaxkg.serve.app import service
from jaxkg.serve.facts import Facts

_SPEC = importlib.util.spec_from_file_location("browser", Path(__file__).with_name("browser.py"))
browsing = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(browsing)

SCRIPT = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
BACKWARDS = "gnp\u202efdp.exe"
LONG = "L" * 10_000
ARABIC = "نجيب محفوظ"
GRAPH = KnowledgeGraph.from_triples(
    [
        ("Heat", "directed_by", "Mann"),
        ("Ali", "directed_by", "Mann"),
        (SCRIPT, "directed_by", "Mann"),
        (BACKWARDS, "directed_by", "Mann"),
        (LONG, "<b>made</b> by", "Mann"),
        (ARABIC, "wrote", LONG),
        ("Mann", "born_in", "Chicago"),
        *((f"film {n}", "directed_by", "Mann") for n in range(30)),
    ],
    provenance=[f"films.tsv:{n} {SCRIPT}" for n in range(1, 38)],
)


_FACT = GRAPH.entity("Heat"), GRAPH.relation_code("directed_by"), GRAPH.entity("Mann")
HEAT = int(GRAPH.find(*_FACT))


def answered(question):
    """Answers a question by its first word; every path is cited."""
    if "nothing" in question.text:
        return Answer(
            question=question.text,
            abstained=f"not sure; recognised: '{SCRIPT}'",
            readings=(OtherReading("what Mann is born in", 0.3, ("Chicago", SCRIPT), 4),),
        )
    rows = range(37) if "all" in question.text else (HEAT,)
    paths = tuple(cite_path(GRAPH, [row], [True], id=f"p{row}", score=0.5) for row in rows)
    return Answer(
        question=question.text,
        topics=(
            Link("Mann", "Mann", 4, 8, 1.0, "exact", True),
            Link("Heat", "Heat", 9, 13, 1.0, "exact", True),
            Link("Ali", "Ali", 4, 8, 0.5, "exact", False),
        ),
        entities=tuple(RankedEntity(*path.end, 0.9, (path.id,)) for path in paths),
        paths=paths,
        plan=(PlanCandidate(("^directed_by",), 0.8, len(paths), True),),
        reading="things that are directed by Mann",
        readings=(OtherReading(SCRIPT, 0.04, (LONG,)),),
    )


def answer(questions):
    return [answered(question) for question in questions]


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    program = browsing.chromium()
    if program is None:
        pytest.skip("no Chromium: install Debian's package chromium, or set JAXKG_CHROMIUM")
    with browsing.browser(program, tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def url(serving):
    right = ("Heat",)
    tried = [Question("1", f"who {SCRIPT}?", answers=right), Question("2", "all?", answers=right)]
    return f"http://127.0.0.1:{serving(service(Facts.of(GRAPH), answer, examples=tried))}"


@pytest.fixture(scope="module")
def guarded(serving):
    app = service(Facts.of(GRAPH), answer, token="a token of sixteen")
    return f"http://127.0.0.1:{serving(app)}"


@pytest.fixture(scope="module")
def axe():
    """The text of axe-core, which finds what keeps people from using a page; None without it."""
    root = Path(__file__).parents[2]
    named = os.environ.get("JAXKG_AXE")
    path = Path(named) if named else root / "node_modules" / "axe-core" / "axe.min.js"
    return path.read_text("utf-8") if path.is_file() else None


@pytest.fixture
def tab(opened):
    opened.wrong.clear()
    opened.requests.clear()
    opened.look()
    return opened


ASKED = "!document.getElementById('result').hidden"
READY = "!document.getElementById('known').hidden"
VISITED = "!document.getElementById('entity').hidden"
TEXT = "document.getElementById('main').innerText"


def fine(tab, url):
    """Nothing went wrong, and nobody else was asked for anything."""
    assert tab.wrong == []
    assert {address for address in tab.requests if not address.startswith(url + "/")} <= {"data:,"}
    assert tab.run("window.hacked") is None
    assert tab.run("document.documentElement.scrollWidth - innerWidth") <= 0


def open_to_all(tab, axe):
    """axe-core finds nothing serious; skips where there is none, so it is a test's last line."""
    if axe is None:
        pytest.skip("all but axe-core: npm install axe-core, or JAXKG_AXE=axe.min.js")
    tab.run(axe)
    found = tab.run("axe.run().then(r => r.violations.map(v => [v.impact, v.id, v.nodes[0].html]))")
    assert [each for each in found if each[0] in ("serious", "critical")] == []


def asked(tab, url, question):
    tab.go(f"{url}/?q={quote(question)}")
    tab.until(ASKED)
    tab.until(READY)


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1280])
class TestEveryWindow:
    @pytest.mark.parametrize("question", ["", "all of it", "nothing at all"])
    def test_it_stands_and_is_clean(self, tab, url, tmp_path, axe, width, dark, question):
        tab.look(width, 800, dark=dark)
        if question:
            asked(tab, url, question)
        else:
            tab.go(url + "/")
            tab.until(f"{READY} && !document.getElementById('examples').hidden")
        tab.picture(tmp_path / "page.png")
        assert (tmp_path / "page.png").stat().st_size > 5000
        fine(tab, url)
        open_to_all(tab, axe)

    def test_an_entity_is_looked_at(self, tab, url, tmp_path, axe, width, dark):
        tab.look(width, 800, dark=dark)
        asked(tab, url, "all of it")
        tab.run("document.querySelector('#answers .name').click()")
        tab.until(VISITED)
        tab.picture(tmp_path / "entity.png")
        fine(tab, url)
        open_to_all(tab, axe)


@pytest.mark.slow
class TestNames:
    def test_markup_is_text(self, tab, url):
        asked(tab, url, f"all {SCRIPT}")
        assert SCRIPT in tab.run("document.querySelector('#read').textContent")
        names = "[...document.querySelectorAll('.name')].map(n => n.textContent)"
        assert any(name.startswith("<script>") for name in tab.run(names))
        assert tab.run("document.querySelectorAll('#main script, #main img, #main b').length") == 0
        tab.until(READY)
        assert "<b>made</b> by" in tab.run("document.querySelector('#relations').textContent")
        fine(tab, url)

    def test_no_mark_turns_the_reading_round(self, tab, url):
        asked(tab, url, "all")
        assert "gnpfdp.exe" in tab.run("document.getElementById('answers').textContent")
        assert "\u202e" not in tab.run("document.documentElement.textContent")

    def test_names_written_from_the_right_keep_their_letters(self, tab, url):
        asked(tab, url, "all")
        tab.run(f"visit({LONG!r})")
        tab.until(f"{VISITED} && document.getElementById('entity').innerText.includes('{ARABIC}')")
        fine(tab, url)

    def test_a_long_name_is_shortened_where_many_stand_and_whole_where_it_is_looked_at(
        self, tab, url
    ):
        asked(tab, url, "all")
        leaves = "[...document.querySelectorAll('#result *')].filter(n => !n.children.length)"
        longest = f"Math.max(...{leaves}.map(n => n.textContent.length))"
        assert tab.run(longest) < 700
        tab.click("#answers .name", "LLL")
        tab.until(f"{VISITED} && document.querySelector('#entity h2').textContent.length == 10000")
        fine(tab, url)


@pytest.mark.slow
class TestAnswers:
    def test_a_withheld_answer_says_why_and_what_may_have_been_meant(self, tab, url):
        asked(tab, url, "nothing")
        text = tab.run(TEXT)
        assert "No answer: not sure" in text
        assert "Did you mean" in text
        assert "what Mann is born in" in text
        assert "and 4 more" in text

    def test_an_answer_shows_how_it_was_read_and_its_facts(self, tab, url):
        asked(tab, url, "who Mann")
        assert tab.run("document.querySelector('mark').textContent") == "Mann"
        text = tab.run(TEXT)
        assert "Read as things that are directed by Mann" in text
        assert "80 % sure" in text
        assert "films.tsv:1" in text
        assert tab.run("[...document.querySelectorAll('.chain')][0].innerText").split("\n") == [
            "Mann",
            "← directed by –",
            "Heat",
        ]
        assert tab.run("document.querySelectorAll('#drawing .node').length") == 2
        assert "films.tsv:1" in tab.run("document.querySelector('#drawing g title').textContent")

    def test_a_drawing_of_a_part_says_so(self, tab, url):
        asked(tab, url, "all")
        assert "The first 12 of 37 paths." in tab.run(TEXT)
        assert tab.run("document.querySelectorAll('#drawing .edge').length") == 12

    def test_a_runner_up_is_asked_about_with_one_click(self, tab, url):
        asked(tab, url, "who Mann")
        tab.click("#read button", "Ali")
        tab.until("new URLSearchParams(location.search).getAll('t').join() == 'Ali,Heat'")
        tab.until(ASKED)

    def test_what_is_not_there_is_told(self, tab, url):
        asked(tab, url, "who Mann")
        tab.run("visit('no such thing')")
        tab.until(f"{VISITED} && document.getElementById('entity').innerText.includes('no entity')")

    def test_a_service_that_is_gone_is_told(self, tab, url):
        tab.go(url + "/")
        tab.until(READY)
        tab.run("window.fetch = () => Promise.reject(new Error('nobody answers')), ask('all')")
        tab.until("document.getElementById('status').innerText == 'nobody answers'")


@pytest.mark.slow
class TestKeyboard:
    def test_a_question_is_typed_its_answer_explored_and_left(self, tab, url, tmp_path):
        tab.go(url + "/")
        tab.until(READY)
        assert tab.run("document.activeElement.id") == "question"
        tab.type("who Mann")
        tab.key("Enter")
        tab.until(ASKED)
        assert tab.run("location.search") == "?q=who+Mann"
        assert tab.run("document.activeElement.id") == "result"
        self.to(tab, "Heat")
        tab.key("Enter")
        tab.until(VISITED)
        assert tab.run("document.activeElement.id") == "entity"
        tab.picture(tmp_path / "explored.png")
        tab.key("Escape")
        tab.until(f"!({VISITED})")
        assert tab.run("document.activeElement.textContent") == "Heat"
        tab.run("history.back()")
        tab.until(f"!({ASKED})")
        fine(tab, url)

    def test_the_drawing_is_walked_through(self, tab, url):
        asked(tab, url, "who Mann")
        for _ in range(40):
            if tab.run("document.activeElement.matches('g.node')"):
                break
            tab.key("Tab")
        tab.key(" ")
        tab.until(VISITED)
        fine(tab, url)

    def test_examples_and_the_way_round_with_tab_alone(self, tab, url):
        tab.go(url + "/")
        tab.until(f"{READY} && !document.getElementById('examples').hidden")
        self.to(tab, "all?")
        tab.key(" ")
        tab.until(ASKED)
        fine(tab, url)

    @staticmethod
    def to(tab, text):
        """Press Tab until what bears this text has the focus."""
        for _ in range(40):
            tab.key("Tab")
            if tab.run("document.activeElement.textContent") == text:
                return
        raise AssertionError(f"no way to {text} by keyboard")


@pytest.mark.slow
def test_a_token_is_asked_for_and_kept_for_the_tab(tab, guarded):
    tab.go(guarded + "/")
    tab.until("!document.getElementById('token-form').hidden")
    tab.run("document.getElementById('token').focus()")
    tab.type("a token of sixteen")
    tab.key("Enter")
    tab.until(READY)
    asked(tab, guarded, "all")
    tab.run("sessionStorage.clear()")
    assert "token" not in tab.run("location.href")
