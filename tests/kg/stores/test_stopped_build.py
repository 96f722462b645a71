"""A build on disk that was stopped is gone on with, to the same graph, or begun anew."""

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg import open_graph, read_graph
from jaxkg.kg.stores.arrays import ArrayStore
from jaxkg.kg.stores.big import build
from jaxkg.kg.stores.big.build import build_big
from jaxkg.lock import FolderLock

AFTER = {
    "numbering entities": "reading",
    "sorting facts": "numbering entities",
    "naming": "sorting facts",
    "saving": "sorting names",
}
"""What has ended when a stage begins."""
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


class Builds:
    """Builds of one source that are counted and listened to."""

    def __init__(self, folder: Path, monkeypatch):
        self.source, self.names = folder / "facts.tsv", folder / "names.tsv"
        facts = [f"e{7 * n % 40}\tr{n % 3}\te{n % 11}\n" for n in range(300)]
        self.source.write_text("".join([*facts, "bad line\n", facts[0]]), encoding="utf-8")
        self.names.write_text("e1\tEins\ne1\tUno\nr1\tby\ne2\tZwei\n", encoding="utf-8")
        self.folder = folder / "big"
        self.said: list[str] = []
        self.read = 0
        read = build._read

        def counted(*given):
            self.read += 1
            read(*given)

        monkeypatch.setattr(build, "_read", counted)

    def run(self, *, stop: str | None = None, by=KeyboardInterrupt, **options):
        def say(stage):
            self.said.append(stage)
            if stage == stop:
                raise by

        self.said.clear()
        self.read = 0
        options = {"names": self.names, "skip_bad": 1} | options
        build_big(self.source, self.folder, on_stage=say, **options)

    def stopped(self, stage="naming", **options):
        with pytest.raises(KeyboardInterrupt):
            self.run(stop=stage, **options)

    def left(self):
        return sorted(self.folder.parent.glob(".big.*.build"))

    def check(self):
        whole = read_graph(self.source, names=self.names, skip_bad=1)
        built = open_graph(self.folder)
        assert built.fingerprint == whole.fingerprint
        assert built.relation_names == whole.relation_names
        assert (built.duplicates, built.skipped) == (whole.duplicates, whole.skipped)
        assert dict(built.aliases) == dict(whole.aliases)
        assert ArrayStore.open(self.folder).search(["uno"]) == [[whole.entity("e1")]]
        assert not self.left()


@pytest.fixture
def builds(tmp_path, monkeypatch):
    return Builds(tmp_path, monkeypatch)


@pytest.mark.parametrize("stage", AFTER)
@pytest.mark.parametrize("by", [KeyboardInterrupt, RuntimeError("Query interrupted")])
def test_what_ended_is_not_done_again(builds, stage, by):
    builds.stopped(stage, by=by)
    assert builds.said[-1] == "interrupted; building it again resumes from here"
    assert len(builds.left()) == 1
    builds.run()
    assert builds.read == 0
    assert builds.said[0] == f"going on after {AFTER[stage]}"
    assert not set(builds.said) & {"reading", *list(AFTER)[: list(AFTER).index(stage)]} - {"naming"}
    builds.check()


def test_stopped_again_and_again(builds):
    for stage in AFTER:
        builds.stopped(stage)
        assert builds.read == (stage == next(iter(AFTER)))
        assert len(builds.left()) == 1
    builds.run()
    assert builds.read == 0
    builds.check()


def test_a_process_that_ends_at_once(builds):
    program = (
        "import os, sys\n"
        "from jaxkg.kg.stores.big.build import build_big\n"
        "source, names, folder = sys.argv[1:]\n"
        "end = lambda stage: stage == 'naming' and os._exit(9)\n"
        "build_big(source, folder, names=names, skip_bad=1, on_stage=end)\n"
    )
    paths = map(str, (builds.source, builds.names, builds.folder))
    assert subprocess.run([sys.executable, "-c", program, *paths], check=False).returncode == 9
    builds.run()
    assert (builds.read, builds.said[0]) == (0, "going on after sorting facts")
    builds.check()


def test_labels_in_the_file_itself(builds):
    builds.source = builds.source.with_suffix(".nt")
    lines = [f"<http://a/{n}> <http://a/r{n % 2}> <http://a/{n + 1}> .\n" for n in range(9)]
    told = f'<http://a/3> {LABEL} "Three"@en .\n<http://a/r1> {LABEL} "follows"@en .\n'
    builds.source.write_text("".join([*lines, told]), encoding="utf-8")
    builds.stopped("saving", names=None, skip_bad=0)
    builds.run(names=None, skip_bad=0)
    assert builds.read == 0
    whole, built = read_graph(builds.source), open_graph(builds.folder)
    assert (built.fingerprint, built.relation_names) == (whole.fingerprint, whole.relation_names)


