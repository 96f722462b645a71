"""Synthetic worlds: what they promise holds, counted another way."""

import numpy as np
import pytest

from jaxkg.cli import main
from jaxkg.errors import JaxkgError
from jaxkg.evaluate import synthetic
from jaxkg.evaluate.synthetic.schema import KINDS, NARY
from jaxkg.kg import read_graph, read_questions
from jaxkg.kg.hypergraph.read import read_nary

CONFIG = synthetic.WorldConfig(edges=3000, distractors=15)


@pytest.fixture(scope="module")
def world():
    return synthetic.make_world(CONFIG, seed=3)


def executed(graph, topic, path):
    """The rule of the questions, with sets."""
    steps = {}
    for head, relation, tail in graph.triples.tolist():
        steps.setdefault((head, relation), set()).add(tail)
        steps.setdefault((tail, relation + graph.num_relations), set()).add(head)
    nodes = {topic}
    for name in path:
        code = graph.relation_code(name)
        nodes = set().union(*(steps.get((node, code), ()) for node in nodes)) - {topic}
    return nodes


def test_a_graph_is_as_the_readers_would_make_it(world, tmp_path):
    synthetic.write_triples(world.graph, tmp_path / "facts.tsv")
    assert read_graph(tmp_path / "facts.tsv").fingerprint == world.graph.fingerprint
    assert world.graph.num_triples == 3000
    assert list(tmp_path.iterdir()) == [tmp_path / "facts.tsv"]


def test_facts_join_the_kinds_their_relation_joins(world):
    kinds = list(KINDS)
    head, code, tail = world.full.triples.T
    assert [relation.name for relation in world.relations] == list(world.full.relations)
    for ends, which in ((head, "head"), (tail, "tail")):
        wanted = [kinds.index(getattr(relation, which)) for relation in world.relations]
        assert np.array_equal(world.kind[ends], np.array(wanted)[code])
    assert not np.any(head == tail)
    for row in range(0, world.full.num_entities, 7):
        kind = KINDS[kinds[world.kind[row]]]
        name = world.full.name(row)
        assert name.startswith(kind.prefix)
        assert name.endswith(kind.suffix)


def test_a_seed_decides_all():
    one, same, other = (synthetic.make_world(CONFIG, seed=seed).graph for seed in (3, 3, 4))
    assert one.fingerprint == same.fingerprint != other.fingerprint


def test_questions_are_answered_by_all_facts(world):
    config = synthetic.QuestionConfig(train=40, test=24, hops=(1, 3, 4), paths=4, most_answers=30)
    train, test = synthetic.make_questions(world, config, seed=5)
    assert (len(train), len(test)) == (40, 24)
    assert len({question.id for question in (*train, *test)}) == 64
    assert not {(q.topics, q.paths) for q in train} & {(q.topics, q.paths) for q in test}
    assert [sum(len(q.paths[0]) == hop for q in test) for hop in (1, 2, 3, 4)] == [8, 0, 8, 8]
    distractors = {r.name for r in world.relations if not r.forward}
    assert len(distractors) == 15
    for question in (*train[::3], *test[::2]):
        [topic], [path] = question.topics, question.paths
        assert question.text[slice(*question.mention)] == topic
        found = executed(world.full, world.full.entity(topic), path)
        assert {world.full.entity(answer) for answer in question.answers} == found
        assert 0 < len(found) <= 30
        assert not {relation.removeprefix("^") for relation in path} & distractors
    again, _ = synthetic.make_questions(world, config, seed=5)
    assert again == train


def test_missing_facts_are_still_true():
    config = synthetic.WorldConfig(edges=3000, missing=0.3)
    world = synthetic.make_world(config, seed=3)
    assert world.graph.num_triples == 2100
    asked = synthetic.QuestionConfig(train=0, test=30, hops=(2,), paths=4)
    _, test = synthetic.make_questions(world, asked, seed=3)
    lost = 0
    for question in test:
        wanted = {world.full.entity(answer) for answer in question.answers}
        assert (
            executed(world.full, world.full.entity(question.topics[0]), question.paths[0]) == wanted
        )
        if row := world.graph.entity_ids.rows(question.topics[0]):
            found = executed(world.graph, row[0], question.paths[0])
            ids = {world.graph.entity_ids[entity] for entity in found}
            assert ids <= set(question.answers)
            lost += ids != set(question.answers)
    assert lost > 5


def test_nary_facts_have_the_kinds_of_their_roles(world, tmp_path):
    graph = synthetic.make_hypergraph(world, 120, seed=2)
    assert graph.num_edges == 120
    kinds = list(KINDS)
    for edge, name in enumerate(graph.edge_names):
        members = graph.members[graph.offsets[edge] : graph.offsets[edge + 1]]
        assert [kinds[world.kind[row]] for row in members] == list(NARY[name])
    synthetic.write_nary(graph, tmp_path / "nary.txt")
    again = read_nary(tmp_path / "nary.txt")
    assert again.num_edges == 120
    assert again.tell(7) == graph.tell(7)


def test_what_cannot_be_made(world):
    with pytest.raises(JaxkgError, match="edges is at least 100"):
        synthetic.WorldConfig(edges=10)
    with pytest.raises(JaxkgError, match="skew is in"):
        synthetic.WorldConfig(missing=1.0)
    with pytest.raises(JaxkgError, match=r"hops are in 1 \.\.\. 4, not \(5,\)"):
        synthetic.QuestionConfig(hops=(5,))
    with pytest.raises(JaxkgError, match="ask for fewer, or for a larger graph"):
        synthetic.make_questions(world, synthetic.QuestionConfig(train=10**5))
    with pytest.raises(JaxkgError, match="different facts were found"):
        synthetic.make_world(synthetic.WorldConfig(edges=20_000, degree=50, skew=2.0))
    with pytest.raises(JaxkgError, match="different facts of"):
        synthetic.make_hypergraph(world, 10**6, skew=2.0)


def test_the_command_writes_what_the_readers_read(tmp_path, capsys):
    def synthesize(*arguments):
        with pytest.raises(SystemExit) as stop:
            main(["kg", "synthesize", "-o", str(folder), *arguments])
        return stop.value.code, *capsys.readouterr()

    folder = tmp_path / "made"
    sizes = ("--edges", "1000", "--train", "12", "--test", "6", "--nary", "30")
    code, out, _ = synthesize(*sizes, "--hops", "1,2", "--missing", "0.1")
    assert code == 0
    assert "900 triples), 12 training and 6 test questions" in out
    assert read_graph(folder / "facts.tsv").num_triples == 900
    test = read_questions(folder / "test.jsonl")
    assert [len(question.paths[0]) for question in test] == [1, 1, 1, 2, 2, 2]
    assert all(question.mention for question in test)
    assert len(read_questions(folder / "train.jsonl")) == 12
    assert read_nary(folder / "nary.txt").num_edges == 30
    code, _, err = synthesize("--hops", "two")
    assert code == 2
    assert "write it as numbers with commas" in err
