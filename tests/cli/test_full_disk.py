"""A disk that takes no more, or nothing at all, at every writer: an answer is printed all the same,
and one line says what could not be written."""

import builtins
import contextlib
import errno
import io
import itertools
import json
import os

import jax
import pytest
from jax.experimental.compilation_cache.compilation_cache import reset_cache

from jaxkg import storage
from jaxkg.errors import JaxkgError
from jaxkg.kg import demo_questions, write_questions

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.usefixtures("standard_promotion")
ASKED = "who directed [Alien]?"


@contextlib.contextmanager
def limited(most, *, programs=None):
    """No file may grow past so many bytes: a real refusal of the system, in the midst of writing.

    Python ignores the signal that would come with it. Compiled programs are not kept meanwhile, or
    in a folder of their own: half of one would stay where other tests read it.
    """
    kept = ("jax_enable_compilation_cache", "jax_compilation_cache_dir")
    before = {name: jax.config.values[name] for name in kept}
    jax.config.update(kept[0], before[kept[0]] and programs is not None)
    jax.config.update(kept[1], str(programs) if programs else before[kept[1]])
    reset_cache()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        for name, value in before.items():
            jax.config.update(name, value)
        reset_cache()


@contextlib.contextmanager
def refused(patch, root, code):
    """Nothing beneath a folder can be made, opened to be written, or renamed."""

    def within(path):
        return isinstance(path, str | bytes | os.PathLike) and os.fsdecode(path).startswith(root)

    def guarded(real, writes):
        def call(path, *args, **kwargs):
            if within(path) and writes(*args, **kwargs):
                raise OSError(code, os.strerror(code), os.fsdecode(path))
            return real(path, *args, **kwargs)

        return call

    def by_mode(mode="r", *_, **__):
        return any(letter in mode for letter in "wax+")

    def by_flags(flags, *_, **__):
        return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))

    def always(*_, **__):
        return True

    with patch.context() as some:
        for module in (builtins, io):
            some.setattr(module, "open", guarded(io.open, by_mode))
        some.setattr(os, "open", guarded(os.open, by_flags))
        for name in ("mkdir", "replace", "rename"):
            some.setattr(os, name, guarded(getattr(os, name), always))
        yield


@pytest.fixture
def graph(tmp_path):
    file = tmp_path / "facts.tsv"
    facts = "".join(f"e{n}\tr{n % 3}\te{n + 1}\n" for n in range(300))
    file.write_text(f"head\trelation\ttail\n{facts}")
    return file


@pytest.fixture
def few(tmp_path):
    file = tmp_path / "few.jsonl"
    write_questions(demo_questions()[:3], file)
    return file


WRITERS = {
    "svg": ["ask", ASKED, "--svg", "{out}.svg"],
    "trace": ["ask", ASKED, "--trace", "{out}.json"],
    "triples": ["ask", ASKED, "--triples", "{out}.tsv"],
    "eval": ["eval", "-o", "{out}", "--questions", "{few}"],
    "compare": ["compare", "-o", "{out}", "--questions", "{few}", "--systems", "planner,reader"],
    "build": ["kg", "build", "{graph}", "-o", "{out}"],
    "build, big": ["kg", "build", "{graph}", "-o", "{out}", "--big"],
    "index": ["kg", "index", "{saved}"],
    "add": ["kg", "add", "{saved}", "{graph}"],
    "remove": ["kg", "remove", "{saved}", "{graph}"],
    "compact": ["kg", "compact", "{saved}"],
    "hypergraph": ["hypergraph", "build", "{graph}", "-o", "{out}", "--format", "graph"],
    "synthesize": ["kg", "synthesize", "-o", "{out}"],
    "embeddings": [
        *("train", "kge", "-o", "{out}", "--kg", "{graph}", "--validation", "{graph}"),
        *("--epochs", "1", "--dimension", "2"),
    ],
    "train": [
        *("train", "planner", "-o", "{out}", "--kg", "{graph}", "--questions", "{asked}"),
        *("--epochs", "1"),
    ],
}


DISKS = {
    "full": ("full", 0),
    "full in the midst": ("full", 100),
    "read-only": ("refused", errno.EROFS),
    "not allowed": ("refused", errno.EACCES),
    "full at opening": ("refused", errno.ENOSPC),
}


@pytest.fixture
def command(jaxkg, tmp_path, graph, few, request):
    """A writer's arguments; what it reads is there."""
    saved, asked = tmp_path / "saved", tmp_path / "asked.tsv"
    asked.write_text("what is the r1 of [e1]?\te2\nwhat is the r2 of [e2]?\te3\n" * 5)
    (tmp_path / "there").mkdir()
    if "{saved}" in request.param:
        assert jaxkg("kg", "build", graph, "-o", saved)[0] == 0
        new = "e0\tr0\te1" if "remove" in request.param else "x\tr0\ty"
        graph.write_text(f"head\trelation\ttail\n{new}\n")
        if "compact" in request.param:
            assert jaxkg("kg", "add", saved, graph)[0] == 0
    places = {"out": tmp_path / "there" / "new", "graph": graph, "few": few, "saved": saved}
    return [part.format(**places, asked=asked) for part in request.param]