def test_stopped_while_reading_nothing_is_left(builds):
    builds.stopped("reading")
    assert builds.said == ["reading"]
    assert not builds.left()


def test_bad_input_leaves_nothing_behind(builds):
    builds.stopped()
    with pytest.raises(JaxkgError, match="cannot be sorted"):
        builds.run(memory="a lot")
    assert builds.left(), "a wrong option is no reason to read again"
    with pytest.raises(JaxkgError, match="bad line"):
        builds.run(skip_bad=0)
    assert not builds.left()


def test_out_of_memory_loses_nothing_that_was_read(builds, monkeypatch):
    def too_much(*_):
        raise duckdb.OutOfMemoryException("Out of Memory Error: not one block left\nmore")

    with monkeypatch.context() as patch:
        patch.setattr(build, "sorted_graph", too_much)
        with pytest.raises(
            JaxkgError, match=r"300MB is too little .*block left\).*--memory"
        ) as told:
            builds.run(memory="300MB")
    assert "\n" not in str(told.value)
    assert len(builds.left()) == 1
    builds.run(memory="400MB")
    assert builds.read == 0
    builds.check()


def another_fact(builds):
    with open(builds.source, "a", encoding="utf-8") as file:
        file.write("new\tr1\te1\n")


def as_long_and_as_old(builds):
    before = builds.source.stat()
    text = builds.source.read_text(encoding="utf-8")
    builds.source.write_text(text.replace("e1\t", "e9\t"), encoding="utf-8")
    os.utime(builds.source, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert builds.source.stat()[6:9] == before[6:9]


def other_names(builds):
    builds.names.write_text("e1\tUno\n", encoding="utf-8")


@pytest.mark.parametrize("change", [another_fact, as_long_and_as_old, other_names])
def test_a_changed_source_is_read_again(builds, change):
    builds.stopped()
    change(builds)
    builds.run()
    assert (builds.read, builds.said[0]) == (1, "reading")
    builds.check()


@pytest.mark.parametrize("option", [{"columns": (2, 1, 0)}, {"encoding": "cp1252"}])
def test_other_arguments_read_again(builds, option):
    builds.stopped(**option)
    builds.run()
    assert builds.read == 1
    builds.check()


def cut(path):
    path.write_bytes(path.read_bytes()[:-50])


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("reading.json", cut),
        ("reading.json", lambda path: path.write_text("[]")),
        ("facts-00000.parquet", cut),
        ("facts-00000.parquet", Path.unlink),
        ("names-00000.parquet", lambda path: path.with_stem("names-1").hardlink_to(path)),
        ("sorting.duckdb", lambda path: path.write_bytes(b"not this" * 4096)),
        ("sorting.duckdb", lambda path: path.write_bytes(b"\0" * path.stat().st_size)),
    ],
)
def test_what_is_damaged_is_not_used(builds, name, damage):
    builds.stopped("saving")
    (left,) = builds.left()
    damage(left / name)
    builds.run()
    assert builds.read == 1
    builds.check()


def test_what_another_build_works_in_is_not_taken(builds):
    builds.stopped()
    (left,) = builds.left()
    lock = FolderLock(left)
    builds.run()
    assert builds.read == 1
    assert builds.left() == [left]
    lock.close()
    builds.run()
    assert builds.read == 0
    builds.check()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_the_command_is_interrupted(tmp_path):
    source = tmp_path / "facts.tsv"
    with open(source, "w", encoding="utf-8") as file:
        file.writelines(f"e{n * 7919 % 5003}\tr{n % 40}\te{n % 997}\n" for n in range(20_000))
    # Ctrl-C while facts are sorted, however fast the machine is; also where tests were started in
    # the background, where a shell lets it be ignored.
    program = (
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from jaxkg.cli import main\n"
        "from jaxkg.kg.stores.big import sort\n"
        "sort.offset_width = lambda count: signal.raise_signal(signal.SIGINT)\n"
        "main()\n"
    )
    given = ["kg", "build", str(source), "--big", "-o", str(tmp_path / "big")]
    stopped = subprocess.run(
        [sys.executable, "-c", program, *given], capture_output=True, text=True, check=False
    )
    assert stopped.returncode == 130
    assert stopped.stderr.splitlines()[-2:] == [
        "jaxkg: interrupted; building it again resumes from here",
        "jaxkg: stopped",
    ]
    command = [sys.executable, "-m", "jaxkg", *given]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "going on after sorting facts" in done.stderr
    assert "jaxkg: reading" not in done.stderr
    assert open_graph(tmp_path / "big").fingerprint == read_graph(source).fingerprint
