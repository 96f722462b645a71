"""Readers of a few facts, by letters alone, and what they answer."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jaxkg.cite import check
from jaxkg.kg import KnowledgeGraph, read_graph
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.sets.candidate import Candidate
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader
from jaxkg.text import HashingEncoder

Facts = Iterable[tuple[str, str, str]]


def readings_of(facts: Facts, **settings: Any) -> Readings:
    """Without vectors."""
    return Readings(KnowledgeGraph.from_triples(facts), None, ReaderSettings(**settings))


def reader_of(facts: Facts, **settings: Any) -> Reader:
    kg = KnowledgeGraph.from_triples(facts)
    return Reader.build(kg, HashingEncoder(), settings=ReaderSettings(**settings))


def tables_read(folder: Path, files: Mapping[str, str]) -> Readings:
    """Readings of files that are written into a folder."""
    for name, text in files.items():
        (folder / name).write_text(text)
    return Readings(read_graph(folder), None, ReaderSettings())


def names_of(kg: KnowledgeGraph, candidate: Candidate) -> set[str]:
    """What a reading answers: a number or a truth, else the names of its ends."""
    return {candidate.result} if candidate.result else set(map(kg.name, candidate.ends.tolist()))


def answers_of(readings: Readings, question: str) -> list[set[str]]:
    """What each reading of a question answers."""
    return [names_of(readings.kg, one) for one in readings.of(readings.asked(question))]


def cited(reader: Reader, question: str) -> list[str]:
    """Names of the answer, whose citations hold."""
    answer = reader.ask(question)
    assert check(reader.kg, answer) == ()
    return [entity.name for entity in answer.entities]
