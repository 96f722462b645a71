import unicodedata

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg import demo_graph, find_topics
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.link.linker import Linker
from jaxkg.kg.questions.read import read_questions
from jaxkg.records import Question
from jaxkg.systems.reader.language.vocabulary import Vocabulary

FILMS = [
    *("Heat", "It", "Who", "Movies", "The Film", "Her", "In Time", "Time Out", "The Matrix"),
    *("The Matrix Reloaded", "You Belong to Me", "Up", "Up!", "Amélie", "1984", "2011"),
    *("Kill Bill: Vol. 2", "Airplane!", "$", "M", "Straße", "英雄"),
]
TAGS = ["police", "film", "director", "about", "actors", "rocky"]
PEOPLE = ["Michael Mann", "Laura", "Laura Harring", "Rocky", "Carl Mann", "Carl Bann"]


@pytest.fixture(scope="module")
def linker():
    triples = [(film, "directed_by", "Michael Mann") for film in FILMS]
    triples += [("Heat", "has_tags", tag) for tag in TAGS]
    triples += [("Heat", "starred_actors", person) for person in PEOPLE]
    triples += [
        ("mcqueen-1", "born_in", "Beech Grove"),
        ("mcqueen-2", "born_in", "London"),
        ("Hunger", "directed_by", "mcqueen-2"),
        ("Shame", "directed_by", "mcqueen-2"),
        ("Police", "has_tags", "london_calling"),
    ]
    return Linker(
        KnowledgeGraph.from_triples(
            triples,
            names={"mcqueen-1": "Steve McQueen", "mcqueen-2": "Steve McQueen"},
            aliases={"Michael Mann": ["Mike Mann"], "London": ["The Big Smoke", "london"]},
        )
    )


def chosen(links):
    return [link.entity for link in links if link.chosen]


def check_order(links, threshold=0.75):
    flags = [link.chosen for link in links]
    assert flags == sorted(flags, reverse=True)
    for group in (True, False):
        scores = [link.score for link in links if link.chosen is group]
        assert scores == sorted(scores, reverse=True)
    assert all(0 <= link.score <= 1 for link in links)
    assert all(link.score >= threshold for link in links if link.chosen)
    assert len({link.entity for link in links}) == len(links)


@pytest.mark.parametrize(
    ("text", "entity", "mention", "method"),
    [
        ("who directed [Heat]?", "Heat", "Heat", "bracket"),
        ("who directed [heat]?", "Heat", "heat", "folded"),
        ("who is [Mike Mann]?", "Michael Mann", "Mike Mann", "alias"),
        ("who is [Micheal Mann]?", "Michael Mann", "Micheal Mann", "fuzzy"),
        ("who directed Heat?", "Heat", "Heat", "exact"),
        ("who directed heat?", "Heat", "heat", "folded"),
        ("what did Mike Mann direct", "Michael Mann", "Mike Mann", "alias"),
        ("what did Micheal Mann direct", "Michael Mann", "Micheal Mann", "fuzzy"),
    ],
)
def test_each_method(linker, text, entity, mention, method):
    links = linker.link(text)
    check_order(links)
    assert chosen(links) == [entity]
    assert text.replace("[", "").replace("]", "")[links[0].start : links[0].end] == mention
    assert links[0].method == method
    assert links[0].name == linker.graph.name(linker.graph.entity(entity))


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("Who directed It?", "It"),
        ("who stars in Her", "Her"),
        ("what is the film Who about", "Who"),
        ("who directed the film Heat", "Heat"),
        ("Who are the actors in the movies about The Matrix?", "The Matrix"),
        ("who directed The Matrix Reloaded", "The Matrix Reloaded"),
        ("who is the director of Time Out", "Time Out"),
        ("who acted in Time Out", "Time Out"),
        ("who directed M", "M"),
        ("who directed $", "$"),
        ("who directed Up!", "Up!"),
        ("who directed Up", "Up"),
        ("which films are about police", "police"),
        ("who wrote 1984", "1984"),
        ("who is the director of heat in 2011", "Heat"),
        ("who wrote the film you belong to me", "You Belong to Me"),
        ("who directed kill bill vol 2?", "Kill Bill: Vol. 2"),
        ("who directed Airplane", "Airplane!"),
        ("who directed london's best film", "London"),
        ("where is Beech   Grove?", "Beech Grove"),
        ("WHO DIRECTED HEAT", "Heat"),
        ("Who Directed Heat", "Heat"),
        ("谁导演了英雄?", "英雄"),
        ("films with Laura Hrring", "Laura Harring"),
        ("where was laura born", "Laura"),
        ("which films by mike  mann exist", "Michael Mann"),
        ("who directed matrx", "The Matrix"),
        ("which police are in Heat", "Heat"),
        ("who made london_calling", "london_calling"),
        ("who made London Calling", "london_calling"),
    ],
)
def test_the_topic_wins_over_the_questions_own_words(linker, text, entity):
    links = linker.link(text)
    check_order(links)
    assert chosen(links)[:1] == [entity], links


