"""Pages of the site that are made from the repository: architecture, records, files at its root."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from lib.record import page, records  # noqa: E402

PACKAGE = ROOT / "jaxkg"
KINDS = "table_reader-once-unseen-chat"
COLOURS = ("#1a7f5a", "#c9d1d9", "#c0392b")
FLOORS = (
    ("words and records", ("kg", "text", "wire", "show")),
    ("JAX cores", ("tensors", "ops", "candidates", "score", "select", "search")),
    ("language models", ("adjudicate", "lm")),
    ("answers", ("readings", "cite", "systems")),
    ("training and measuring", ("learn", "evaluate", "experiments")),
    ("entrances", ("cli", "serve")),
)


def imports() -> dict[str, Counter[str]]:
    """For each folder of the package, how many imports it has of each other folder."""
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    arrows: dict[str, Counter[str]] = {folder: Counter() for folder in sorted(folders)}
    for folder, counts in arrows.items():
        for path in (PACKAGE / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jaxkg."):
                    other = str(node.module).split(".")[1]
                    if other != folder and other in folders:
                        counts[other] += 1
    return arrows


def summary(folder: str) -> str:
    """The first sentence of a folder's docstring."""
    text = ast.get_docstring(ast.parse((PACKAGE / folder / "__init__.py").read_text("utf-8")))
    return (text or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def architecture() -> str:
    """The page of folders and of the imports between them."""
    arrows = imports()
    lines = ["graph BT"]
    for number, (title, folders) in enumerate(FLOORS):
        lines.append(f'  subgraph f{number}["{title}"]')
        lines += [f"    {folder}" for folder in folders if folder in arrows]
        lines.append("  end")
    for folder, counts in arrows.items():
        lines += [f"  {folder} --> {other}" for other, count in counts.items() if count >= 3]
    drawing = "\n".join(lines)
    rows = "\n".join(
        f"| `{folder}` | {summary(folder)} | {' '.join(f'`{other}`' for other in sorted(counts))} |"
        for folder, counts in arrows.items()
    )
    return f"""# Architecture

This page is made from the imports of the package. An arrow leads from a folder to one that it
imports at least three times. `tests/test_imports.py` holds which folder may import which.

```mermaid
{drawing}
```

| folder | what it holds | imports |
|---|---|---|
{rows}

The numeric floors (`ops`, `candidates`, `score`, `select`, `search`) are pure functions over padded
arrays. Everything around them is a thin shell: it reads files, builds systems, and prints answers.
"""


def kinds_drawing() -> str:
    """A drawing (SVG) of right, withheld and wrong answers by kind of question, from a record."""
    record = records(ROOT / "scripts")[KINDS]
    rows = [row for row in record["tables"][0]["rows"] if row[0] not in ("all", "share")]
    rows.sort(key=lambda row: -row[1] / sum(row[1:]))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 560 {22 * len(rows) + 34}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for at, (word, colour) in enumerate(zip(("right", "withheld", "wrong"), COLOURS)):
        parts.append(f'<rect x="{130 + 90 * at}" y="8" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{147 + 90 * at}" y="18" fill="#1f2933">{word}</text>')
    for at, (kind, right, wrong, withheld) in enumerate(rows):
        y, left = 30 + 22 * at, 130.0
        parts.append(f'<text x="122" y="{y + 13}" text-anchor="end" fill="#1f2933">{kind}</text>')
        for count, colour in zip((right, withheld, wrong), COLOURS):
            width = 420 * count / (right + wrong + withheld)
            parts.append(
                f'<rect x="{left:.1f}" y="{y}" width="{width:.1f}" height="17" fill="{colour}">'
                f"<title>{kind}: {count}</title></rect>"
            )
            left += width
    return "\n".join([*parts, "</svg>", ""])


def pages() -> dict[str, str]:
    """Text by address of each page that is made."""
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    return {
        "architecture.md": architecture(),
        "records.md": re.sub(r"\]\((?!https?:)[^)]*\)", "]", page(ROOT / "scripts")),
        "contributing.md": re.sub(r"\[([^]]*)\]\((?!https?:)[^)]*\)", r"\1", contributing),
        "changes.md": (ROOT / "CHANGELOG.md").read_text("utf-8"),
    }


def on_files(files, config):
    """Add the pages to the site."""
    from mkdocs.structure.files import File

    for address, text in pages().items():
        files.append(File.generated(config, address, content=text))
    return files
