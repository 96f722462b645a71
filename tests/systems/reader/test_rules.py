"""Rules by name: what is left out does nothing, what changes something is counted."""

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader import contradictions
from jaxkg.systems.reader.rules import REWRITINGS, named, rules
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader
from jaxkg.text import HashingEncoder

KG = KnowledgeGraph.from_triples(
    [
        ("Anna", "age", "41"),
        ("Anna", "works for", "Quill"),
        ("Bert", "age", "37"),
        ("Bert", "works for", "Quill"),
    ]
)


def reader(without=""):
    return Reader.build(KG, HashingEncoder(), settings=ReaderSettings(without=without))


def test_every_rule_has_a_name_and_a_kind():
    kinds = rules()
    assert {kinds[named(rule)] for rule in contradictions.RULES} == {"contradiction"}
    assert {kinds[name] for name in REWRITINGS} == {"rewriting"}
    assert {"turned-about", "of-another-class"} <= {n for n, k in kinds.items() if k == "veto"}


def test_a_rule_that_is_left_out_does_nothing_and_is_not_counted():
    text = "I wonder a lot. What age has Anna?"
    full, bare = reader(), reader("asides, spelling")
    plain = full.readings.asked(text)
    assert full.readings.rules.fires["asides"]
    assert "wonder" not in plain.cues.words.folded
    assert "wonder" in bare.readings.asked(text).cues.words.folded
    assert not bare.readings.rules.fires["asides"]


def test_a_contradiction_withholds_unless_it_is_left_out():
    def denied(some):
        asked = some.readings.asked("What is the phone number of Anna?")
        found = some.readings.of(asked)
        works = next(one for one in found if some.kg.relation_name(one.last) == "works for")
        return contradictions.contradicted(asked, works, some.readings.find)

    full = reader()
    assert denied(full)
    assert full.readings.rules.fires["written-otherwise"] == 1
    assert not denied(reader("written-otherwise"))


def test_a_name_that_is_none_is_refused():
    with pytest.raises(
        JaxkgError, match=r"no part 'grammar' to leave out; it has .*length.*asides"
    ):
        reader("length,grammar")
