"""Triples and names in columns: MetaQA's `a|b|c`, TSV, CSV."""

from __future__ import annotations

import csv
import functools
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, NotRequired, TypedDict, TypeVar

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.exports import DIRECTIONS, LINKED, Edges, Said, plain_header
from jaxkg.kg.files.protocol import Intake
from jaxkg.kg.files.textfile import BadLines, line_at, line_blocks
from jaxkg.kg.names import NameCollector
from jaxkg.kg.queries.columns import all_days, is_value

SEPARATORS = {"metaqa": "|", "tsv": "\t", "csv": ","}
"""Column separator by format. Only CSV knows quotes; in the other two they are plain characters."""

HEADER = (
    ("head", "head_id", "subject", "subj", "source", "src", "from", "entity", "item", "person"),
    ("relation", "relation_id", "predicate", "pred", "rel", "property", "relationship", "type",
     "attribute"),
    ("tail", "tail_id", "object", "obj", "target", "dst", "to", "value"),
)  # fmt: skip
"""Words, in any case, by which a header line or a column is known as head, relation, tail; of
several in one header the first counts."""
_LETTERS = ("h", "r", "t"), ("s", "p", "o")
_EDGES = ("source", "target"), ("src", "dst"), ("from", "to")
_SAID = "label", "kind", "interaction"
_NOTHING = frozenset(("\\N", "NULL")) | DIRECTIONS
_BESIDE = {*_SAID, "id", "weight", "key", "timeset"}
"""What may stand beside the ends of an edge that has no relation."""

_TRIPLE = ["head", "relation", "tail"]
Row = tuple[int, list[str]]
_T = TypeVar("_T")

_NUMBERS = "", "id", "key", "timeset", "relation_id", "human_readable_id", "triple"
_AGAIN = "head_name", "tail_name", "source_name", "target_name", "relation", "edge_label"
_UNSAID = frozenset((*_NUMBERS, *_AGAIN))
"""Columns that number edges, name their ends or say again what they are: nothing of them."""

_ROWS = 1 << 11
"""Rows of CSV alive at once; few, for the garbage collector walks every one."""


class _Layout(NamedTuple):
    """Where a file keeps what, as its first line shows."""

    width: int
    triple: tuple[int, int, int]
    source: int | None
    expected: str
    beside: tuple[tuple[str, int], ...] = ()


def read_delimited(path: Path, intake: Intake, *, said: bool = True) -> str:
    """Read "metaqa", "tsv" or "csv" triples, as the intake's format is; see `jaxkg.kg.read_graph`.

    Args:
        said: take what further columns say of facts; else they are left out.

    Returns:
        How a header was taken; "" where it is plain or there is none.
    """
    separator = separator_of(path, intake.format, intake.options.encoding)
    rows_in = Rows(path, intake.format, separator, intake, said=said)
    if intake.format == "csv":
        return rows_in.take(csv_rows(path, separator, intake))
    for first, lines in row_blocks(path, intake=intake):
        rows_in.lines(first, lines)
    return rows_in.take([])


def header_columns(words: Sequence[str]) -> list[int] | None:
    """Positions of head, relation and tail in a header line; None where it is none.

    >>> header_columns(["Target", "Relation", "Source"]), header_columns(["h", "p", "o"])
    ([2, 1, 0], None)
    """
    folded = [word.strip().casefold() for word in words]
    for letters in _LETTERS:
        if set(letters) <= set(folded):
            return [folded.index(letter) for letter in letters]
    known = HEADER if "predicate" not in folded else (HEADER[0], ("predicate",), HEADER[2])
    found = [next((folded.index(w) for w in words if w in folded), -1) for words in known]
    return found if min(found) >= 0 else None


def is_edge_list(words: Sequence[str]) -> bool:
    """Whether a header is that of edges, which need not say what they are, as network tools have.

    >>> is_edge_list(["Source", "Target", "Weight"]), is_edge_list(["from", "to", "price"])
    (True, False)
    """
    folded = [word.strip().casefold() for word in words]
    if any(folded.count(item) == folded.count(other) == 1 for item, other in _EDGES[:2]):
        return True
    return tuple(folded[:2]) in _EDGES and _BESIDE.issuperset(folded[2:])


