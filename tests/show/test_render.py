import dataclasses
import html.parser
import io
import subprocess
import sys

import pytest
from cited_answers import answer_along
from rich.console import Console

from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.builtin import demo_graph
from jaxkg.records import Link, PlanCandidate, RankedEntity, Usage
from jaxkg.show.render import html as as_html
from jaxkg.show.render import rich_text, text

EVIL = '<img src=x onerror="alert(1)"> [bold red]x[/] \x1b[2J\x9b31m\nQuestion: $1 & $2'


@pytest.fixture(scope="module")
def answer():
    return answer_along(
        demo_graph(), ["Alien"], ("directed_by", "^directed_by", "starred"), "Who starred?"
    )


@pytest.fixture(scope="module")
def evil():
    """Every field that holds somebody's words holds the worst of them."""
    kg = KnowledgeGraph.from_triples([(EVIL, f"r {EVIL}", "b")], provenance=[EVIL])
    answer = answer_along(kg, [EVIL], (f"r {EVIL}",), EVIL)
    return dataclasses.replace(
        answer,
        entities=(dataclasses.replace(answer.entities[0], name=EVIL),),
        topics=(*answer.topics, Link(EVIL, "n", 0, 1, 0.5, EVIL, chosen=False)),
        plan=(PlanCandidate((EVIL,), 0.5),),
        usage=Usage(seconds=1.0, stages={EVIL: 1.0}),
        abstained=EVIL,
        notes=(EVIL,),
        system=EVIL,
        rationale=EVIL,
        dropped=(EVIL,),
        refused=(EVIL,),
        error=EVIL,
    )


def printed(answer, **options):
    """What a terminal without colours shows."""
    console = Console(file=io.StringIO(), width=10_000, color_system=None)
    console.print(rich_text(answer, **options))
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


def test_the_whole_answer_as_text(answer):
    few = dataclasses.replace(answer, entities=answer.entities[:1])
    assert text(few) == (
        "Who starred?\n"
        "\n"
        "Answers\n"
        "   1. Harrison Ford  0.99  p1\n"
        "\n"
        "Paths\n"
        "  p1  0.9  → directed by ← directed by → starred\n"
        "      Alien, directed by: Ridley Scott; Blade Runner, directed by: Ridley Scott; "
        "Blade Runner, starred: Harrison Ford\n"
        "      triples 56 (demo/facts.tsv:62), 149 (demo/facts.tsv:72), 153 (demo/facts.tsv:75)\n"
        "  5 more paths, not cited\n"
        "\n"
        "Plan\n"
        "  0.750  → directed by ← directed by → starred  6 reached, used\n"
        "\n"
        "Topics\n"
        "  1.000  Alien  exact\n"
        "\n"
        "Cost\n"
        "  answered by walker\n"
        "  0.5 s (plan 0.25, execute 0.25)"
    )


def test_print_shows_it(answer, capsys):
    print(answer)
    assert capsys.readouterr().out == text(answer) + "\n"


def test_rich_prints_the_same_words(answer, evil):
    for each in (answer, evil, Answer("?", abstained="none")):
        assert printed(each) == "\n".join(line.rstrip() for line in text(each).splitlines())


def test_rich_styles_the_answers(answer):
    console = Console(file=io.StringIO(), force_terminal=True, color_system="standard")
    console.print(rich_text(answer))
    assert "\x1b[1;32mHarrison Ford\x1b[0m" in console.file.getvalue()


def test_an_abstention_says_why():
    assert text(Answer("Who?", abstained="no topic was found")) == (
        "Who?\nNo answer: no topic was found"
    )
    assert text(Answer("Who?")) == "Who?\nNo answer, and no reason given"
    failed = text(Answer("Who?", abstained="failed", error="timeout: 3 s"))
    assert failed == "Who?\nNo answer: failed\nError: timeout: 3 s"


def test_what_a_model_said_and_cost_is_shown(answer):
    asked = dataclasses.replace(
        answer,
        rationale="He is in it.",
        dropped=("Brad Pitt",),
        refused=("Sting",),
        notes=("partial: the budget is spent",),
        usage=Usage(2, 1234, 56, 0.00125, 3.5),
    )
    shown = text(asked)
    assert "\nThe model's reasons: He is in it.\n" in shown
    assert "\nNamed by the model, never offered\n  - Brad Pitt\n" in shown
    assert "\nNamed by the model, no path cited\n  - Sting\n" in shown
    assert "\nNotes\n  - partial: the budget is spent\n" in shown
    assert "2 calls to a model, 1,234 + 56 tokens, price 0.00125" in shown


def test_runners_up_and_plans_not_executed_say_so(answer):
    more = dataclasses.replace(
        answer,
        topics=(*answer.topics, Link("Q2", "Aliens", 0, 6, 0.4321, "fuzzy", chosen=False)),
        plan=(*answer.plan, PlanCandidate(("^starred",), 0.125), PlanCandidate(("x",), 0.1, 0)),
    )
    lines = text(more).splitlines()
    assert "  0.432  Aliens [Q2]  fuzzy, runner-up" in lines
    assert "  0.125  ← starred  not executed" in lines
    assert "  0.100  → x  0 reached" in lines


