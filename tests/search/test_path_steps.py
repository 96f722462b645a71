"""The beam over relation paths against all paths in plain Python."""

import math

import numpy as np
import pytest

from jaxkg.kg import KnowledgeGraph
from jaxkg.search.path_steps import step_paths
from jaxkg.tensors import tensor_graph
from jaxkg.types import NULL


class _Told:
    """Logits from a table by branch and by the relations so far, as a number."""

    def __init__(self, size: int, branches: int) -> None:
        self.size, self.branches = size, branches

    def logits(self, branch: int, code: int) -> np.ndarray:
        return np.random.default_rng((branch, code)).normal(size=self.size + 1).astype(np.float32)

    def begin(self):
        every = range(self.branches)
        return np.zeros((self.branches, 1)), np.stack([self.logits(b, 0) for b in every])

    def go_on(self, branch, state, relation):
        code = state[:, 0] * (self.size + 1) + relation + 1
        rows = zip(branch.tolist(), code.astype(int).tolist())
        return code[:, None], np.stack([self.logits(*row) for row in rows])


def _every_path(kg, starts, scorer, branch, hops):
    size, found = kg.num_relations, {}
    triples = kg.triples.tolist()

    def grow(nodes, path, code, score):
        logits = scorer.logits(branch, code)
        ends = {}
        for head, relation, tail in triples if len(path) < hops else ():
            for here, there in ((head, tail), (tail, head)):
                if here in nodes:
                    ends.setdefault(relation, set()).add(there)
        offered = [*ends, *([size] if path else [])]
        total = math.log(sum(math.exp(logits[r]) for r in offered)) if offered else 0.0
        if path:
            found[path] = score + logits[size] - total
        for relation, there in ends.items():
            if new := there - set(starts):
                gain = score + logits[relation] - total
                grow(new, (*path, relation), code * (size + 1) + relation + 1, gain)

    grow(set(starts), (), 0, 0.0)
    return found


@pytest.mark.parametrize("hops", [1, 3])
def test_a_wide_beam_finds_every_path(hops):
    draw = np.random.default_rng(3)
    rows = sorted({tuple(row) for row in draw.integers(0, (12, 4, 12), (30, 3)).tolist()})
    kg = KnowledgeGraph.from_triples([(f"e{h}", f"r{r}", f"e{t}") for h, r, t in rows])
    branches = [[0], [1, 2], [], [5]]
    scorer = _Told(kg.num_relations, len(branches))
    found = step_paths(tensor_graph(kg), branches, scorer, hops=hops, width=200)
    assert found.complete.all()
    for branch, starts in enumerate(branches):
        wanted = _every_path(kg, starts, scorer, branch, hops)
        there = np.isfinite(found.score[branch])
        paths = [tuple(r for r in row if r != NULL) for row in found.relations[branch].tolist()]
        got = dict(zip(paths, found.score[branch][there].tolist()))
        assert got.keys() == wanted.keys()
        assert all(math.isclose(got[path], wanted[path], abs_tol=1e-4) for path in wanted)
        assert np.all(np.diff(found.score[branch][there]) <= 0)
    assert len(_every_path(kg, [1, 2], scorer, 1, hops)) > 1


def test_a_narrow_beam_keeps_the_best_and_says_what_it_cut():
    kg = KnowledgeGraph.from_triples([("a", f"r{i % 3}", f"b{i}") for i in range(9)])
    scorer = _Told(3, 1)
    whole = step_paths(tensor_graph(kg), [[0]], scorer, hops=2, width=50)
    some = step_paths(tensor_graph(kg), [[0]], scorer, hops=2, width=1, most_nodes=2)
    assert not some.complete[0]
    assert whole.complete[0]
    logits = scorer.logits(0, 0)[:3]
    assert some.relations[0, 0, 0] == int(np.argmax(logits))
