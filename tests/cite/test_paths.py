import dataclasses
import random
from typing import Any

import numpy as np
import pytest

from jaxkg.answer import Answer
from jaxkg.cite import check_all, cite_path, cite_paths
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.records import Citation, Link, RankedEntity, SupportingPath

FACTS = [
    ("Alien", "directed_by", "Ridley Scott"),
    ("Blade Runner", "directed_by", "Ridley Scott"),
    ("Blade Runner", "starred", "Harrison Ford"),
]


@pytest.fixture
def kg():
    return KnowledgeGraph.from_triples(
        FACTS,
        names={"Alien": "Alien (1979)"},
        provenance=["films.tsv:1", None, "films.tsv:3"],
    )


def test_a_path_carries_the_graphs_own_triples_in_walking_order(kg):
    half: Any = np.float32(0.5)
    path = cite_path(kg, [0, 1, 2], [False, True, False], id="p7", score=half)
    assert path == SupportingPath(
        id="p7",
        citations=(
            Citation(0, "Alien", "directed_by", "Ridley Scott", "Alien (1979)", "Ridley Scott",
                     False, "films.tsv:1"),
            Citation(1, "Blade Runner", "directed_by", "Ridley Scott", "Blade Runner",
                     "Ridley Scott", True, None),
            Citation(2, "Blade Runner", "starred", "Harrison Ford", "Blade Runner",
                     "Harrison Ford", False, "films.tsv:3"),
        ),
        relation_path=("directed_by", "^directed_by", "starred"),
        score=0.5,
        sentence="Alien (1979), directed by: Ridley Scott; Blade Runner, directed by: "
        "Ridley Scott; Blade Runner, starred: Harrison Ford",
    )  # fmt: skip
    plain = {type(value) for c in path.citations for value in dataclasses.astuple(c)}
    assert plain == {int, str, bool, type(None)}
    assert type(path.score) is float


def test_many_paths_are_cited_as_each_alone(kg):
    triples = np.array([[0, 1, 2], [2, -1, -1], [2, 1, -1]], np.int32)
    inverse = np.array([[0, 1, 0], [1, 0, 0], [1, 0, 1]], bool)
    lengths = [3, 1, 2]
    together = cite_paths(kg, triples, inverse, ids=["a", "b", "c"], scores=[3, 2, 1])
    alone = [
        cite_path(kg, triples[i, :n].tolist(), inverse[i, :n].tolist(), id="abc"[i], score=3 - i)
        for i, n in enumerate(lengths)
    ]
    assert together == alone
    assert together[1].relation_path == ("^starred",)
    # The same step is the same object; citing many answers stays small.
    assert together[1].citations[0] is together[2].citations[0]
    assert together[0].citations[2] is not together[1].citations[0]


@pytest.mark.parametrize(
    ("triples", "inverse", "says"),
    [
        ([[0, 2]], [[False, False]], r"'p1' breaks between triples 0 and 2.*'Ridley Scott'.*'Bl"),
        ([[0, 1]], [[False, False]], "breaks between triples 0 and 1"),
        ([[0, 3]], [[False, True]], r"'p1' takes triples the graph has not, its last is 2"),
        ([[-1, -1]], [[False, False]], "'p1' has no triples"),
        ([[-1, 0]], [[False, False]], "'p1' has no triples"),
        ([[0, -1, 1]], [[False, False, True]], "goes on after its end"),
        ([[0, -2]], [[False, True]], "negative row other than -1"),
        ([[0.0]], [[False]], "integers and inverse bool, got float64 and bool"),
        ([[0]], [[0]], "integers and inverse bool, got int64 and int64"),
        ([[0, 1]], [[False]], r"one shape .* got \(1, 2\) and \(1, 1\)"),
        ([0], [False], "one shape"),
        ([[]], [[]], "one shape"),
    ],
)
def test_a_walk_that_is_none_is_refused(kg, triples, inverse, says):
    with pytest.raises(JaxkgError, match=says):
        cite_paths(kg, triples, inverse, ids=["p1"], scores=[1.0])


def test_random_walks_of_random_graphs_are_grounded():
    """Named and unnamed nodes, homonyms, loops and revisits: what is cited passes the check."""
    for seed in range(20):
        draw = random.Random(seed)
        ids = [f"m.0{n}" for n in range(6)] + [f"n{n}" for n in range(6)]
        facts = {(draw.choice(ids), draw.choice("rst"), draw.choice(ids)) for _ in range(40)}
        names = {f"n{n}": draw.choice(["Ann", "Bob", "Cy\nrus"]) for n in range(6)}
        used = {end for head, _, tail in facts for end in (head, tail)}
        kg = KnowledgeGraph.from_triples(
            sorted(facts), names={k: v for k, v in names.items() if k in used}
        )
        rows, inverse, starts, ends = [], [], [], []
        for _ in range(30):
            at = start = draw.randrange(kg.num_entities)
            walk, back = [], []
            for _ in range(draw.randint(1, 4)):
                steps = [
                    (row, way, there)
                    for row, (head, _, tail) in enumerate(kg.triples.tolist())
                    for way, here, there in ((False, head, tail), (True, tail, head))
                    if here == at
                ]
                row, way, at = draw.choice(steps)
                walk.append(row)
                back.append(way)
            rows.append(walk + [-1] * (4 - len(walk)))
            inverse.append(back + [False] * (4 - len(back)))
            starts.append(start)
            ends.append(at)
        paths = cite_paths(kg, rows, inverse, ids=["p1"] * 30, scores=np.ones(30))
        answers = [
            Answer(
                "?",
                topics=(Link(kg.entity_ids[start], kg.name(start), 0, 1, 1.0, "given"),),
                entities=(RankedEntity(kg.entity_ids[end], kg.name(end), 1.0, ("p1",)),),
                paths=(path,),
            )
            for start, end, path in zip(starts, ends, paths)
        ]
        assert check_all(kg, answers) == [()] * 30
        for walk, back, path in zip(rows, inverse, paths):
            length = walk.index(-1) if -1 in walk else len(walk)
            told = cite_path(kg, walk[:length], back[:length], id="p", score=1.0)
            assert told.sentence == path.sentence
            assert "\n" not in path.sentence
