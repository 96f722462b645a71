import numpy as np
from reader_graphs import bakery, transit, workshop

from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.language.asides import (
    topic_in_place,
)
from jaxkg.systems.reader.language.cues import read_cues
from jaxkg.systems.reader.language.grades import Grade
from jaxkg.systems.reader.language.lexicon.german import in_english
from jaxkg.systems.reader.language.lexicon.stems import meant, stem
from jaxkg.systems.reader.language.names import key_of
from jaxkg.systems.reader.language.topics import TopicFinder
from jaxkg.systems.reader.language.vocabulary import Vocabulary


def found(text: str, kg: KnowledgeGraph | None = None) -> list[tuple[str, set[str], str]]:
    kg = kg or transit()
    cues = read_cues(text)
    mentions = TopicFinder(Vocabulary(kg)).mentions(cues)
    return [
        (
            " ".join(cues.words.written[m.first : m.last + 1]),
            {kg.name(option.entity) for option in m.options},
            m.options[0].how,
        )
        for m in mentions
    ]


def test_the_cues_of_shapes_are_read():
    assert read_cues("How many lines are there?").count
    assert read_cues("Is F1 a line?").yesno
    assert not read_cues("Which line is long?").yesno
    longest = read_cues("Which line is the longest?").extreme
    assert longest.largest
    assert "length" in longest.measure
    assert read_cues("Who is older, A or B?").comparative == Grade(
        False, "birth born geboren date founded opened built !age", frozenset({2})
    )
    assert read_cues("lines except F1").except_at == 1
    asked = read_cues("Which lines opened between 1980 and 1990?")
    assert [(b.comparison, b.low, b.high) for b in asked.bounds] == [(">=", "1980", "1990")]
    after = read_cues("Was A founded after B?").comparative
    assert after.largest


def test_how_many_of_an_order_and_dates_as_they_are_written():
    asked = {
        text: read_cues(text).extreme
        for text in ("the three oldest", "top 5 by price", "second largest")
    }
    told = [(grade.most, grade.nth) for grade in asked.values() if grade]
    assert told == [(3, False), (5, False), (2, True)]
    for text, low in [
        ("opened on 3 May 2021", "2021-05-03"),
        ("the price on Jan. 5, 2021", "2021-01-05"),
        ("sold in Sept 2021", "2021-09"),
        ("opened on May 3rd, 2021", "2021-05-03"),
        ("am 03.05.2021", "2021-05-03"),
        ("before May", "--05"),
        ("more than 1,250 tons", "1250"),
        ("over 2.5 million", "2500000"),
        ("more than one", "1"),
        ("exactly two", "2"),
        ("mindestens drei", "3"),
        ("at least forty-two", "42"),
        ("more than a hundred", "100"),
    ]:
        assert [bound.low for bound in read_cues(text).bounds] == [low], text


def test_centuries_and_decades_are_bounds():
    for text, low, high in [
        ("built in the 19th century", "1801", "1900"),
        ("aus dem 18. Jahrhundert", "1701", "1800"),
        ("of the twentieth century", "1901", "2000"),
        ("films from the 1990s", "1990", "1999"),
        ("songs of the eighties", "1980", "1989"),
    ]:
        assert [(b.low, b.high) for b in read_cues(text).bounds] == [(low, high)], text


def test_the_largest_number_of_things_is_the_most():
    for text in ("the largest number of wins", "who has most wins", "the fewest wins"):
        grade = read_cues(text).extreme
        assert grade, text
        assert (grade.counts, grade.measure) == (True, ""), text
    largest = read_cues("the largest hall").extreme
    assert not largest.counts


def test_what_looks_like_a_superlative_and_is_none():
    for text in ("at least forty columns", "at most two", "who is no longer alive"):
        assert read_cues(text).extreme is None, text


def test_forms_of_a_word_have_one_stem():
    for one, two in [("represented", "represent"), ("parents", "parent"), ("orders", "order")]:
        assert stem(one) == stem(two)


def test_forms_of_short_verbs_and_nouns_meet():
    pairs = (
        "own:owned use:used run:runs buy:bought fly:flies eat:ate car:cars hire:hired join:hired"
    )
    for one, other in (pair.split(":") for pair in pairs.split()):
        assert meant(one, other) >= 0.75, (one, other)
    for one, other in [("news", "new"), ("own", "use"), ("bus", "but")]:
        assert meant(one, other) < 0.75, (one, other)


def test_the_longest_are_those_that_began_first():
    longest = read_cues("Who has been here the longest?").extreme
    assert not longest.sign(("joined on",), "date")
    assert longest.sign(("length in km",), "number")
    serving = read_cues("Who's our longest-serving nurse?").extreme
    assert "hired" in serving.measured.split()
    assert "minutes" not in serving.measured.split()


def test_the_older_was_founded_in_the_smaller_year():
    grade = read_cues("Which is older, A or B?").comparative
    assert not grade.sign(("founded in",), "number")
    assert grade.sign(("years",), "number")


def test_a_number_in_a_name_of_a_thing_is_not_a_count():
    assert read_cues("the number of lines").count
    assert not read_cues("What is the inventory number of White Field?").count