def separator_of(path: Path, format: str, encoding: str) -> str:
    """What parts the columns; of CSV a semicolon where the first line has no comma.

    It is one, too, where two lines have as many semicolons as each other, the first more of them
    than commas: "Name;Price, net;Place". It is a tab, or what stands as often in the second line, a
    bar, where the first line has neither.
    """
    if format not in ("csv", "table"):
        return SEPARATORS[format]
    blocks = row_blocks(path, encoding=encoding)
    lines = (line for _, block in blocks for line in block if line.strip())
    first, second = next(lines, ""), next(lines, "")
    tabs = first.count("\t")
    if tabs and tabs == second.count("\t") and tabs >= max(first.count(","), first.count(";")):
        return "\t"
    if ";" in first:
        many = second.count(";") == first.count(";") > first.count(",")
        return ";" if many or "," not in first else ","
    if "," not in first and 0 < first.count("|") == second.count("|"):
        return "|"
    return "\t" if "\t" in first and "," not in first else ","


_QUOTED = re.compile(r'"([^"]?)[^"]*"')
_SEPARATOR_LINE = re.compile(r"sep=.", re.IGNORECASE)
_PADDED = re.compile(r'(?:"[^"]*"|[^,;|\t"]*)([,;|\t])\1{2,}\s*')
"""A line of four columns or more that says nothing, or has but a title in the first."""
_ABOVE = 20
"""Lines in which a table may begin, below what is said of it."""


def row_blocks(
    path: Path, *, encoding: str = "utf-8", intake: Intake | None = None
) -> Iterator[tuple[int, list[str]]]:
    """The lines of a file of columns as `line_blocks` has them; what stands above the columns, a
    title or comments from `#` on, is blank, but for a comment that names the columns. An intake,
    whose encoding counts, takes how many lines stand there."""
    options = intake.options if intake else None
    encoding, on_progress = (options.encoding, options.on_progress) if options else (encoding, None)
    blocks = line_blocks(path, encoding=encoding, on_progress=on_progress)
    for number, lines in blocks:
        if number == 1 and (above := lines_above(lines)):
            names = _names_noted(lines, above)
            titles = sum(
                line[:1] != "#" and bool(line.strip(' ",;|\t\r')) for line in lines[:above]
            )
            titles -= bool(_SEPARATOR_LINE.fullmatch(lines[0].strip()))
            if intake and titles:
                intake.leave_out("lines above the columns", titles)
            lines = [*[""] * above, *lines[above:]]
            if names:
                lines[above - 1] = names
        yield number, lines


def _names_noted(lines: Sequence[str], above: int) -> str:
    r"""The names of columns in the comment above them; "" where it is another one.

    >>> _names_noted(["#tax_id\tGeneID", "9606\t1"], 1), _names_noted(["# a, b", "c,d"], 1)
    ('tax_id\tGeneID', '')
    """
    note, row = lines[above - 1], next((line for line in lines[above:] if line.strip()), "")
    text = note[1:]
    for separator in "\t;,|":
        if text.count(separator) == row.count(separator) > 0 and note[:1] == "#" != text[:1]:
            words = text.split(separator)
            named = all(map(str.strip, words)) and not any(map(is_value, words))
            return text if named and (separator == "\t" or text[:1].strip()) else ""
    return ""


def is_note(line: str) -> bool:
    """Whether a line is a comment; a first column may be called "#", too.

    >>> is_note("# by Ann"), is_note("#,Name"), is_note('"#","Name"')
    (True, False, False)
    """
    return line[:1] == "#" and line[1:2] not in tuple("\t;,|")