def test_long_lists_are_clipped_and_it_is_said(answer):
    many = dataclasses.replace(
        answer,
        entities=tuple(
            dataclasses.replace(e, paths=tuple(f"p{n}" for n in range(1, 7)))
            for e in answer.entities
        ),
        topics=answer.topics * 5,
        plan=answer.plan * 1003,
    )
    lines = text(many, limit=2).splitlines()
    assert lines[2:6] == [
        "Answers",
        "   1. Harrison Ford  0.99  p1, p2, p3 … and 3 more",
        "   2. Rutger Hauer  0.98  p1, p2, p3 … and 3 more",
        "  … and 4 more",
    ]
    assert lines.count("  … and 4 more") == 2  # answers and paths
    assert lines.count("  … and 3 more") == 1  # topics
    assert lines.count("  … and 1,001 more") == 1  # plan
    assert sum(line.startswith("      triples") for line in lines) == 2
    assert "more" not in text(answer, limit=6)


@pytest.mark.parametrize("show", [text, rich_text, as_html])
def test_a_limit_below_one_is_refused(answer, show):
    with pytest.raises(JaxkgError, match="at least 1, not 0"):
        show(answer, limit=0)


def test_ids_are_shown_where_they_are_not_the_name():
    answer = answer_along(demo_graph(), ["Steve McQueen (actor)"], ("citizen_of",))
    shown = text(answer)
    assert "1.000  Steve McQueen [Steve McQueen (actor)]  exact" in shown
    assert "1. United States  0.99" in shown


def test_a_literal_is_shown_by_its_text_alone():
    found = [RankedEntity(id, "C3", 1.0, ()) for id in ('"C3"', '"C3"^^<x#string>', "shelf-3")]
    shown = text(Answer("?", entities=tuple(found)))
    assert '["C3"' not in shown
    assert "C3 [shelf-3]" in shown


def test_text_lets_no_control_character_or_markup_act(evil):
    for shown in (text(evil), printed(evil)):
        assert not any(
            (ord(char) < 32 and char != "\n") or 127 <= ord(char) < 160 for char in shown
        )
        assert shown.count("[bold red]x[/]") >= 12
        # A name cannot begin a line of its own.
        assert not any(line.startswith("Question:") for line in shown.splitlines())


class Tags(html.parser.HTMLParser):
    """Elements, attributes and text of a page; raises where elements do not close."""

    def __init__(self, source):
        super().__init__()
        self.open, self.seen, self.words = [], [], []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.append((tag, dict(attrs)))

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_html_has_a_row_for_every_answer_and_a_drawing(answer):
    page = Tags(answer._repr_html_())
    tags = [tag for tag, _ in page.seen]
    assert tags.count("tr") == 1 + len(answer.entities)
    assert tags.count("svg") == 1
    assert "Harrison Ford" in page.words
    assert answer.paths[0].sentence in page.words
    assert any("answered by walker" in words for words in page.words)


def test_html_clips_and_counts(answer):
    twice = dataclasses.replace(
        answer,
        entities=tuple(dataclasses.replace(e, paths=(*e.paths, "p1")) for e in answer.entities),
    )
    page = Tags(as_html(twice, limit=2))
    assert [tag for tag, _ in page.seen].count("tr") == 4
    assert "… and 4 more" in page.words
    assert answer.paths[1].sentence + " (and 1 more)" in page.words


def test_html_of_an_abstention(answer):
    page = Tags(as_html(Answer("Who?", abstained="no <topic>")))
    assert page.words == ["Who?", "No answer: no <topic>"]
    looked_at = Tags(as_html(dataclasses.replace(answer, entities=(), abstained="refused")))
    assert "svg" in [tag for tag, _ in looked_at.seen]


def test_html_lets_no_name_act(evil):
    source = as_html(evil)
    page = Tags(source)
    known = {"div", "p", "strong", "table", "tr", "th", "td", "svg", "g", "title", "text", "rect"}
    assert {tag for tag, _ in page.seen} <= known | {"path", "polygon", "details", "summary"} | {
        "pre",
        "b",
    }
    assert not any(name.startswith("on") for _, attributes in page.seen for name in attributes)
    assert "\x1b" not in source
    assert "<img" not in source
    # A notebook would set what stands between two dollar signs as a formula.
    assert "mathjax_ignore" in page.seen[0][1]["class"].split()


def test_an_answer_that_cites_paths_it_does_not_hold_is_shown_all_the_same():
    torn = Answer("?", entities=(RankedEntity("a", "a", float("nan"), ("p9",)),))
    assert "1. a  nan  p9" in text(torn)
    Tags(as_html(torn))


def test_plain_text_needs_neither_rich_nor_jax():
    code = (
        "import sys\n"
        "from jaxkg.answer import Answer\n"
        "str(Answer('?', abstained='none')), Answer('?')._repr_html_()\n"
        "print([name for name in ('jax', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