def test_german_has_cues_too():
    assert read_cues("Wie viele Linien gibt es?").count
    assert read_cues("Welche Gebäude wurden vor 1910 erbaut?").bounds[0].comparison == "<"
    assert read_cues("Besucht Finn die Vogelkunde?").yesno
    assert read_cues("Prüfungen im Februar 2024").bounds[0].low == "2024-02"


def test_names_are_found_in_any_case_with_slips_and_by_other_names():
    assert found("who runs line 1") == [("line 1", {"Line 1"}, "exact")]
    assert found("Who heads Velmora Tarms?") == [("Velmora Tarms", {"Velmora Trams"}, "fuzzy")]
    assert found("Where does the Island Ferry stop?") == [("Island Ferry", {"F1"}, "alias")]
    assert found("Who heads Velmora?")[0][1:] == ({"Velmora Trams"}, "part")


def test_homonyms_are_all_kept():
    [(_, options, _)] = found("Who owns the Castle?")
    assert options == {"Castle (stop)", "Castle (pub)"}


def test_classes_relations_and_values_of_a_graph():
    words = Vocabulary(transit())
    names = {words.class_names(kind)[0]: len(members) for kind, members in words.classes.items()}
    assert {"line": 3, "stop": 3, "pub": 1}.items() <= names.items()
    assert not {words.class_names(kind)[0] for kind in words.sorts} & {"line", "stop", "pub"}
    kinds = dict(zip(words.kg.relations, (relation.tails for relation in words.relations)))
    assert kinds["length in km"] == "number"
    assert kinds["opened on"] == "date"
    assert kinds["stops at"] == "thing"
    roles = {name for name, r in zip(words.kg.relations, words.relations) if r.role}
    assert roles == {"type", "also known as"}
    assert [words.kg.relations[code] for code in words.symmetric] == ["walking link to"]


def test_articles_plurals_and_brackets_do_not_matter():
    assert key_of("The Castles (pub)") == key_of("castle")


def test_sorts_are_told_by_relations_and_named_by_labels():
    words = Vocabulary(workshop())
    kg = words.kg
    sorts = {tuple(sorted(kg.name(e) for e in s.members)): s for s in words.sorts.values()}
    people = sorts["Ivo Marsh", "Mona Frey", "Per Lund", "Una Holt"]
    assert people.general == "person"
    assert "manager" not in people.words  # two of four are
    assert sorts["Gannet", "Petrel", "Skua", "Tern"].words[0] == "boat"
    assert sorts["Dock East", "Dock West"].words[0] == "dock"
    assert sorts["Bergen", "Hull", "Vigo"].general == "place"
    # Whoever has one of the sort's relations is of it, and nobody else.
    for sort in sorts.values():
        ends = np.unique(np.concatenate([words.domain(code) for code in sort.codes]))
        assert ends.tolist() == sort.members.tolist()
    asked = TopicFinder(words).classes(read_cues("Which boat is the cheapest?"))
    assert [words.classes[mention.kind].tolist() for mention in asked] == [
        sorts["Gannet", "Petrel", "Skua", "Tern"].members.tolist()
    ]


def test_whether_several_are_asked_for():
    told = {
        "List all cities in Halvor.": True, "Which boats are blue?": True, "Who are they?": True,
        "Which boat is blue?": False, "Who is the captain?": False, "Who built it?": None,
    }  # fmt: skip
    assert {text: read_cues(text).plural for text in told} == told


def test_names_of_a_large_graph_are_looked_up_as_they_are_asked_for(monkeypatch):
    graphs = [transit(), workshop()]
    graphs.append(
        KnowledgeGraph.from_triples(
            [
                ("Amélie", "by", "Žižek Ünal"),
                ("Lord of the Rings", "by", "Ring"),
                ("Йод", "by", "B"),
            ],
            aliases={"Ring": ["The Precious One"]},
        )
    )
    questions = [
        "who runs line 1", "Who heads Velmora Tarms?", "Where does the Island Ferry stop?",
        "Who heads Velmora?", "Who owns the Castle?", "Is Una Holt older than Ivo Mars?",
        "lord of the rings and amelie", "Who is Zizek Ünal?", "the precious one", "What is Йод?",
    ]  # fmt: skip
    for kg in graphs:
        words = Vocabulary(kg)
        at_once = TopicFinder(words)
        with monkeypatch.context() as patched:
            patched.setattr("jaxkg.systems.reader.language.topics._AT_ONCE", 0)
            patched.setattr("jaxkg.systems.reader.language.topics._COMMON", 2)
            on_demand = TopicFinder(words)
            for question in questions:
                cues = read_cues(question)
                assert on_demand.mentions(cues) == at_once.mentions(cues), question
    assert [kg.name(o.entity) for m in at_once.mentions(read_cues(questions[6])) for o in m.options]