def everywhere():
    """Every writer meets a disk that is full, at once and in the midst, and one that opens nothing;
    two meet those that differ in what they say alone. What takes long is slow."""
    long = ("train", "compare")
    for (disk, refusal), (writer, command) in itertools.product(DISKS.items(), WRITERS.items()):
        every = writer in ("trace", "build, big")
        if every or disk in ("full", "full in the midst", "not allowed"):
            soon = every or (disk == "full" and command[0] not in long)
            marks = () if soon else pytest.mark.slow
            yield pytest.param(refusal, command, marks=marks, id=f"{disk}-{writer}")


@pytest.mark.parametrize(("disk", "command"), [*everywhere()], indirect=["command"])
def test_one_line_says_what_cannot_be_written(jaxkg, command, disk, tmp_path, monkeypatch):
    name, value = disk
    with limited(value) if name == "full" else refused(monkeypatch, str(tmp_path), value):
        code, out, err = jaxkg(*command)
    assert code == 2
    if command[0] == "ask":
        assert "1. Ridley Scott" in out
    lines = [line for line in err.splitlines() if not line.startswith("jaxkg: nothing is kept")]
    why = os.strerror(errno.EFBIG if name == "full" else value)
    told = [line for line in lines if why in line]
    assert len(told) == 1, err
    assert lines[-1] == told[0]
    assert str(tmp_path) in told[0]
    assert ".tmp" not in told[0]
    assert "Errno" not in told[0]
    # Nothing is left behind, and with room again the same command works.
    assert not [f for f in tmp_path.rglob("*") if f.name.endswith((".tmp", ".new", ".build"))]
    assert jaxkg(*command)[0] == 0


@pytest.mark.parametrize("system", ["planner", "reader"])
@pytest.mark.parametrize("most", [0, 300])
def test_a_full_cache_takes_no_answer_away(jaxkg, tmp_path, monkeypatch, system, most):
    monkeypatch.setenv("JAXKG_CACHE", str(tmp_path / "cache"))
    with limited(most, programs=tmp_path / "programs"):
        code, out, err = jaxkg("ask", ASKED, "--system", system)
    assert code == 0
    assert "1. Ridley Scott" in out
    [line] = err.splitlines()
    assert "nothing is kept for the next time" in line


@pytest.mark.slow
def test_half_a_program_is_made_anew(jaxkg, tmp_path, monkeypatch):
    monkeypatch.setenv("JAXKG_CACHE", str(tmp_path / "cache"))
    ask = ("ask", ASKED, "--system", "planner")
    jax.clear_caches()
    jaxkg(*ask)
    programs = [file for file in (tmp_path / "cache" / "programs").iterdir() if file.is_file()]
    assert programs
    for file in programs:
        file.write_bytes(file.read_bytes()[:50])
    jax.clear_caches()
    code, out, err = jaxkg(*ask)
    assert (code, "1. Ridley Scott" in out) == (0, True)
    assert err == "jaxkg: kept programs cannot be used; they are made anew\n"
    jax.clear_caches()
    assert jaxkg(*ask)[2] == ""


@pytest.mark.filterwarnings("default:.*replies are neither read")
def test_replies_that_cannot_be_kept_are_used_all_the_same(jaxkg, serve, tmp_path):
    server = serve(lambda _: json.dumps({"answers": [], "supporting_paths": [1], "rationale": ""}))
    model = ("--llm", "loopback", "--base-url", server.url, "--replies", tmp_path / "r.sqlite")
    with limited(0):
        code, out, err = jaxkg("ask", ASKED, *model, "--set", "judge=paths")
    assert code == 0
    assert "1. Ridley Scott" in out
    assert "replies are neither read from it nor kept" in err


@pytest.mark.parametrize("asked", ["eval", "compare"])
def test_a_report_is_printed_before_it_is_written(jaxkg, few, tmp_path, monkeypatch, asked):
    command = [asked, "-o", tmp_path / "run", "--questions", few]
    command += ["--systems", "planner,reader"] if asked == "compare" else []
    real = storage.write_text

    def full(path, text):
        if os.path.basename(path) == ("report.json" if asked == "eval" else "compare.md"):
            raise JaxkgError(f"{path}: cannot be written (No space left on device)")
        real(path, text)

    monkeypatch.setattr(storage, "write_text", full)
    monkeypatch.setattr("jaxkg.evaluate.runs.runs.write_text", full)
    code, out, err = jaxkg(*command)
    assert code == 2
    assert "hits_at_1" in out
    assert err.endswith("cannot be written (No space left on device)\n")
