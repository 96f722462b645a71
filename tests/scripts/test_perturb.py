"""Perturbations do what they say, to what they say, and nothing else."""

import numpy as np
import pytest
from lib.damage import perturb
from lib.damage.rewording import FUNCTION_WORDS, SYNONYMS, drop_words, move_words

from jaxkg.errors import JaxkgError
from jaxkg.evaluate.synthetic.world import remove_facts
from jaxkg.kg import demo_graph, demo_questions
from jaxkg.records import Question

GRAPH = demo_graph()
ASKED = Question("q", "who wrote the film The Big Lebowski?", mention=(19, 35))


def facts(graph):
    return {graph.triple(row) for row in range(graph.num_triples)}


def test_facts_removed_are_removed_at_every_larger_share():
    levels = [remove_facts(GRAPH, share, seed=2) for share in (0, 0.2, 0.5, 0.99)]
    kept = [facts(graph) for graph in levels]
    assert kept[0] == facts(GRAPH)
    assert kept[0] > kept[1] > kept[2] > kept[3]
    assert [len(some) for some in kept[:3]] == [979, 783, 490]
    for graph, some in zip(levels, kept):
        assert graph.relations == GRAPH.relations
        assert set(graph.entity_ids) == {end for head, _, tail in some for end in (head, tail)}
        names = {id: graph.name(graph.entity(id)) for id in graph.entity_ids}
        assert names == {id: GRAPH.name(GRAPH.entity(id)) for id in graph.entity_ids}
        row = graph.num_triples // 2
        old = int(GRAPH.find(*(np.array(code) for code in _codes(graph.triple(row)))))
        assert graph.source(row) == GRAPH.source(old)
    united = levels[1]
    assert (
        united.aliases[united.entity("United States")]
        == GRAPH.aliases[GRAPH.entity("United States")]
    )
    assert facts(remove_facts(GRAPH, 0.5, seed=3)) != kept[2]
    with pytest.raises(JaxkgError, match=r"in \[0, 1\), not 1"):
        remove_facts(GRAPH, 1)


def _codes(triple):
    head, relation, tail = triple
    return GRAPH.entity(head), GRAPH.relation_code(relation), GRAPH.entity(tail)


def test_relations_renamed_keep_their_facts():
    names = perturb.opaque_names(GRAPH, 0.5)
    assert len(names) == 8
    assert names.items() <= perturb.opaque_names(GRAPH, 1).items()
    renamed = perturb.rename_relations(GRAPH, names)
    back = {new: old for old, new in names.items()}
    assert {(h, back.get(r, r), t) for h, r, t in facts(renamed)} == facts(GRAPH)
    assert renamed.name(renamed.entity("Steve McQueen (actor)")) == "Steve McQueen"
    assert len(renamed.aliases) == len(GRAPH.aliases)
    old, new = next(iter(names.items()))
    question = Question("q", "?", paths=((f"^{old}", "no_such"),))
    assert perturb.rename_paths(question, names).paths == ((f"^{new}", "no_such"),)
    with pytest.raises(JaxkgError, match="same name"):
        perturb.rename_relations(GRAPH, {"directed_by": "written_by"})
    with pytest.raises(JaxkgError, match="no relation 'painted_by'"):
        perturb.rename_relations(GRAPH, {"painted_by": "x"})


def distance(one, other):
    """Edits with swaps of neighbours."""
    table = {(-1, -1): 0}
    for i in range(len(one) + 1):
        for j in range(len(other) + 1):
            ways = [0] if i == j == 0 else []
            if i:
                ways.append(table[i - 1, j] + 1)
            if j:
                ways.append(table[i, j - 1] + 1)
            if i and j:
                ways.append(table[i - 1, j - 1] + (one[i - 1] != other[j - 1]))
            if i > 1 and j > 1 and (one[i - 1], one[i - 2]) == (other[j - 2], other[j - 1]):
                ways.append(table[i - 2, j - 2] + 1)
            table[i, j] = min(ways)
    return table[len(one), len(other)]


@pytest.mark.parametrize("edits", [0, 1, 2])
def test_a_typo_is_in_the_topic_alone(edits):
    kinds = set()
    for number in range(40):
        question = Question(f"q{number}", ASKED.text, ("x",), ("y",), mention=ASKED.mention)
        changed = perturb.misspell(question, edits, seed=1)
        assert changed.text.startswith("who wrote the film T")
        assert changed.text.endswith("?")
        name = changed.text[19:-1]
        far = distance("The Big Lebowski", name)
        assert far == edits if edits < 2 else far <= 2
        kinds.add(len(name) - len("The Big Lebowski"))
        assert (changed.topics, changed.mention, changed.answers) == ((), None, ("y",))
        assert perturb.misspell(question, edits, seed=1) == changed
    assert kinds == {0: {0}, 1: {-1, 0, 1}, 2: kinds}[edits]


def test_where_there_is_no_letter_to_miss():
    year = Question("q", "what came out in 1982?", mention=(17, 21))
    assert perturb.misspell(year, 3).text == year.text


def test_the_topic_is_found_by_its_name():
    bare = Question("q", "who wrote the big lebowski?", topics=("m.1",))
    assert perturb.topic_span(bare, "The Big Lebowski") == (10, 26)
    with pytest.raises(JaxkgError, match="question 'q': its topic is not found"):
        perturb.topic_span(bare)


def test_an_unknown_topic_is_unknown():
    changed = perturb.unknown_topic(ASKED, ())
    start, end = 19, -1
    name = changed.text[start:end]
    assert changed.text == f"who wrote the film {name}?"
    assert (changed.topics, changed.answers, changed.paths) == ((), (), ())
    assert perturb.unknown_topic(ASKED, {name}).text[start:end] != name

    class Everything:
        def __contains__(self, name):
            return True

    with pytest.raises(JaxkgError, match="no name was found"):
        perturb.unknown_topic(ASKED, Everything())


def test_a_paraphrase_leaves_the_topic_alone():
    for question in demo_questions():
        span = perturb.topic_span(question)
        topic = question.text[slice(*span)]
        for strength in (1, 2, 3):
            changed = perturb.paraphrase(question, strength)
            assert changed.mention is not None
            assert changed.text[slice(*changed.mention)] == topic
            assert (changed.topics, changed.answers) == (question.topics, question.answers)
        assert perturb.paraphrase(question, 0) is question


def test_the_ways_to_paraphrase():
    one = perturb.paraphrase(ASKED, 1).text
    told, other = one.split(" the ")[0], one.split(" the ")[1]
    assert told.split()[-1] in {word for some in SYNONYMS["wrote"] for word in some.split()}
    assert other.split(" The")[0] in SYNONYMS["film"]
    assert one.endswith(" The Big Lebowski?")
    assert set(SYNONYMS).isdisjoint(FUNCTION_WORDS - {"which", "who"})
    rng = np.random.default_rng(0)
    words = ["who", "was", "the", "director", "of"]
    assert drop_words(words, 1.0, rng) == ["director"]
    assert drop_words(words, 0.0, rng) == words
    assert move_words(["who"], ["?"], rng) == (["who"], ["?"])
    before, after = move_words(["who", "wrote"], ["today?"], rng)
    assert (before, after) == (["wrote"], ["today", "who"])
    with pytest.raises(JaxkgError, match="0, 1, 2 or 3"):
        perturb.paraphrase(ASKED, 4)
