"""What people read is plain English: help, errors, notes, README, documentation."""

import ast
import inspect
import re
from pathlib import Path

import pytest
import typer

import jaxkg
from jaxkg.cli.app import app
from jaxkg.serve.describe import openapi

ROOT = Path(__file__).parents[2]
BANNED = {
    "a default is 'default: X'": r"; [^.;]* without\.(\s|$)|\bnone without\b|\bnot done without\b",
    "say what goes on": r"\bgone (on|by|from)\b|\bgoes on\b",
    "who tells whom": r"\b(is|are|was|were|be) told\b|\btold (by|of|in|apart)\b",
    "a random seed is a random seed": r"\beverything random\b",
    "requires": r"\bwants\b|\bwant (an?|the|as)\b|\bwant [A-Z]|\bis wanted\b",
    "there is no": r"\bthere is none\b|\bis none\b|\bare none\b",
    "no sentence begins with Of": r"(^|\. )Of (an?|the|every|weights|everything)\b",
    "no sentence begins with That": r"(^|\. )That --",
    "internal targets": r"\*\*missed\*\*|\basked for \|",
}
SAYS = {"JaxkgError", "notes.append", "note", "errors.print", "print"}
PAGES = [
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
]
PAGES = [page for page in PAGES if "history" not in page.parts]


def odd_phrases(text):
    return [
        f"{rule}: {found[0].strip()!r}"
        for rule, pattern in BANNED.items()
        for found in re.finditer(pattern, text, re.MULTILINE)
    ]


def commands(command, name="jaxkg"):
    yield name, command
    for word, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{name} {word}")


COMMANDS = dict(commands(typer.main.get_command(app)))


def test_the_rules_find_what_they_are_for():
    for text in (
        "Graph file or folder; the demo graph without.",
        "Folder for the model; gone on with from there.",
        "Of everything random.",
        "Any but loopback wants JAXKG_TOKEN.",
        "A system that lacks a trained part is told in the table.",
    ):
        assert odd_phrases(text)
    assert odd_phrases("Random seed (default: 0). Requires the extra `big`.") == []


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_plain(name):
    command = COMMANDS[name]
    texts = [command.help or "", *(getattr(each, "help", "") or "" for each in command.params)]
    assert [odd for text in texts for odd in odd_phrases(" ".join(text.split()))] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_an_option_is_a_sentence(name):
    assert COMMANDS[name].help
    for parameter in COMMANDS[name].params:
        words = getattr(parameter, "help", None)
        assert words, parameter.name
        assert words.rstrip()[-1] in ".)" or parameter.name == "help", (parameter.name, words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_are_plain(page):
    assert odd_phrases(page.read_text("utf-8")) == []


@pytest.mark.parametrize("name", jaxkg.__all__)
def test_docstrings_of_public_names_are_plain(name):
    public = getattr(jaxkg, name)
    docs = [public.__doc__ or ""]
    if isinstance(public, type):
        docs += [inspect.getdoc(member) or "" for member in vars(public).values()]
    assert [odd for text in docs for odd in odd_phrases(text)] == []


def said_to_people():
    """Texts of errors, notes and messages in the package, with the file and line of each."""
    for path in sorted((ROOT / "jaxkg").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in SAYS:
                texts = [
                    part.value
                    for argument in node.args
                    for part in ast.walk(argument)
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                ]
                yield f"{path.relative_to(ROOT)}:{node.lineno}", " ".join(texts)


def test_errors_and_notes_are_plain():
    said = list(said_to_people())
    assert len(said) > 500
    assert [(where, odd) for where, text in said for odd in odd_phrases(text)] == []


def descriptions(described):
    """Every description, summary and title in a JSON object."""
    if isinstance(described, list):
        return [text for each in described for text in descriptions(each)]
    if not isinstance(described, dict):
        return []
    words = [described.get(key) for key in ("description", "summary", "title")]
    inner = [text for each in described.values() for text in descriptions(each)]
    return [word for word in words if isinstance(word, str)] + inner


def test_the_service_speaks_plainly():
    texts = descriptions(openapi())
    assert "Say whether the graph states a claim." in texts
    page = ROOT / "jaxkg" / "serve" / "page"
    texts += [path.read_text("utf-8") for path in page.iterdir() if path.suffix in (".html", ".js")]
    assert len(texts) > 100
    assert [odd for text in texts for odd in odd_phrases(text)] == []


def test_the_tools_of_an_assistant_speak_plainly():
    tree = ast.parse((ROOT / "jaxkg" / "serve" / "mcp.py").read_text("utf-8"))
    tools = [node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)]
    texts = [ast.get_docstring(tool) for tool in tools if tool.decorator_list]
    assert len(texts) >= 6
    assert [odd for text in texts for odd in odd_phrases(text or "")] == []
