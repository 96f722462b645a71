import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg.hypergraph.text import chunked, hypergraph_of_text
from jaxkg.kg.link.mentions import NameFinder

DOCUMENTS = [
    ("Alien (film)", "Alien is a 1979 film by Ridley Scott. It was shot at Shepperton Studios."),
    ("Ridley Scott", "Sir Ridley Scott was born in South Shields. The town is near Newcastle."),
]


def test_a_sentence_joins_its_subject_and_what_it_names():
    graph = hypergraph_of_text(DOCUMENTS)
    told = {
        graph.tell(row): [graph.name(e) for e in graph.entities_of(row).tolist()]
        for row in graph.rows_of_kind("fact").tolist()
    }
    assert told["Alien is a 1979 film by Ridley Scott."] == ["Alien (film)", "Ridley Scott", "1979"]
    assert told["It was shot at Shepperton Studios."] == ["Alien (film)", "Shepperton Studios"]
    assert told["The town is near Newcastle."] == ["Ridley Scott", "Newcastle"]
    assert len(graph.rows_of_kind("passage")) == 2
    assert graph.chunk(0).text == DOCUMENTS[0][1]


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        # Two names joined, a name within a longer one, a year, initials that end no phrase.
        ("It stars Amy Poehler and Will Arnett.", {"Amy Poehler", "Will Arnett"}),
        ("Alice was a sister of King Henry III of England.", {"Henry III"}),
        ("He left for Barnsley in 2009.", {"Barnsley", "2009"}),
        ("Wayne plays U.S. Marshal Rooster Cogburn.", {"U.S. Marshal Rooster Cogburn"}),
    ],
)
def test_names_within_longer_phrases_are_found(sentence, named):
    elsewhere = "The crown went to Henry III. A club called Barnsley won."
    graph = hypergraph_of_text([("", sentence), ("", elsewhere)])
    [edge] = [row for row in range(graph.num_edges) if graph.tell(row) == sentence]
    assert named <= {graph.name(row) for row in graph.entities_of(edge).tolist()}


def test_a_word_of_a_name_is_no_name_of_its_own():
    graph = hypergraph_of_text([("", "It is by Ridley Scott. Many people like Scott.")])
    edge = graph.rows_of_kind("fact")[0]
    assert [graph.name(row) for row in graph.entities_of(edge).tolist()] == ["Ridley Scott"]


def test_the_first_word_of_a_sentence_is_a_name_only_if_it_is_one_elsewhere():
    graph = hypergraph_of_text([("", "Towns grow. Newcastle grew. People like Newcastle.")])
    names = set(graph.entity_names)
    assert "Newcastle" in names
    assert not names & {"Towns", "People"}


def test_text_without_names_is_refused():
    with pytest.raises(JaxkgError, match="extract the facts with a language model"):
        hypergraph_of_text([("", "nothing here is written in capitals.")])


def test_long_documents_are_cut_between_sentences():
    chunks = chunked([("A", "One two three. Four five. Six seven eight nine.")], longest=5)
    assert [chunk.text for chunk in chunks] == [
        "One two three. Four five.",
        "Six seven eight nine.",
    ]
    assert [chunk.id for chunk in chunks] == ["0.0", "0.1"]


def test_the_longest_name_is_found_wherever_it_stands():
    finder = NameFinder(["New York", "new york times", "Times", "of", "York"])
    text = "Is the New-York Times of York?"
    found = [(finder.names[m.name], text[m.start : m.end]) for m in finder.find(text)]
    assert found == [("new york times", "New-York Times"), ("York", "York")]
    assert finder.find("Yorkshire") == []