@pytest.mark.parametrize(
    "text",
    [
        "who directed it",
        "Who is the director of the film?",
        "It was about what?",
        "which movies are about her",
        "which actors",
        "who directed Het",
        "who shot m",
        "who directed Zarathustra Quinn",
        "who directed [Zarathustra Quinn]",
        "what is the heathen",
        "",
        "???",
    ],
)
def test_nothing_is_chosen_where_nothing_is_named(linker, text):
    links = linker.link(text)
    check_order(links)
    assert chosen(links) == []


def test_near_misses_are_reported(linker):
    [first, *_] = linker.link("who is [Karl Man]")
    assert (first.entity, first.method, first.chosen) == ("Carl Mann", "fuzzy", True)
    strict = Linker(linker.graph, threshold=0.9)
    links = strict.link("who is [Karl Man]")
    assert chosen(links) == []
    assert links[0].entity == "Carl Mann"
    assert 0.6 < links[0].score < 0.9
    [it] = [link for link in linker.link("who directed it") if link.entity == "It"]
    assert it.score < 0.75


def test_misspelt_ties_are_not_homonyms(linker):
    links = linker.link("who is [Carl Xann]")
    assert links[0].score == links[1].score
    assert {links[0].entity, links[1].entity} == {"Carl Mann", "Carl Bann"}
    assert len(chosen(links)) == 1


def test_homonyms_are_all_chosen_with_the_better_known_first(linker):
    for text in ("where was Steve McQueen born?", "where was [Steve McQueen] born?"):
        links = linker.link(text)
        assert chosen(links) == ["mcqueen-2", "mcqueen-1"]
        assert {link.name for link in links} == {"Steve McQueen"}
        assert links[0].score == links[1].score


def test_an_id_in_brackets_picks_one_homonym(linker):
    links = linker.link("where was [mcqueen-1] born?")
    assert chosen(links) == ["mcqueen-1"]
    assert links[0].score == 1.0


def test_case_tells_names_apart_where_the_text_has_any(linker):
    links = linker.link("[Rocky]")
    assert chosen(links) == ["Rocky"]
    assert links[1].entity == "rocky"
    assert chosen(linker.link("which films did Rocky star in")) == ["Rocky"]
    for text in ("which films did rocky star in", "Which films did rocky star in"):
        assert chosen(linker.link(text)) == ["rocky", "Rocky"]
        assert linker.link(text)[0].score == linker.link(text.lower())[0].score
    scores = {link.entity: link.score for link in linker.link("did Heat show rocky")}
    assert scores["Heat"] > scores["rocky"] > scores["Rocky"]


def test_a_bracketed_mention_is_matched_whole(linker):
    assert chosen(linker.link("who directed [Heat of the Long Afternoon]")) == []
    assert chosen(linker.link("who directed Heat of the Long Afternoon")) == ["Heat"]


def test_several_topics(linker):
    text = "is Michael Mann the director of Heat?"
    assert len(chosen(linker.link(text))) == 1
    two = Linker(linker.graph, max_topics=2)
    links = two.link(text)
    assert set(chosen(links)) == {"Michael Mann", "Heat"}
    assert {text[link.start : link.end] for link in links if link.chosen} == {
        "Michael Mann",
        "Heat",
    }
    assert set(chosen(two.link("was Steve McQueen born in London"))) == {
        "mcqueen-1",
        "mcqueen-2",
        "London",
    }


def test_runners_up_are_limited(linker):
    few = Linker(linker.graph, runners_up=1)
    assert [link.chosen for link in few.link("who is [Carl Xann]")] == [True, False]
    none = Linker(linker.graph, runners_up=0)
    assert [link.chosen for link in none.link("who is [Carl Xann]")] == [True]


def test_a_rare_word_says_more_than_a_common_one():
    triples = [(f"Place{n} Township", "in", "Township") for n in range(40)]
    linker = Linker(KnowledgeGraph.from_triples([*triples, ("Quar", "in", "Township")]))
    assert chosen(linker.link("is quar a township")) == ["Quar"]


def test_names_overlapping_a_better_one_are_dropped(linker):
    links = linker.link("who directed The Matrix Reloaded")
    assert "The Matrix" not in {link.entity for link in links}


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_spans_count_the_characters_of_the_original(linker, form):
    text = unicodedata.normalize(form, "ﬁlms “like” Amélie … that are français")
    [link] = [link for link in linker.link(text) if link.chosen]
    assert link.entity == "Amélie"
    assert unicodedata.normalize("NFC", text[link.start : link.end]) == "Amélie"