def lines_above(lines: Sequence[str]) -> int:
    """How many of the first lines stand above the columns.

    >>> lines_above(["# by Ann", "", "river,length", "Glomma,621"]), lines_above(["a,b", "c,d"])
    (2, 0)
    >>> lines_above(["Report 2024", "", "river,length", "Glomma,621"]), lines_above(["a", "b,c"])
    (2, 0)
    >>> lines_above(["By,Ann", "", "On,2020", "", "river,length,x", "Glomma,621,3", "Lena,4294,7"])
    4
    >>> lines_above([",,,", '"Rivers, 2024",,,', "river,length,x,y", "Glomma,621,3,4"])
    2
    >>> lines_above(['"Rivers, of May, 2024"', '""', "river,length,x,y", "Glomma,621,3,4"])
    2
    >>> lines_above(["river,note,x", 'Glomma,"Cold.', "", 'Long.",3', "Lena,,7", "Ob,,8"])
    0
    """
    quoted = _within_quotes(lines)
    lines = ['"' if within else line for line, within in zip(lines, quoted)]
    lines = [_QUOTED.sub(r"\1", line) if '"' in line else line for line in lines]
    if lines and _SEPARATOR_LINE.fullmatch(lines[0].strip()):
        return 1  # as Excel writes
    if padded := len(list(itertools.takewhile(_PADDED.fullmatch, lines[:_ABOVE]))):
        return padded if padded < len(lines) else 0
    filled = (pair for pair in enumerate(lines) if pair[1].strip())
    noted = is_note(next(filled, (0, ""))[1])
    filled = (pair for pair in enumerate(lines) if pair[1].strip() and not is_note(pair[1]))
    rows = list(itertools.islice(filled, _ABOVE))
    for place, ((at, line), (_, below)) in enumerate(itertools.pairwise(rows)):
        parted = [item for item in "\t;,|" if line.count(item) == below.count(item) > 0]
        if parted and not place:
            first = at if noted else 0
            if first or not any(not item.strip() for item in lines[at : rows[-1][0]]):
                return first
        # A title is set off by a blank line, and has fewer columns.
        over = max((item.count(parted[0]) for _, item in rows[:place]), default=0) if parted else 0
        if parted and place and not lines[at - 1].strip() and over < line.count(parted[0]):
            return at
    return 0


def _within_quotes(lines: Sequence[str]) -> list[bool]:
    """Whether each line begins in a text in quotes; none where quotes are not closed."""
    opened = list(itertools.accumulate((line.count('"') % 2 for line in lines), initial=0))
    return [bool(count % 2) and opened[-1] % 2 == 0 for count in opened[:-1]]


def read_names(path: Path, names: NameCollector, bad: BadLines, *, encoding: str = "utf-8") -> None:
    """Read `id<TAB>name` lines; further names of an id become its aliases."""
    for first, lines in line_blocks(path, encoding=encoding):
        for number, line in enumerate(lines, start=first):
            entity, tab, name = line.partition("\t")
            entity, name = entity.strip(), name.strip()
            if tab and entity and name and "\t" not in name:
                names.label(entity, name)
            elif line.strip():
                why = "not two non-blank fields"
                bad.note(path, number, line.rstrip("\r"), why, "id<TAB>name")


def names_of(path: Path, known: Collection[str], encoding: str, *, headless: bool = False) -> bool:
    """Whether a file is lines of two columns by tabs, most of them first an id that is known; if
    `headless`, the first of them, too."""
    if not path.is_file():
        return False
    try:
        _, lines = next(line_blocks(path, encoding=encoding), (1, list[str]()))
    except JaxkgError:
        return False  # no text
    ids = [line.partition("\t")[0].strip() for line in lines if line.count("\t") == 1]
    begins = not headless or (bool(ids) and ids[0] in known)
    return begins and 2 * sum(id in known for id in ids) > len(lines)


def batched(rows: Iterable[_T]) -> Iterator[list[_T]]:
    """Rows in lists of some, few of which are alive at once."""
    each = iter(rows)
    return iter(lambda: list(itertools.islice(each, _ROWS)), [])


def csv_rows(path: Path, separator: str, intake: Intake) -> Iterator[list[Row]]:
    """Rows of a CSV file in batches, each with the number of its first line."""
    last = ""

    def numbered() -> Iterator[Row]:
        each = row_blocks(path, intake=intake)
        first = next(each, (1, []))

        def text() -> Iterator[str]:
            nonlocal last
            for _, block in itertools.chain([first], each):
                for last in block:
                    yield last + "\n"

        reader = csv.reader(text(), strict=True, **csv_dialect(first[1], separator))
        while True:
            start = reader.line_num + 1
            try:
                yield start, next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                alone = reader.line_num == start
                if alone and (row := _escaped(last, separator)) is not None:
                    yield start, row
                    continue
                expected = 'head,relation,tail, with " around a name that holds a comma or a quote'
                line = line_at(path, start, intake.options.encoding)
                intake.bad.note(path, start, line, f"not CSV ({error})", expected)

    return batched(numbered())


class Dialect(TypedDict):
    """How cells of CSV are quoted."""

    delimiter: str
    skipinitialspace: bool
    escapechar: NotRequired[str]
    doublequote: NotRequired[bool]


