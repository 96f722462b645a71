"""Times of day, days and how often: what timetables and logs are asked for."""

import pytest
from readers import answers_of, tables_read

from jaxkg.query import Value, Where
from jaxkg.systems.reader.language.cues import read_cues
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.sets import operators

FILES = {
    "classes.csv": "class_id,class_name,coach_id,starts_at,ends_at,weekday,open_to_all,raised\n"
    "1,Aqua Fit,1,07:30,08:15,Monday,yes,£90\n2,Lane Swim,2,06:00,09:00,Monday,no,£70\n"
    "3,Diving Club,3,17:30,19:00,Tuesday,no,£400\n4,Night Swim,2,21:00,22:30,Tuesday,yes,£10\n",
    "coaches.csv": "coach_id,full_name,reports_to,joined_on\n1,Nina Holm,,2019-04-01\n"
    "2,Otto Berg,1,2020-05-02\n3,Pia Lund,1,2021-06-03\n",
    "tests.csv": "date,class_name,tested_by,hall\n2024-01-11,Aqua Fit,Otto Berg,Old Hall\n"
    "2024-01-18,Diving Club,Pia Lund,New Hall\n2024-02-08,Aqua Fit,Pia Lund,Old Hall\n"
    "2024-03-07,Aqua Fit,Pia Lund,Gala 2015\n",
}


@pytest.fixture(scope="module")
def pool(tmp_path_factory) -> Readings:
    return tables_read(tmp_path_factory.mktemp("pool"), FILES)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Which class starts after 5 pm?", {"Diving Club", "Night Swim"}),
        ("Which classes start before eight in the morning?", {"Aqua Fit", "Lane Swim"}),
        ("Which class starts at 17:30?", {"Diving Club"}),
        ("Which classes end between 8 and 10 am?", {"Aqua Fit", "Lane Swim"}),
        ("Which classes end before noon?", {"Aqua Fit", "Lane Swim"}),
        ("Which class starts the earliest?", {"Lane Swim"}),
        ("Who is the coach of the class that starts at 9 p.m.?", {"Otto Berg"}),
        ("How many times was Aqua Fit tested?", {"3"}),
        ("Who has Nina Holm as their boss?", {"Otto Berg", "Pia Lund"}),
        ("Which Tuesday class is open to all?", {"Night Swim"}),
    ],
)
def test_times_and_rows_are_compared_and_counted(pool, question, wanted):
    assert wanted in answers_of(pool, question)


def test_the_least_that_is_looked_at_has_what_a_topic_leads_to(pool, monkeypatch):
    monkeypatch.setattr(operators, "_HELD", 1)
    monkeypatch.setattr(operators, "_BASES", 0)
    assert {"Night Swim"} in answers_of(pool, "Which Tuesday class is open to all?")


def test_a_time_is_compared_with_times_as_it_is_told(pool):
    asked = pool.asked("Which class is on at 17:30?")
    code = pool.kg.relation_code("starts_at")
    found = [c for c in pool.of(asked) if c.shape == "filter" and c.measure == code]
    assert {c.query.comparison for c in found if isinstance(c.query, Where)} == {"="}
    assert all(c.fit >= 0.45 for c in found)


def test_no_walk_ends_in_the_class_of_what_it_leads_to(pool):
    is_a = pool.kg.relation_code("is a")
    asked = pool.asked("What type of class is Otto Berg the coach of?")
    walked = [c.relations for c in pool.of(asked)]
    assert any(walked)
    assert not any(is_a in codes[1:] for codes in walked)


def test_a_time_is_no_year_and_a_year_no_time(pool):
    def met(question, label):
        asked = pool.asked(question)
        code = pool.kg.relation_code(label)
        some = [c for c in pool.of(asked) if c.relations == (code,)]
        return pool_views(pool, asked, some[:1])

    assert met("What time does Aqua Fit start?", "starts_at") > 0
    assert met("What year did Aqua Fit start?", "starts_at") < 0
    assert met("What year did Pia Lund start?", "joined_on") > 0
    assert met("What time did Pia Lund start?", "joined_on") < 0
    assert met("On which days is Aqua Fit?", "weekday") > 0
    assert met("On which days is Aqua Fit?", "coach_id") < 0


def pool_views(readings, asked, found):
    """The view of whether a date is met where one is wanted."""
    from jaxkg.systems.reader.views import NAMES, views

    seen = views(asked, found, readings.find, readings.linking)
    return seen[0, NAMES.index("wants date")]


@pytest.mark.parametrize(
    ("question", "bounds"),
    [
        ("trains after six in the evening", [(">", "18:00", "")]),
        ("open 9 to 5pm", [(">=", "09:00", "17:00")]),
        ("from 10am to noon", [(">=", "10:00", "12:00")]),
        ("over before midnight", [("<", "24:00", "")]),
        ("nach 16 Uhr", [(">", "16:00", "")]),
        ("at 9.30 a.m. on 3 May 2021", [("in", "2021-05-03", ""), ("=", "09:30", "")]),
        ("the 16:05 train", [("=", "16:05", "")]),
        ("three-bedroom flats", [("=", "3", "")]),
        ("the 90-year-old with a one-off Class-3 pass", []),
        ("a score of 2:1 after 13 pm", [(">", "13", "")]),
    ],
)
def test_times_as_people_say_them(question, bounds):
    assert [(b.comparison, b.low, b.high) for b in read_cues(question).bounds] == bounds


def test_a_column_of_rows_is_called_without_its_key_word(pool):
    vocabulary = pool.find.vocabulary
    assert vocabulary.wordings(pool.kg.relation_code("coach_id"))[0] == "coach"
    assert vocabulary.wordings(pool.kg.relation_code("class_name"))[0] == "class name"


def test_what_somebody_says_of_themselves_denies_nothing():
    assert read_cues("I've never been to the Lido, what town is it in?").negated is None
    assert read_cues("We can't find it. Who owns the Lido?").negated is None
    assert read_cues("I wonder who doesn't swim").negated is not None
    assert read_cues("Which classes have we not run?").negated is not None


def test_a_number_of_things_may_begin_with_noughts(pool):
    asked = pool.asked("Which coaches lead more than 001 classes?")
    counted = [c.query for c in pool.of(asked) if isinstance(c.query, Where)]
    assert {query.value for query in counted if query.by == "count"} == {Value("number", "1")}


def test_a_question_without_words_about_a_known_topic_has_no_reading(pool):
    for text in ("?", "", "Hello there! ?"):
        assert pool.asked(text, ["Otto Berg"]) is not None
    assert not pool.asked("?", ["Otto Berg"]).mentions
    whole = pool.asked("What was the boss of the coach who came in: Lane Swim! ?", ["Lane Swim"])
    assert whole.alignment.content.any()
