"""Files of a megabyte at most, in every format: what a reader of files may be given."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

_MEGABYTE = 1_000_000
SAMPLES = Path(__file__).parents[2] / "tests" / "kg" / "files" / "foreign" / "samples"


def megabytes() -> Iterator[tuple[str, bytes]]:
    """Files of a megabyte at most, by name: every foreign sample repeated, and made ones."""
    for path in sorted(SAMPLES.rglob("*")):
        if path.is_file() and (data := path.read_bytes()):
            head, body = data[: len(data) // 2], data[len(data) // 2 :]
            yield f"again-{path.name}", (data * (_MEGABYTE // len(data) + 1))[:_MEGABYTE]
            middle = body[: len(body) // 2] * (_MEGABYTE // len(data) + 1)
            yield f"middle-{path.name}", (head + middle)[: _MEGABYTE - len(body)] + body
    lines = gzip.compress(b"a\tb\tc\n" * 1_000_000, 9)
    yield "equal.tsv.gz", (lines * (_MEGABYTE // len(lines) + 1))[:_MEGABYTE]
    yield "layers.tsv.gz", gzip.compress(gzip.compress(bytes(1 << 28), 9), 9)
    yield "facts.tsv", b"".join(b"%x\tr\t%x\n" % (n, n + 1) for n in range(83_000))
    yield "relations.tsv", b"".join(b"a\tr%x\tb\n" % n for n in range(100_000))
    yield "columns.csv", b",".join(b"c%d" % n for n in range(140_000)) + b"\n1,2\n"
    yield "rows.csv", b"a,b\n" + b"1,2\n" * 249_000
    yield "brackets.json", b"[" * 500_000 + b"]" * 500_000
    yield "objects.json", b"[" + b'{"":{}},' * 120_000 + b"{}]"
    yield "keys.json", b"{" + b",".join(b'"%x":1' % n for n in range(100_000)) + b"}"
    yield "deep.xml", b"<a>" * 140_000 + b"</a>" * 140_000
    yield "wide.xml", b"<a>" + b"<b c='1'/>" * 99_000 + b"</a>"
    yield "prefixes.ttl", b"".join(b"@prefix p%x: <u:%x>.\n" % (n, n) for n in range(40_000))
    yield "blank.ttl", b"<u:a> <u:b> " + b"[<u:c> " * 110_000 + b"1" + b"]" * 110_000 + b" ."
    yield "list.ttl", b"<u:a> <u:b> (" + b"1 " * 490_000 + b") ."
    yield "edges.dot", b"graph {" + b"a--b;" * 190_000 + b"}"
    yield "deep.toml", b"[" + b".".join(b"a" for _ in range(490_000)) + b"]\n"
    yield "letters.md", b"# a\n" + b"[[" * 490_000
