import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.records import Question
from jaxkg.systems.reader.corrections import kept_corrections
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader
from jaxkg.text import HashingEncoder

FACTS = [
    *[("Apollo", "project lead", "Mei Tanaka"), ("Apollo", "sponsor", "Acme")],
    *[("Hermes", "project lead", "Omar Diaz"), ("Hermes", "sponsor", "Bolt")],
]
UNSURE = ReaderSettings(threshold=1.01)
ASKED = Question("1", "who runs Apollo?")


@pytest.fixture
def graph(tmp_path, monkeypatch) -> KnowledgeGraph:
    monkeypatch.setenv("JAXKG_CACHE", str(tmp_path))
    return KnowledgeGraph.from_triples(FACTS)


def again(graph: KnowledgeGraph) -> Reader:
    return Reader.build(graph, HashingEncoder(), corrections=kept_corrections(graph))


def test_the_reading_said_to_be_right_is_gone_by_from_then_on(graph):
    settings = ReaderSettings(threshold=0.99)
    reader = Reader.build(graph, HashingEncoder(), settings=settings, corrections=())
    before = reader.ask(ASKED.text)
    assert before.abstained
    number = [other.preview for other in before.readings].index(("Acme",)) + 1
    reader.correct(ASKED, number)
    for text, sponsor in (("Who runs  apollo", "Acme"), ("who runs Hermes?", "Bolt")):
        for one in (reader, again(graph)):
            answer = one.ask(text)
            assert [entity.name for entity in answer.entities] == [sponsor]
            assert any("you said of 'who runs Apollo?'" in note for note in answer.notes)
    assert again(graph).understand(ASKED.text).confidence == 1.0
    other = again(graph).ask("who is the project lead of Apollo?")
    assert [entity.name for entity in other.entities] == ["Mei Tanaka"]


def test_what_was_said_last_counts_and_the_answer_itself_is_number_0(graph):
    reader = again(graph)
    reader.correct(ASKED, 1)
    first = reader.ask(ASKED.text)
    reader.correct(ASKED, 0)
    assert reader.ask(ASKED.text).entities == first.entities
    reader.correct(ASKED, 1)
    assert reader.ask(ASKED.text).entities != first.entities
    assert len(kept_corrections(graph)) == 1
    with pytest.raises(JaxkgError, match="which has numbers 0 to"):
        reader.correct(ASKED, 9)
    with pytest.raises(JaxkgError, match="which has numbers 1 to"):
        Reader.build(graph, HashingEncoder(), settings=UNSURE).correct(ASKED, 0)


def test_of_a_graph_that_lost_the_reading_or_has_other_relations_nothing_is_said(graph):
    again(graph).correct(ASKED, 1)
    lost = KnowledgeGraph.from_triples(FACTS[2:])
    assert len(kept_corrections(lost)) == 1
    assert not any("you said" in note for note in again(lost).ask(ASKED.text).notes)
    assert kept_corrections(KnowledgeGraph.from_triples([("a", "b", "c")])) == ()


def test_a_line_that_is_no_correction_is_told(graph, tmp_path):
    again(graph).correct(ASKED, 1)
    [path] = (tmp_path / "corrections").iterdir()
    path.write_text(path.read_text() + '{"question": "who?"}\n')
    with pytest.raises(JaxkgError, match=r"jsonl:2: is no correction .*jaxkg cache clear"):
        kept_corrections(graph)
