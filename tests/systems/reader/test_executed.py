"""What a reading is said to denote is what its query comes to, as an answer executes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lib.own import unpacked

from jaxkg.experiments.loading import load_graph
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.settings import ReaderSettings

OWN = Path(__file__).parents[3] / "scripts" / "own" / "graphs.tar.xz"
GRAPHS = (
    *("apiaries", "art", "campaign", "conference", "hotel", "plant"),
    *("airline", "brewery", "council", "archery"),
)
"""Of every form; the first and the third tell classes by several relations."""


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
def test_readings_denote_what_their_queries_come_to(name):
    folder = unpacked(OWN) / name
    kg = load_graph(next(folder.glob("facts.*")))
    readings = Readings(kg, None, ReaderSettings())
    sets = QuerySets(kg, readings.vocabulary.values, readings.vocabulary.around)
    lines = (folder / "choose.jsonl").read_text("utf-8").splitlines()
    looked_at = 0
    for line in lines:
        for one in readings.of(readings.asked(json.loads(line)["question"])):
            found = sets.execute(one.query)
            assert found.words == one.result, one.query
            if not found.words:
                assert found.rows.tolist() == sorted(one.ends.tolist()), one.query
            looked_at += 1
    assert looked_at > 10 * len(lines)