@pytest.mark.parametrize(
    ("text", "mention"),
    [
        ("wer drehte die STRASSE?", "STRASSE"),
        ("ß ß ß Ｈｅａｔ ß", "Ｈｅａｔ"),
        ("İİİ who made “Heat”", "Heat"),
        ("한국 who made Heat 영화", "Heat"),
    ],
)
def test_spans_where_folding_changes_lengths(linker, text, mention):
    [link] = [link for link in linker.link(text) if link.chosen]
    assert text[link.start : link.end] == mention


def test_accents_may_be_missing(linker):
    [link] = [link for link in linker.link("who directed Amelie") if link.chosen]
    assert (link.entity, link.method) == ("Amélie", "fuzzy")


def test_mentions_given_by_span(linker):
    text = "is Heat about police"
    start = text.index("police")
    [link] = [link for link in linker.link(text, (start, start + 6)) if link.chosen]
    assert (link.entity, link.start, link.end) == ("police", start, start + 6)
    for span in ((5, 5), (-1, 3), (0, 99)):
        with pytest.raises(JaxkgError, match="is not a span"):
            linker.link(text, span)


def test_arguments_are_checked(linker):
    for wrong in ({"threshold": 1.5}, {"max_topics": 0}, {"runners_up": -1}):
        with pytest.raises(JaxkgError, match="must be in"):
            Linker(linker.graph, **wrong)


def test_names_of_punctuation_alone_are_found_in_brackets():
    linker = Linker(KnowledgeGraph.from_triples([("!!!", "plays", "Punk"), ("?", "plays", "Rock")]))
    assert chosen(linker.link("what does [!!!] play")) == ["!!!"]
    assert chosen(linker.link("what does [?] play")) == ["?"]


def test_relation_words_are_not_topics():
    names = ["Composer", "The Composers", "Composers of Rome"]
    linker = Linker(KnowledgeGraph.from_triples([("Alba", "composed_by", name) for name in names]))
    assert chosen(linker.link("who is the composer of alba")) == ["Alba"]
    assert chosen(linker.link("who is a composer")) == []
    assert chosen(linker.link("what are composers of rome")) == ["Composers of Rome"]
    assert chosen(linker.link("who are the composers")) == ["The Composers"]
    assert chosen(linker.link("who are the composers of alba")) == ["Alba"]


@pytest.fixture(scope="module")
def movies(data_dir):
    lines = (data_dir / "metaqa" / "kb.txt").read_text(encoding="utf-8").split("\n")
    return Linker(KnowledgeGraph.from_triples(line.split("|") for line in lines if line))


@pytest.mark.parametrize(("hops", "least"), [(1, 0.9988), (2, 0.9999), (3, 0.9980)])
def test_metaqa_topics_are_found_without_brackets(data_dir, movies, hops, least):
    questions = read_questions(data_dir / "metaqa" / f"{hops}-hop" / "qa_dev.txt")[::3]
    links = [movies.link(question.text) for question in questions]
    right = [
        bool(found) and found[0].chosen and found[0].name == question.topics[0]
        for question, found in zip(questions, links)
    ]
    assert sum(right) / len(right) >= least
    marked = [movies.link(q.text, q.mention) for q in questions]
    for question, found in zip(questions, marked):
        assert chosen(found) == list(question.topics)
        assert (found[0].start, found[0].end) == question.mention


def test_a_name_with_other_digits_is_no_slip_of_the_pen():
    linker = Linker(KnowledgeGraph.from_triples([("Opus 1", "directed_by", "Ada")]))
    assert not find_topics(linker, [Question("q", "who directed [Opus 9]?")])[0].entities
    near = Question("q", "who directed [Opsu 1]?")
    assert [link.entity for link in find_topics(linker, [near])[0].links] == ["Opus 1"]


def test_the_mark_between_words_may_stand_in_a_question():
    found = Linker(demo_graph()).link("who directed \0 Alien?")
    assert [link.name for link in found if link.chosen] == ["Alien"]


def test_what_is_but_another_name_of_a_thing_is_found_as_that_thing():
    facts = [("x1", "other name", '"Barrow"'), ("x1", "name in Finnish", '"hauta"@fi')]
    facts += [("x1", "broader", "x2"), ("x2", "note", '"tomb"'), ("x1", "other name", '"tomb"')]
    other = {"x1": ["Barrow", "hauta"]}
    names = {"x1": "Grave", "x2": "Site", '"Barrow"': "Barrow", '"hauta"@fi': "hauta"}
    kg = KnowledgeGraph.from_triples(facts, names={**names, '"tomb"': "tomb"}, aliases=other)
    assert {row for _, row, _ in Vocabulary(kg).surfaces()}.isdisjoint(
        (kg.entity('"Barrow"'), kg.entity('"hauta"@fi'))
    )
    for text, found in (("where is Barrow?", "x1"), ("what is hauta?", "x1"), ("a tomb", '"tomb"')):
        assert [link.entity for link in Linker(kg).link(text)] == [found]