def csv_dialect(lines: Sequence[str], separator: str) -> Dialect:
    r"""How some lines quote: behind blanks (`"Bo",  "Oslo"`; a blank before others is theirs), and
    quotes within quotes by two of them, or `\"so\"` where nothing else can be read.

    >>> csv_dialect(['"Bo",  "Oslo"'], ","), csv_dialect(["Bo, Ltd.,Oslo"], ",")
    ({'delimiter': ',', 'skipinitialspace': True}, {'delimiter': ',', 'skipinitialspace': False})
    >>> csv_dialect([r'"6\'2\"","Oslo"', r'"5\'9\"","Ely"'], ",")["escapechar"]
    '\\'
    """
    behind = re.compile(re.escape(separator) + ' +"')
    plain = Dialect(delimiter=separator, skipinitialspace=any(map(behind.search, lines)))
    escaped: Dialect = {**plain, "escapechar": "\\", "doublequote": False}
    written = any('\\"' in line for line in lines)
    return escaped if written and not _parses(lines, plain) and _parses(lines, escaped) else plain


def _parses(lines: Iterable[str], dialect: Dialect) -> bool:
    try:
        for _ in csv.reader((f"{line}\n" for line in lines), strict=True, **dialect):
            pass
    except csv.Error as error:
        return "end of data" in str(error)  # a cell goes on below
    return True


def _escaped(line: str, separator: str) -> list[str] | None:
    """A line whose quotes within quotes are written \\"so\\", or None."""
    if '\\"' not in line:
        return None
    try:
        options = {"delimiter": separator, "escapechar": "\\", "skipinitialspace": True}
        return next(csv.reader([line], strict=True, doublequote=False, **options))  # pyright: ignore
    except csv.Error:
        return None


_LABELS = frozenset(("rdfs:label", "skos:prefLabel", "foaf:name", "schema:name"))
"""Relations to names, written short."""
_LITERAL = re.compile(r'^"(.*)"(?:@[A-Za-z][\w-]*|\^\^\S+)?$', re.DOTALL)
"""A literal as RDF writes it: its text, language and type."""
_CURIE = re.compile(r"[a-z][a-z0-9]{1,9}:[^\W\d_][^\s:/]*")


