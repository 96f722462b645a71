import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.neighbourhood import Neighbourhood

TRIPLES = st.sets(
    st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=30
)


@given(TRIPLES)
def test_is_what_the_triples_say(triples):
    kg = KnowledgeGraph.from_triples((f"e{h}", f"r{r}", f"e{t}") for h, r, t in triples)
    around, inverse = Neighbourhood(kg), kg.num_relations
    edges = [(h, r, t, row) for row, (h, r, t) in enumerate(kg.triples.tolist())]
    edges += [(t, r + inverse, h, row) for h, r, t, row in edges]
    for node in range(kg.num_entities):
        mine = [edge for edge in edges if edge[0] == node]
        at = np.array([node])
        assert sorted(zip(*(column.tolist() for column in around.edges(at)))) == sorted(mine)
        assert around.degree(node) == around.degree(at) == len(mine)
        counts, ends = around.relations(node), around.ends(at)
        assert set(counts) == set(ends) == {code for _, code, _, _ in mine}
        for code, count in counts.items():
            reached = [(end, row) for _, c, end, row in mine if c == code]
            assert count == len(reached)
            assert around.triples(node, code).tolist() == sorted(row for _, row in reached)
            assert ends[code].tolist() == sorted({end for end, _ in reached})
            source, end = around.pairs(at, code)
            assert set(source.tolist()) == {node}
            assert sorted(end.tolist()) == sorted(end for end, _ in reached)


def test_ends_of_many_groups_are_those_of_each():
    rng = np.random.default_rng(0)
    rows = [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in rng.integers(0, (12, 4, 12), (60, 3))]
    kg = KnowledgeGraph.from_triples(rows)
    around, total = Neighbourhood(kg), kg.num_relations
    groups = [rng.choice(kg.num_entities, n, replace=False) for n in (1, 3, 0, 5)]
    same = np.arange(2 * total)
    same[total + 1] = 1  # the second relation holds both ways
    for counts in (None, same):
        place, codes, starts, ends = around.ends_of_each(groups, counts)
        found = [{} for _ in groups]
        for at, code, some in zip(place.tolist(), codes.tolist(), np.split(ends, starts[1:])):
            found[at][code] = some.tolist()
        for group, told in zip(groups, found):
            expected = {}
            for head, relation, tail in kg.triples.tolist():
                for node, code, end in ((head, relation, tail), (tail, relation + total, head)):
                    if node in group:
                        counted = code if counts is None else int(counts[code])
                        expected.setdefault(counted, set()).add(end)
            assert told == {code: sorted(some) for code, some in expected.items()}
            assert list(told) == sorted(told)
