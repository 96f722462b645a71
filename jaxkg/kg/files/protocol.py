"""What a format of graph files is: it tells its files by their beginning, and reads them.

A format is one module that ends with `FORMATS = (Format(...),)`, named in
`jaxkg.kg.files.formats`. A package of its own adds one by an entry point of the group
`jaxkg.formats` that is a `Format`:

    [project.entry-points."jaxkg.formats"]
    chess = "chessgraph:PGN"
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from jaxkg.kg.encode import TripleEncoder
from jaxkg.kg.files.exports import Columns, Edges
from jaxkg.kg.files.textfile import BadLines, Progress
from jaxkg.kg.names import NameCollector
from jaxkg.kg.qualifiers import OBJECT, PREDICATE, SUBJECT
from jaxkg.words import relation_words

if TYPE_CHECKING:
    from jaxkg.kg.files.tables.keys import TakenTable

_BATCH = 1 << 12
"""Facts taken one by one that are encoded together."""


@dataclasses.dataclass(frozen=True)
class Head:
    """The beginning of a file, or what lies in a folder: what a format is told by.

    Attributes:
        name: of the file or folder, without `.gz` or `.zst`.
        data: the first 64 KiB of the file, unpacked; nothing of a folder.
        entries: files in the folder and below, ascending, as "edges/part-1.csv"; None of a file.
        encoding: that text files are said to be in.
        is_whole: whether `data` is the whole file.
        folder: where the file lies.
    """

    name: str
    data: bytes = b""
    entries: tuple[str, ...] | None = None
    encoding: str = "utf-8"
    is_whole: bool = False
    folder: Path | None = None

    @property
    def end(self) -> str:
        """The end of the name in small letters, with its dot: ".tsv"; "" where it has none."""
        return Path(self.name).suffix.lower()

    @functools.cached_property
    def text(self) -> str:
        """The beginning as text; bytes that are none become `\\ufffd`."""
        marked = self.data[:2] in (b"\xff\xfe", b"\xfe\xff")
        try:
            text = self.data.decode("utf-16" if marked else self.encoding, errors="replace")
        except LookupError:
            text = self.data.decode("utf-8", errors="replace")
        return text.removeprefix("\ufeff")

    @functools.cached_property
    def lines(self) -> list[str]:
        """The lines that are not blank, without blanks around them; the last may be cut."""
        return [line.strip() for line in self.text.splitlines() if line.strip()]


class Sniff(NamedTuple):
    """How likely a file is of a format, and by what it is told.

    | score | told by |
    |---|---|
    | 1 | a signature that nothing else has |
    | 0.9 | the name, and a beginning that fits; or a beginning that hardly fits anything else |
    | 0.7 | the name alone |
    | 0.5 | the shape of the first lines |
    | 0 | it is of another format |
    """

    score: float
    reason: str = ""


NO = Sniff(0.0)


def named(*ends: str, score: float = 0.7) -> Callable[[Head], Sniff]:
    """A sniffer that goes by the end of the name alone.

    >>> named(".tsv")(Head("kb.TSV"))
    Sniff(score=0.7, reason="its name ends in '.tsv'")
    """

    def sniff(head: Head) -> Sniff:
        if head.entries is None and head.end in ends:
            return Sniff(score, f"its name ends in {head.end!r}")
        return NO

    return sniff


def begins(
    pattern: str, score: float, reason: str, *, ends: str = "", both: float = 0.0
) -> Callable[[Head], Sniff]:
    r"""A sniffer of files whose beginning holds a pattern.

    Args:
        ends: of names, for which the score is `both` where the pattern is there, too.

    >>> sniff = begins(r"^CREATE", 0.8, "it has a line with CREATE", ends=".sql", both=0.9)
    >>> sniff(Head("dump.txt", b"-- today\nCREATE")).score, sniff(Head("dump.sql")).score
    (0.8, 0.0)
    """
    known = re.compile(pattern, re.MULTILINE)

    def sniff(head: Head) -> Sniff:
        if head.entries is None and known.search(head.text):
            return Sniff(both if head.end in ends.split() else score, reason)
        return NO

    return sniff


def holds(*names: str) -> Callable[[Head], Sniff]:
    """A sniffer of folders that hold files of all of these names."""
    sure = Sniff(1.0, f"it holds {' and '.join(map(repr, names))}")
    return lambda head: sure if {*names} <= {*(head.entries or ())} else NO


def surest(*sniffers: Callable[[Head], Sniff]) -> Callable[[Head], Sniff]:
    """A sniffer that says what the surest of several says, of equals the first."""
    return lambda head: max((sniff(head) for sniff in sniffers), key=lambda sniff: sniff.score)


@dataclasses.dataclass(frozen=True)
class Format:
    """A format of graph files.

    Attributes:
        name: by which `--format` calls it.
        about: what it is, in one line.
        sniff: how likely a file, or a folder, is of it.
        read: takes the file into an `Intake`.
        extra: the optional dependency that reading needs; "" for none.
        takes_columns: whether `columns` and a column of sources mean something.
        takes_folders: whether it reads a folder whole.
        is_typed: whether numbers and dates are told apart by the file, not by their looks.
    """

    name: str
    about: str
    sniff: Callable[[Head], Sniff]
    read: Callable[[Path, Intake], None]
    extra: str = ""
    takes_columns: bool = False
    takes_folders: bool = False
    is_typed: bool = False


@dataclasses.dataclass(frozen=True)
class Options:
    """How every file is to be read; see `jaxkg.kg.read_graph`.

    Attributes:
        guess: no format was named.
        language: of the label that is the name where there are several.
        strict: refuse what would be mended: rows of a table with more or fewer cells.
    """

    guess: bool = True
    columns: Columns | None = None
    provenance: bool | int | str | None = None
    encoding: str = "utf-8"
    lines: bool = False
    on_progress: Progress | None = None
    language: str = "en"
    strict: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether no option says where columns are, so that rows may be entities."""
        named = self.provenance is not None and not isinstance(self.provenance, bool)
        return self.columns is None and not named

    @property
    def by_line(self) -> bool:
        """Whether a fact's source is its file and line."""
        return self.lines or self.provenance is True


