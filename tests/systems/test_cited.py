import pytest

from jaxkg.answer import Answer
from jaxkg.cite import cite_path
from jaxkg.kg import KnowledgeGraph
from jaxkg.records import PlanCandidate, RankedEntity
from jaxkg.systems.cited import by_mass, only_behind_answers


@pytest.mark.parametrize("directed", [False, True])
def test_only_what_stands_behind_answers_is_shown(directed):
    kg = KnowledgeGraph.from_triples(
        [("Alien", "by", "Scott"), ("Alien", "written_by", "Hill"), ("Legend", "by", "Scott")]
    )
    there = cite_path(kg, [0, 2], [False, True], id="p1", score=0.9)
    aside = cite_path(kg, [1], [False], id="p2", score=0.1)
    steps = (("by", "^by"), ("by", "by"), ("written_by",))
    answer = Answer(
        "which else?",
        entities=(RankedEntity("Legend", "Legend", 0.9, ("p1",)),),
        paths=(there, aside),
        plan=tuple(PlanCandidate(path, 0.5, 1, True) for path in steps),
    )
    shown = only_behind_answers(answer, directed=directed)
    assert [path.id for path in shown.paths] == ["p1"]
    # Without directions a plan's two steps "by" are walked forth and back.
    assert [some.used for some in shown.plan] == [directed, not directed, False]


def test_nodes_without_a_name_are_answers_where_there_is_no_other():
    kg = KnowledgeGraph.from_triples([("Heat", "by", "Mann"), ("Heat", "role", "m.0abc12")])
    paths = [cite_path(kg, [row], [False], id=f"p{row}", score=0.5 + row) for row in (0, 1)]
    ends = [kg.entity(path.end[0]) for path in paths]
    assert [each.entity for each in by_mass(kg, ends, paths, named=True)] == ["Mann"]
    assert [each.entity for each in by_mass(kg, ends, paths)] == ["m.0abc12", "Mann"]
    assert [e.entity for e in by_mass(kg, ends[1:], paths[1:], named=True)] == ["m.0abc12"]
