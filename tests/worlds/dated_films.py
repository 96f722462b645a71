"""A graph of films, made twice over: for tests of Python, and as files for the command."""

import json
from pathlib import Path

from jaxkg.kg import KnowledgeGraph


def films(count=12):
    """Films with a director, who has a birthplace, and a year."""
    triples = []
    for n in range(count):
        triples += [
            (f"film {n}", "directed_by", f"person {n % 5}"),
            (f"film {n}", "release_year", str(1990 + n % 3)),
        ]
    return KnowledgeGraph.from_triples(
        triples + [(f"person {n}", "born_in", f"town {n % 2}") for n in range(5)]
    )


def film_files(folder: Path) -> tuple[list, list]:
    """Options naming a graph of films and questions about it, both written to a folder."""
    facts = [f"film{i}\tdirected by\tperson{i % 5}" for i in range(15)]
    facts += [f"person{i}\tborn in\ttown{i % 3}" for i in range(5)]
    (folder / "kg.tsv").write_text("\n".join(facts) + "\n")
    lines = [
        json.dumps(
            {"id": f"q{i}", "question": f"who made film{i}", "topics": [f"film{i}"],
             "answers": [f"person{i % 5}"]}
        )
        for i in range(15)
    ]  # fmt: skip
    (folder / "q.jsonl").write_text("\n".join(lines) + "\n")
    return ["--kg", folder / "kg.tsv"], ["--questions", folder / "q.jsonl"]