def test_a_kind_that_everything_has_is_its_class_and_one_that_few_have_is_not():
    classes = Vocabulary(bakery())
    assert {classes.kg.name(kind) for kind in classes.classes if kind not in classes.sorts} == {
        "loaf", "cake", "baker",
    }  # fmt: skip
    children = [("Ida", "kind", "Ole"), ("Ole", "kind", "Pia"), ("Ida", "wohnt in", "Kiel")]
    few = Vocabulary(KnowledgeGraph.from_triples([*children, ("Kiel", "liegt an", "Förde")]))
    assert not few.type_codes


def test_other_names_are_told_by_sentences_too():
    names = Vocabulary(bakery())
    assert [r.wordings[0] for r in names.relations if r.role == "alias"] == ["is also known as"]


def test_what_a_question_denies():
    for text in ("Which cakes don't need eggs?", "cakes with no eggs", "nothing", "neither"):
        assert read_cues(text).negated is not None, text
    for text in ("Which cakes still need eggs?", "orders still waiting for a driver"):
        assert read_cues(text).negated is not None, text
    assert read_cues("cakes with nuts but no eggs").except_at == 3
    for text in ("no more than 3 eggs", "Which note has a knot?"):
        assert read_cues(text).negated is None, text


def test_the_noun_that_is_graded():
    for text, word in (
        ("Who wrote the longest book?", "book"),
        ("Which lamp is the lightest?", "lamp"),
        ("Who sold the most copies?", "copies"),
    ):
        cues = read_cues(text)
        assert [cues.words.folded[place] for place in cues.graded] == [word], text


def test_german_is_told_to_an_encoder_in_english():
    assert in_english("geleitet von") == "lead of"
    assert in_english("wohnt in kiel") == "live in kiel"
    assert in_english("Kundennummer/IBAN") == "customer number iban"
    assert in_english("waehrung") == in_english("währung") == "currency"
    assert in_english("einzelpreis") == "einzel price"
    assert in_english("gesamthöhe") == in_english("gesamthoehe") == "total height"
    for text in (
        "find the director of it",
        "state",
        "importer",
        "opernhaus",
        "male",
        "station",
        "spent",
        "register",
        "reporter",
    ):
        assert in_english(text) == text


def test_a_topic_that_is_said_first_goes_to_its_pronoun():
    for text, moved in [
        ("The nurse from Tern Ness, who trained her?", "who trained The nurse from Tern Ness?"),
        ("Kill Bill, Vol. 2: when was it made?", "when was Kill Bill, Vol. 2 made?"),
        ("The man with the Skua - what's his age?", "what's The man with the Skua's age?"),
        ("The last race, when was that?", "when was The last race?"),
    ]:
        told = topic_in_place(text)
        assert told.text == moved
        at = moved.index(text[:4])
        assert told.span(at, at + 4) == (0, 4)
    for text in (
        "Who built it, and when was it sold?", "In 2020, who won it?", "I'm lost, who is it?",
        "Which boat, the Tern or the Skua?", "A friend of mine says so: is it true?",
    ):  # fmt: skip
        assert topic_in_place(text).text == text


def test_what_may_be_a_question_of_yes_or_no():
    for text, whether in [
        ("Do we need consent for dialysis?", True), ("Can you fill up there?", True),
        ("Do you have boats from Hull?", False), ("Can you list the boats?", False),
        ("Ann taught Bo, didn't she?", True), ("The Gull is from Hull, right?", True),
        ("Who taught Bo, right?", False), ("She may sail to the right?", False),
    ]:  # fmt: skip
        assert read_cues(text).yesno == whether, text


def test_what_is_out_of_order_is_not_in_order():
    assert read_cues("Which pumps are out of order?").negated is not None
    assert read_cues("Which pumps are in order?").negated is None


def test_numbers_in_words_that_are_compared_with():
    for text, told in [
        ("more than two hundred rooms", (">", "200")),
        ("a budget that exceeds 1,500", (">", "1500")),
        ("below three million", ("<", "3000000")),
        ("at least twenty-five thousand", (">=", "25000")),
        ("since the start of 2020", (">=", "2020")),
        ("sessions from March 2025 on?", (">=", "2025-03")),
        ("films from 1990 onwards", (">=", "1990")),
        ("trips from 2019 on Sundays", ("in", "2019")),
    ]:
        assert [(b.comparison, b.low) for b in read_cues(text).bounds] == [told], text


def test_a_unit_goes_with_its_number():
    for text, told in [
        ("under 1.5 km", ("1.5", "km")),
        ("over 90 minutes", ("90", "minutes")), ("over 5 years", ("5", "")),
    ]:  # fmt: skip
        assert [(b.low, b.unit) for b in read_cues(text).bounds] == [told], text


def test_who_has_been_there_longest_was_there_first():
    for text in ("Who has been here longer, A or B?", "Who has been here longest?"):
        cues = read_cues(text)
        grade = cues.extreme or cues.comparative
        assert not grade.sign(("came in on",), "date")
        assert grade.sign(("years of service",), "number")
    assert read_cues("Which is longer, A or B?").comparative.sign(("length",), "number")  # pyright: ignore


def test_two_letters_may_have_changed_places():
    assert meant("wroet", "author") == meant("wrote", "author") > 0
    assert meant("angel", "angle") == 0