class Intake:
    """What takes what is read: facts, names, what is said of facts, what was left out.

    A format for a file of its own calls `fact`, `name`, `sort`, `qualified` and `leave_out`;
    those that read millions of lines feed `encoder` by columns.

    Example:
        >>> intake = Intake()
        >>> intake.name("m1", "The Matrix")
        >>> intake.sort("m1", "movie")
        >>> intake.qualified("Keanu Reeves", "acted in", "m1", {"role": ["Neo"]})
        '_:acted_in_1'
        >>> intake.finish()
        >>> len(intake.encoder.finish().triples), intake.names.display["_:acted_in_1"]
        (6, 'Keanu Reeves acted in The Matrix')

    Attributes:
        names: takes names of ids.
        bad: takes malformed lines.
        options: see `Options`.
        format: the name of the format that a file is read as.
        tables: what was read of tables, whose keys are joined when all is read.
        edges: see `Edges`.
        beside: first words of columns in files that are read with it, and what their rows are
            called, without case; None where there is but one file.
        titled: whether columns refer to files by their names: what one is called its rows are.
        has_cells: whether something read are cells of tables, which may list several things.
        aside: whose facts are left out once all is read: properties, where there are things.
        within: things of lists within records, which cells do not mean by their names.
        folders: what the names of the folders that a file lies in say of its rows.
        readings: how files were read, in words.
        left_out: what was not taken, by reason.
        meanings: what a file declares of relations, see `KnowledgeGraph.meanings`.
        mended: what was taken though it is not as it has to be, by what was done.
        shared: what all files of a format tell together, by its class; its `finish(intake)` is
            called when all are read.
    """

    def __init__(
        self,
        options: Options | None = None,
        bad: BadLines | None = None,
        format: str = "",
        encoder: Any = None,
    ) -> None:
        self._encoder: TripleEncoder = TripleEncoder() if encoder is None else encoder
        self.names = NameCollector()
        self._facts: list[tuple[str, str, str, str]] = []
        self.bad = BadLines() if bad is None else bad
        self.options = Options() if options is None else options
        self.format = format
        self.tables: list[TakenTable] = []
        self.edges: list[Edges] = []
        self.beside: Set[str] | None = None
        self.titled = self.has_cells = False
        self.within: set[str] = set()
        self.aside: set[str] = set()
        self.folders: Mapping[str, str] = {}
        self.readings: list[str] = []
        self.left_out: Counter[str] = Counter()
        self.meanings: dict[str, dict[str, Any]] = {}
        self.mended: Counter[str] = Counter()
        self._statements: dict[str, tuple[str, str, str]] = {}
        self._counts: Counter[str] = Counter()
        self.shared: dict[type, Any] = {}

    @property
    def encoder(self) -> TripleEncoder:
        """Takes triples of ids by columns, and has all that were taken so far."""
        self._flush()
        return self._encoder

    def tell(self, reading: str) -> None:
        """Tell how a file was read; "" tells nothing."""
        self.readings += [reading] if reading else []

    def leave_out(self, reason: str, count: int = 1) -> None:
        """Count what was not taken, if anything."""
        if count:
            self.left_out[reason] += count

    def mean(self, relation: str, **meaning: str | bool) -> None:
        """Take what a relation means: `says_back`, `hierarchy`, `symmetric`."""
        self.meanings.setdefault(relation, {}).update(meaning)

    def fact(self, head: str, relation: str, tail: str, source: str = "") -> None:
        """Take one fact, whose ends are ids or values as they are written.

        Args:
            source: "file:line" and the like; only where the options ask for it.
        """
        self._facts.append((head, relation, tail, source))
        if len(self._facts) == _BATCH:
            self._flush()

    def _flush(self) -> None:
        """Encode the facts that were taken one by one."""
        if self._facts:
            heads, relations, tails, sources = zip(*self._facts)
            self._encoder.add(heads, relations, tails, sources if any(sources) else None)
            self._facts.clear()

    def name(self, id: str, name: str | None, aliases: Iterable[str] = ()) -> None:
        """Take the name to show for an id, if any, and others; a further name is an alias."""
        if name is not None:
            self.names.label(id, name)
        for alias in aliases:
            self.names.alias(id, alias)

    def blank(self, sort: str) -> str:
        """The id of another thing that nothing calls, by what it is.

        >>> intake = Intake()
        >>> intake.blank("order item"), intake.blank("order item")
        ('_:order_item_1', '_:order_item_2')
        """
        return f"_:{sort.replace(' ', '_')}_{self.count(sort)}"

    def count(self, sort: str) -> int:
        """The number of another thing that nothing calls, of all files those of its sort."""
        self._counts[sort.replace("_", " ")] += 1
        return self._counts[sort.replace("_", " ")]

    def sort(self, id: str, sort: str) -> None:
        """Take what an entity is: "movie"."""
        self.fact(id, "is a", sort)

    def qualified(
        self,
        head: str,
        relation: str,
        tail: str,
        qualifiers: Mapping[str, Iterable[str]],
        source: str = "",
    ) -> str:
        """Take a fact about which something is said, as RDF's statements about statements are.

        The fact itself is taken, and a statement about it, see `jaxkg.kg.qualifiers`.

        Args:
            qualifiers: values, or ids of entities, by what is said.

        Returns:
            The id of the node; "" where nothing is said.
        """
        self.fact(head, relation, tail, source)
        said = [(word, value) for word, values in qualifiers.items() for value in values]
        return self.describe((head, relation, tail), said, source) if said else ""

    def describe(
        self, fact: tuple[str, str, str], said: Iterable[tuple[str, str]], source: str = ""
    ) -> str:
        """Take what is said of a fact, which itself may be none of the graph; its node."""
        node = self.statement(*fact)
        for word, value in (*zip((SUBJECT, PREDICATE, OBJECT), fact), *said):
            self.fact(node, word, value, source)
        return node

    def say_of(self, edges: Edges, ends: Mapping[str, str]) -> None:
        """Take what columns say of facts, whose ends may be called otherwise by now."""
        for (head, relation, tail), said, source in edges.said:
            self.describe((ends.get(head, head), relation, ends.get(tail, tail)), said, source)

    def statement(self, head: str, relation: str, tail: str) -> str:
        """The id of a new statement about a fact, which will be shown as what it states; the caller
        takes what is said of it."""
        node = self.blank(relation_words(relation))
        self._statements[node] = head, relation, tail
        return node

    def finish(self) -> None:
        """End what files share, and name the statements."""
        for shared in self.shared.values():
            shared.finish(self)
        shown = self.names.display
        for node, (head, relation, tail) in self._statements.items():
            words = self.names.relations.get(relation, [relation_words(relation)])[0]
            if words != relation_words(relation):
                self.name(relation, words)
            self.name(node, f"{shown.get(head, head)} {words} {shown.get(tail, tail)}")