class Rows:
    """Takes lines or rows, learns the layout from the first, and feeds the encoder.

    Attributes:
        reading: how a header was taken, in words; "" where it is plain or there is none.
    """

    def __init__(
        self, path: Path, format: str, separator: str, intake: Intake, *, said: bool = True
    ):
        options, self.path = intake.options, path
        self.encoder, self.bad = intake.encoder, intake.bad
        self.format, self.separator, self.by_line = format, separator, options.lines
        self.reading, self.said = "", list[Said]() if said else None
        self.asked, self.provenance = options.columns, options.provenance
        self._intake, self._start = intake, len(self.encoder)
        self.layout: _Layout | None = None
        self.mend: Callable[[list[str]], list[str]] | None = None  # rows that lack a relation
        self._short = set[str]()

    def take(self, batches: Iterable[list[Row]]) -> str:
        """Take the last rows, and the facts for edges, whose ends may be rows of other files; how
        is told."""
        for batch in batches:
            self.rows(batch)
        names = self._intake.names
        for entity in self._short - names.display.keys():
            names.label(entity, entity.partition(":")[2].replace("_", " "))
        self._intake.edges.append(Edges(self._start, len(self.encoder), self.said or ()))
        return self.reading

    def lines(self, first: int, lines: list[str]) -> None:
        """Take unquoted lines, numbered from `first`."""
        if (layout := self.layout) and not self.mend and not layout.beside:
            width = layout.width
            if {line.count(self.separator) for line in lines} == {width - 1}:
                # No list per line: the garbage collector would spend longer on them than we do.
                cells = self.separator.join(lines).split(self.separator)
                columns = [list(map(str.strip, cells[at::width])) for at in layout.triple]
                if not any("" in column for column in columns):
                    sources = None if layout.source is None else cells[layout.source :: width]
                    self._encode(range(first, first + len(lines)), columns, sources)
                    return
        self.rows(
            [(number, line.split(self.separator)) for number, line in enumerate(lines, first)]
        )

    def rows(self, rows: list[Row]) -> None:
        """Take split rows."""
        while rows and self.layout is None:
            rows = rows[self._learn(rows[0], rows[1:]) :]
        if not (layout := self.layout):
            return
        rows = [row for row in rows if self._sound(row, layout)]
        if self.mend:
            rows = [(number, self.mend(fields)) for number, fields in rows]
        columns = [[fields[at].strip() for _, fields in rows] for at in layout.triple]
        at = layout.source
        sources = None if at is None else [fields[at] for _, fields in rows]
        numbers = [number for number, _ in rows]
        if self.said is not None and layout.beside:
            for (number, fields), head, relation, tail in zip(rows, *columns):
                told = [(word, fields[place].strip()) for word, place in layout.beside]
                told = [(word, cell) for word, cell in told if cell and cell not in _NOTHING]
                source = "" if at is None else fields[at].strip()
                if self.provenance is True or (self.by_line and at is None):
                    source = f"{self.path.name}:{number}"
                self.said += [((head, relation, tail), told, source)] if told else []
        self._encode(numbers, columns, sources)

    def _encode(
        self, numbers: Sequence[int], columns: list[list[str]], sources: list[str] | None
    ) -> None:
        if self.provenance is True or (self.by_line and sources is None):
            sources = [f"{self.path.name}:{number}" for number in numbers]
        elif sources is not None:
            sources = list(map(str.strip, sources))
        if columns[1] and _CURIE.fullmatch(columns[1][0]):
            columns, sources = self._of_rdf(columns, sources)
        heads, relations, tails = columns
        self.encoder.add(heads, relations, tails, sources)

    def _of_rdf(
        self, columns: list[list[str]], sources: list[str] | None
    ) -> tuple[list[list[str]], list[str] | None]:
        """Facts of a graph of RDF, written short: literals as texts, and labels as names."""
        heads, relations, tails = columns
        tails = [_LITERAL.sub(r"\1", tail) for tail in tails]
        named = {place for place, relation in enumerate(relations) if relation in _LABELS}
        for place in named:
            self._intake.names.label(heads[place], tails[place])
        facts = [place for place in range(len(heads)) if place not in named]
        parts = [[column[place] for place in facts] for column in (heads, relations, tails)]
        self._short.update(filter(_CURIE.fullmatch, (*parts[0], *parts[2])))
        return parts, sources and [sources[place] for place in facts]

    def _learn(self, row: Row, below: list[Row]) -> bool:
        """Learn the layout from a row, unless it is blank or bad; True if the row holds no fact."""
        number, fields = row
        if _blank(fields):
            return True
        fields = fields if self.asked else plain_header(fields)
        words = [field.strip().casefold() for field in fields]
        by_word = None if self.format == "metaqa" else header_columns(words)
        if by_word and not self.asked and _tells_directions(words, by_word[1], below):
            by_word[1] = words.index("label") if "label" in words else by_word[1]
            self.mend = functools.partial(_linked, at=by_word[1])
        elif not (self.asked or by_word or self.format == "metaqa") and is_edge_list(words):
            said = next((words.index(word) for word in _SAID if word in words), len(words))
            ends = next(pair for pair in _EDGES if set(pair) <= set(words))
            by_word = [words.index(ends[0]), said, words.index(ends[1])]
            self.mend = functools.partial(_linked, at=said)
            fields = self.mend(fields)
        header = by_word is not None
        wanted = self.asked or by_word or (0, 1, 2)
        source = None if isinstance(self.provenance, bool) else self.provenance
        if self.provenance is None and by_word and "source" in words:
            at = words.index("source")
            source = None if at in by_word else at
        asked = (*wanted, *(() if source is None else (source,)))
        expected = ("<TAB>" if self.format == "tsv" else self.separator).join(_TRIPLE)
        if self.asked:
            expected = f"head, relation, tail in columns {tuple(self.asked)}"
        exact = self.format == "metaqa" and not self.asked and source is None
        needed = max((at + 1 for at in asked if isinstance(at, int)), default=0)
        if len(fields) < needed or (exact and len(fields) != 3):
            text = self._text(fields)
            why = _fields(len(fields))
            hint = _hint(text, self.format)
            if len(fields) == 2 and not hint:
                hint = "; if each row is a thing and each column a relation, add --format table"
            self.bad.note(self.path, number, text, why, expected + hint)
            return True
        named = [field.strip() for field in fields]
        for column in asked:
            if isinstance(column, str) and column not in named:
                raise JaxkgError(
                    f"{self.path}:{number}: no column {column!r}; the header line has {named}"
                )
        head, relation, tail, *rest = (
            named.index(column) if isinstance(column, str) else column for column in asked
        )
        used = (head, relation, tail, *rest)
        beside = [(name, at) for at, name in enumerate(named) if by_word and at not in used]
        left = [name for name, _ in beside if self.said is None or name.casefold() in _UNSAID]
        said = tuple((name, at) for name, at in beside if name not in left)
        self.layout = _Layout(
            len(words), (head, relation, tail), rest[0] if rest else None, expected, said
        )
        told = [named[at] for at in (head, relation, tail)]
        taken = header or any(isinstance(column, str) for column in asked)
        if taken and [word.casefold() for word in told] != _TRIPLE:
            self.reading = f"{', '.join(told)}: taken as head, relation, tail"
        elif len(fields) > 3 and not by_word and not self.asked and source is None:
            self._refuse_wide(number, [row, *below])
            times = [cells[3].strip() for _, cells in [row, *below] if len(cells) == 4]
            dated = len(fields) == 4 and self.said is not None and all_days(times)
            rest = "the fourth as the time of each" if dated else "the others left out"
            self.reading = (
                f"columns 1 to 3 of {len(fields)} taken as head, relation, tail, {rest}; if each "
                "row is a thing and each column a relation, add --format table"
            )
            if dated:
                self.layout = self.layout._replace(beside=(("time", 3),))
        told = [f"{', '.join(left)} left out"] if any(left) else []
        told += [f"{', '.join(name for name, _ in said)} said of each"] if said else []
        self.reading = "; ".join(filter(None, [self.reading, *told]))
        if self.mend and relation < len(words):
            self.reading += f"; directions and blank relations read as {LINKED!r}"
        return taken

    def _refuse_wide(self, number: int, rows: list[Row]) -> None:
        """Refuse rows of many columns without a header whose second is no relation.

        Raises:
            JaxkgError: they are.
        """
        width = len(rows[0][1])
        some = [fields for _, fields in rows if len(fields) == width]
        heads, relations, _, *rest = ({cell.strip() for cell in column} for column in zip(*some))
        coded = any(cell[:1] in ("{", "[") for column in rest for cell in column)
        if width > 5 or coded or len(relations) > len(heads) or all(map(is_value, relations)):
            raise JaxkgError(
                f"{self.path}:{number}: {width} columns without a header, and the second column "
                f"({self._text(rows[0][1])[:80]!r}) is no relation: write the names of the columns "
                "in the first line, or name head, relation and tail by --columns"
            )

    def _sound(self, row: Row, layout: _Layout) -> bool:
        number, fields = row
        head, relation, tail = layout.triple
        needed = (head, tail) if self.mend else (head, relation, tail)
        if self.separator == "\t" and layout.beside and len(fields) > max(layout.triple):
            fields += [""] * (layout.width - len(fields))  # the last cells may be missing
        if len(fields) == layout.width and all(fields[at].strip() for at in needed):
            return True
        if not _blank(fields):
            text = self._text(fields)
            why, hint = "a blank name", "; in a table the first line names every column"
            hint = "" if len(self.encoder) else hint
            if len(fields) != layout.width:
                why = f"{_fields(len(fields))} where the first line has {layout.width}"
                hint = _hint(text, self.format)
            self.bad.note(self.path, number, text, why, layout.expected + hint)
        return False

    def _text(self, fields: list[str]) -> str:
        return self.separator.join(fields).rstrip("\r")


def _tells_directions(words: list[str], at: int, below: list[Row]) -> bool:
    """Whether a column called type holds but directions, as of Gephi's edges."""
    if words[at] != "type":
        return False
    cells = {fields[at].strip() for _, fields in below if at < len(fields)}
    return bool(cells) and cells <= DIRECTIONS


def _linked(fields: list[str], at: int) -> list[str]:
    """A row with a relation, where its cell is blank or a direction, or there is no such column."""
    said = fields[at].strip() if at < len(fields) else ""
    return fields if said not in {"", *DIRECTIONS} else [*fields[:at], LINKED, *fields[at + 1 :]]


def _blank(fields: list[str]) -> bool:
    return not fields or (len(fields) == 1 and not fields[0].strip())


def _fields(count: int) -> str:
    return "1 field" if count == 1 else f"{count} fields"


def _hint(text: str, format: str) -> str:
    for other, separator in SEPARATORS.items():
        if other != format and text.count(separator) >= 2:
            return f"; the line looks like the format {other!r}"
    if text.count(SEPARATORS[format]) > 2 and format != "csv":
        return "; names that hold the separator need CSV with quotes, or JSON lines"
    return ""
