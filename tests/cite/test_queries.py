import dataclasses

import numpy as np
import pytest
from drawn_queries import RandomQueries
from value_graphs import value_triples

from jaxkg.answer import Answer
from jaxkg.cite import check
from jaxkg.cite.queries import query_answer
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.query import (
    Column,
    Compared,
    Count,
    Difference,
    Domain,
    Entities,
    Exists,
    Extreme,
    Intersection,
    Match,
    Rows,
    Step,
    Total,
    Union,
    Value,
    Where,
)
from jaxkg.show import svg
from jaxkg.show.render import html

FILMS = KnowledgeGraph.from_triples(
    [
        ("Alien", "directed_by", "Scott"),
        ("Legend", "directed_by", "Scott"),
        ("Heat", "directed_by", "Mann"),
        ("Alien", "starred", "Weaver"),
        ("Alien", "starred", "Hurt"),
        ("Legend", "starred", "Cruise"),
        ("Alien", "year", "1979"),
        ("Legend", "year", "1985"),
        ("Heat", "year", "1995"),
    ]
)
SETS = QuerySets(FILMS)
SCOTTS = Step(Entities(("Scott",)), ("^directed_by",))
MANNS = Step(Entities(("Mann",)), ("^directed_by",))
WEAVERS = Step(Entities(("Weaver",)), ("^starred",))


def answered(query, **options):
    return query_answer(SETS, query, SETS.execute(query), question="Which?", **options)


@pytest.mark.parametrize("seed", range(12))
def test_whatever_is_executed_is_cited_and_derived_again(seed):
    rng = np.random.default_rng(seed)
    kg = KnowledgeGraph.from_triples(value_triples(rng))
    sets = QuerySets(kg)
    drawn = RandomQueries(sets, rng)
    for _ in range(25):
        query = drawn.draw()
        answer = query_answer(sets, query, sets.execute(query))
        assert check(kg, answer) == (), query
        assert Answer.from_json(answer.to_json()) == answer
        assert bool(answer.entities) != bool(answer.abstained)


def test_an_intersection_cites_a_walk_per_branch():
    answer = answered(Intersection((SCOTTS, WEAVERS)))
    assert [entity.name for entity in answer.entities] == ["Alien"]
    assert [path.relation_path for path in answer.paths] == [("^directed_by",), ("^starred",)]
    assert answer.entities[0].paths == ("p1", "p2")
    assert answer.reading == (
        "things that are directed by Scott that are also things whose starred is Weaver"
    )


def test_a_count_cites_what_it_counted():
    answer = answered(Count(SCOTTS))
    assert answer.entities[0].name == "2"
    assert answer.entities[0].kind == "count"
    assert len(answer.paths) == 2
    assert answer.reading == "how many things that are directed by Scott"


def test_an_order_cites_the_winner_and_the_runner_up():
    answer = answered(Extreme(Union((SCOTTS, MANNS)), ("year",), largest=False))
    assert [entity.name for entity in answer.entities] == ["Alien"]
    assert answer.notes == ("runner-up: Legend, 1985 (p3, p4)",)
    assert [path.sentence for path in answer.paths][1::2] == [
        "Alien, year: 1979",
        "Legend, year: 1985",
    ]


def test_an_order_by_count_cites_what_was_counted():
    answer = answered(Extreme(SCOTTS, ("starred",), largest=True, by="count"))
    assert [entity.name for entity in answer.entities] == ["Alien"]
    assert len(answer.entities[0].paths) == 3
    assert answer.notes == ("runner-up: Legend, 1 (p4, p5)",)


SEVERAL = Where(SCOTTS, ("starred",), ">=", Value("number", "2"), by="count")
NONE = Where(SCOTTS, ("directed_by", "starred"), "=", Value("number", "0"), by="count")


def test_a_condition_on_a_count_cites_what_was_counted():
    answer = answered(SEVERAL)
    assert answer.reading == "things that are directed by Scott and with at least 2 starred"
    assert [entity.name for entity in answer.entities] == ["Alien"]
    assert [path.sentence for path in answer.paths] == [
        "Alien, directed by: Scott",
        "Alien, starred: Hurt",
        "Alien, starred: Weaver",
    ]
    assert check(FILMS, answer) == ()
    for lost in (1, 2):
        ids = tuple(p for place, p in enumerate(answer.entities[0].paths) if place != lost)
        cut = dataclasses.replace(answer.entities[0], paths=ids)
        faults = check(FILMS, dataclasses.replace(answer, entities=(cut,)))
        assert any("does not follow" in fault for fault in faults)


def test_a_condition_on_a_count_of_none_cites_no_more_than_its_source():
    answer = answered(NONE)
    assert answer.reading == (
        "things that are directed by Scott and with exactly 0 of the starred of what it is "
        "directed by"
    )
    assert {entity.name for entity in answer.entities} == {"Alien", "Legend"}
    assert all(len(entity.paths) == 1 for entity in answer.entities)
    assert check(FILMS, answer) == ()


@pytest.mark.parametrize("number", ["1", "3"])
def test_a_count_that_is_broken_is_found_out(number):
    answer = answered(SEVERAL)
    other = dataclasses.replace(SEVERAL, value=Value("number", number))
    told = answered(other)
    wrong = dataclasses.replace(answer, query=told.query, reading=told.reading)
    assert any(
        "query graph finds" in fault or "is found and" in fault for fault in check(FILMS, wrong)
    )


def test_walks_to_what_was_counted_that_are_not_spelt_out_are_told():
    facts = [("Scott", "made", f"film {n}") for n in range(25)]
    kg = KnowledgeGraph.from_triples([*facts, ("Scott", "is", "director")])
    sets = QuerySets(kg)
    for query in (
        Where(Entities(("Scott",)), ("made",), ">", Value("number", "3"), by="count"),
        Extreme(Entities(("Scott",)), ("made",), True, by="count"),
    ):
        answer = query_answer(sets, query, sets.execute(query), most=2)
        assert "walks are cited for 20 of 25 things counted" in answer.notes
        assert len(answer.paths) == 20
        assert check(kg, answer) == ()
        assert check(kg, dataclasses.replace(answer, notes=())) != ()


def test_a_condition_cites_what_was_compared():
    answer = answered(Where(SCOTTS, ("year",), "in", Value("date", "1985")))
    assert [path.sentence for path in answer.paths] == [
        "Legend, directed by: Scott",
        "Legend, year: 1985",
    ]


def test_a_literal_is_an_answer_of_its_kind():
    [entity] = answered(Step(Entities(("Alien",)), ("year",))).entities
    assert (entity.name, entity.kind) == ("1979", "date")


def test_yes_cites_a_walk_and_no_says_what_it_assumes():
    yes = answered(Exists(WEAVERS))
    assert (yes.entities[0].name, yes.entities[0].paths) == ("yes", ("p1",))
    no = answered(Exists(Intersection((MANNS, WEAVERS))))
    assert (no.entities[0].name, no.paths) == ("no", ())
    assert "the graph has no answer" in no.notes[0]
    assert "assuming" in no.notes[0]


def test_a_comparison_cites_both_sides_or_says_what_is_missing():
    years = [Step(Entities((film,)), ("year",)) for film in ("Alien", "Heat")]
    answer = answered(Compared(years[0], "<", years[1]))
    assert answer.entities[0].name == "yes"
    assert [path.sentence for path in answer.paths] == ["Alien, year: 1979", "Heat, year: 1995"]
    missing = Compared(Step(Entities(("Scott",)), ("year",)), "<", years[1])
    assert "nothing to compare: the year of Scott" in (answered(missing).abstained or "")


def test_a_comparison_is_decided_by_what_has_a_value():
    facts = [(f"film {n}", "year", str(1950 + n)) for n in range(30)]
    kg = KnowledgeGraph.from_triples([*facts, ("lost film", "year", "(unknown)")])
    sides = [Step(Entities(films), ("year",)) for films in (("film 5",), ("lost film", "film 1"))]
    sets = QuerySets(kg)
    query = Compared(sides[0], ">", sides[1])
    answer = query_answer(sets, query, sets.execute(query))
    assert [path.sentence for path in answer.paths] == ["film 5, year: 1955", "film 1, year: 1951"]


def test_what_finds_nothing_abstains_and_says_how_it_was_read():
    answer = answered(Difference(SCOTTS, SCOTTS))
    assert answer.abstained is not None
    assert "directed by Scott except things that are directed by Scott" in answer.abstained


def test_walks_that_are_not_spelt_out_are_told():
    answer = answered(Count(SCOTTS), most=1)
    assert answer.notes == ("walks are cited for 1 of 2",)
    assert len(answer.paths) == 1
    assert check(FILMS, answer) == ()


def test_every_kind_of_answer_is_shown_with_its_reading():
    for query in (Count(SCOTTS), Exists(WEAVERS), Intersection((SCOTTS, WEAVERS))):
        answer = answered(query)
        assert f"Read as: {answer.reading}" in str(answer)
        assert answer.reading in html(answer)
        assert "<svg" in svg(answer)


CHANGES = {
    "the number": lambda a: dataclasses.replace(a.entities[0], entity="3", name="3"),
    "nothing cited": lambda a: dataclasses.replace(a.entities[0], paths=()),
    "one walk less": lambda a: dataclasses.replace(a.entities[0], paths=a.entities[0].paths[:1]),
    "no such path": lambda a: dataclasses.replace(a.entities[0], paths=("p9",)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize(
    "query",
    [
        Count(SCOTTS),
        Intersection((SCOTTS, WEAVERS)),
        Where(SCOTTS, ("year",), "<", Value("date", "1980")),
    ],
)
def test_a_changed_answer_is_found_out(query, change):
    answer = answered(query)
    assert check(FILMS, answer) == ()
    assert check(FILMS, dataclasses.replace(answer, entities=(change(answer),))) != ()


def test_an_order_wants_the_value_of_what_comes_first():
    answer = answered(Extreme(SCOTTS, ("year",), True))
    cut = CHANGES["one walk less"](answer)
    assert len(cut.paths) == len(answer.entities[0].paths) - 1 == 1
    [fault] = check(FILMS, dataclasses.replace(answer, entities=(cut,)))
    assert "does not follow" in fault


def test_a_yes_without_its_walk_is_found_out():
    answer = answered(Exists(WEAVERS))
    assert check(FILMS, answer) == ()
    bare = CHANGES["nothing cited"](answer)
    [fault] = check(FILMS, dataclasses.replace(answer, entities=(bare,)))
    assert "does not follow" in fault


def test_another_query_or_reading_is_found_out():
    answer = answered(Count(SCOTTS))
    other = answered(Count(MANNS))
    assert check(FILMS, dataclasses.replace(answer, query=other.query)) != ()
    assert check(FILMS, dataclasses.replace(answer, reading="how many films there are")) != ()
    assert check(FILMS, dataclasses.replace(answer, query={"operator": "sum"})) != ()
    assert check(FILMS, dataclasses.replace(answer, entities=(), abstained=None)) != ()


def test_everything_that_has_a_relation_cites_one_fact_each():
    latest = answered(Extreme(Domain(("directed_by",)), ("year",), True))
    assert (
        latest.reading
        == "the one of [everything that is directed by something] with the latest year"
    )
    assert [e.name for e in latest.entities] == ["Heat"]
    assert check(FILMS, latest) == ()
    directors = answered(Domain(("^directed_by",)))
    assert {e.name for e in directors.entities} == {"Scott", "Mann"}
    assert all(len(e.paths) == 1 for e in directors.entities)
    years = answered(Step(Domain(("starred",)), ("year",)))
    assert {e.name for e in years.entities} == {"1979", "1985"}
    assert {e.kind for e in years.entities} == {"date"}
    assert check(FILMS, years) == ()
    # Without the fact that puts it in the domain, an answer is not proved.
    some = years.entities[0]
    [domain] = [p for p in latest.paths if p.citations[0].relation == "directed_by"][:1]
    assert domain.id in latest.entities[0].paths
    lacking = dataclasses.replace(some, paths=some.paths[-1:])
    cut = dataclasses.replace(years, entities=(lacking, *years.entities[1:]))
    assert any("does not follow" in fault for fault in check(FILMS, cut))


def test_a_closure_cites_one_shortest_walk():
    kg = KnowledgeGraph.from_triples(
        [
            *(("Tom", "type", "cat"), ("cat", "is_a", "pet"), ("pet", "is_a", "animal")),
            *(("cat", "is_a", "tiger kin"), ("tiger kin", "is_a", "hunter")),
            *(("hunter", "is_a", "animal"), ("animal", "is_a", "cat")),
        ]
    )
    sets = QuerySets(kg)
    for query, walked in (
        (Step(Entities(("cat",)), ("is_a",), True, "+"), ["cat, is a: pet; pet, is a: animal"]),
        (
            Step(Step(Entities(("animal",)), ("^is_a",), True, "*"), ("^type",)),
            ["pet, is a: animal; cat, is a: pet; Tom, type: cat"],
        ),
    ):
        answer = query_answer(sets, query, sets.execute(query))
        assert check(kg, answer) == ()
        last = next(e for e in answer.entities if e.name in ("animal", "Tom"))
        assert [p.sentence for p in answer.paths if p.id in last.paths] == walked
        others = [path for path in answer.paths if path.id not in last.paths]
        cut = dataclasses.replace(
            last, paths=tuple(p.id for p in others if "animal" not in p.sentence)
        )
        kept = [cut if e == last else e for e in answer.entities]
        assert check(kg, dataclasses.replace(answer, entities=tuple(kept))) != ()
    assert (
        answer.reading
        == "things whose type is a thing that itself, directly or indirectly is a animal"
    )


def test_a_match_cites_both_of_its_ends():
    films = Domain(("starred",))
    query = Match(films, ("directed_by", "^directed_by", "year"), ">", ("year",))
    answer = answered(query)
    assert [entity.name for entity in answer.entities] == ["Alien"]
    facts = {(f.head, f.relation, f.tail) for path in answer.paths for f in path.citations}
    assert {("Alien", "year", "1979"), ("Legend", "year", "1985")} <= facts
    assert check(FILMS, answer) == ()
    for lost in range(1, len(answer.paths)):
        ids = tuple(p for place, p in enumerate(answer.entities[0].paths) if place != lost)
        cut = dataclasses.replace(answer.entities[0], paths=ids)
        assert check(FILMS, dataclasses.replace(answer, entities=(cut,))) != ()


def test_every_row_of_a_table_cites_what_its_cells_tell():
    query = Rows(
        Union((SCOTTS, MANNS)),
        (Column((), "count"), Column(("year",), "min"), Column(("starred",))),
        ("directed_by",),
        order=1,
    )
    answer = answered(query)
    assert answer.columns == (
        *("directed by", "number", "earliest year"), "starred",
    )  # fmt: skip
    assert [(e.name, e.cells) for e in answer.entities] == [
        ("Scott", ("2", "1979", "Cruise; Hurt; Weaver")),
        ("Mann", ("1", "1995", "")),
    ]
    assert answer.reading == (
        "a table of things that are directed by Scott or things that are directed by Mann; a row "
        "for each directed by; with the number; with the earliest year; with starred; ordered by "
        "the number from the largest"
    )
    assert check(FILMS, answer) == ()
    assert Answer.from_json(answer.to_json()) == answer
    first, second = answer.entities
    for rows in (
        (second, first),
        (first,),
        (first, dataclasses.replace(second, cells=("2", "1995", ""))),
        (dataclasses.replace(first, paths=first.paths[:-1]), second),
        (dataclasses.replace(first, paths=first.paths[:2] + first.paths[3:]), second),
    ):
        assert check(FILMS, dataclasses.replace(answer, entities=rows)) != ()
    assert check(FILMS, dataclasses.replace(answer, columns=("by", *answer.columns[1:]))) != ()
    assert "<th>earliest year</th>" in html(answer)
    assert " 1. Scott        2       1979" in str(answer)


def test_the_first_of_each_group_are_rows_of_their_own():
    top = Rows(Domain(("directed_by",)), (Column(("year",)),), ("directed_by",), (), 1, top=1)
    answer = answered(top)
    assert answer.columns == ("of", "directed by", "year")
    assert [(e.name, e.cells) for e in answer.entities] == [
        ("Heat", ("Mann", "1995")),
        ("Legend", ("Scott", "1985")),
    ]
    assert check(FILMS, answer) == ()
    assert check(FILMS, dataclasses.replace(answer, entities=answer.entities[::-1])) != ()


def test_a_step_at_a_time_cites_when_and_tells_what_has_no_time():
    about = (("subject", "Ann"), ("predicate", "plays_for"), ("object", "Ajax"))
    kg = KnowledgeGraph.from_triples(
        [
            *(("Ann", "plays_for", "Ajax"), ("Bo", "plays_for", "Ajax")),
            *(("_:1", *one) for one in (*about, ("since", "2010"), ("until", "2014"))),
        ]
    )
    sets = QuerySets(kg)
    query = Step(Entities(("Ajax",)), ("^plays_for",), during=Value("date", "2012"))
    answer = query_answer(sets, query, sets.execute(query))
    assert [e.name for e in answer.entities] == ["Ann", "Bo"]
    facts = [f for path in answer.paths for f in path.citations]
    assert [(f.head, f.relation, f.tail) for f in facts] == [
        ("Ann", "plays_for", "Ajax"),
        *(("_:1", "since", "2010"), ("_:1", "until", "2014")),
        ("Bo", "plays_for", "Ajax"),
    ]
    assert answer.reading == "during 2012 [things that play for Ajax]"
    assert answer.notes == ("1 facts have no time; they are assumed to hold then",)
    assert check(kg, answer) == ()
    late = dataclasses.replace(query, during=Value("date", "2016"))
    told = query_answer(sets, late, sets.execute(late))
    assert [e.name for e in told.entities] == ["Bo"]
    wrong = dataclasses.replace(answer, query=told.query, reading=told.reading)
    assert check(kg, wrong) != ()


PAID = KnowledgeGraph.from_triples(
    [
        *(("Ann", "of", "Barn"), ("Bo", "of", "Barn"), ("Cy", "of", "Barn"), ("Di", "of", "Tent")),
        *(("Ann", "paid", "10 €"), ("Bo", "paid", "10 €"), ("Di", "paid", "2.5 €")),
    ]
)
PAY = Total(Step(Entities(("Barn",)), ("^of",)), ("paid",))


def paid(query, **options):
    sets = QuerySets(PAID)
    return query_answer(sets, query, sets.execute(query), **options)


def test_a_total_cites_the_numbers_it_adds_up_and_tells_who_has_none():
    answer = paid(PAY)
    [entity] = answer.entities
    assert (entity.name, entity.kind) == ("20 €", "total")
    assert answer.reading == 'the sum of the paid of things whose "of" is Barn'
    assert [path.sentence for path in answer.paths] == [
        *("Ann, of: Barn", "Ann, paid: 10 €", "Bo, of: Barn", "Bo, paid: 10 €"),
    ]
    assert answer.notes == ("1 of 3 have no number and add nothing",)
    assert check(PAID, answer) == ()
    assert "20 €" in html(answer)


def test_a_total_that_is_not_what_its_walks_add_up_to_is_found_out():
    answer = paid(PAY)
    [entity] = answer.entities
    for change in (
        {"entity": "30 €", "name": "30 €"},
        {"paths": entity.paths[:-1]},
        {"paths": entity.paths[1:]},
    ):
        wrong = dataclasses.replace(answer, entities=(dataclasses.replace(entity, **change),))
        assert check(PAID, wrong) != (), change
    silent = dataclasses.replace(answer, entities=(), abstained="nothing")
    assert check(PAID, silent) != ()


def test_a_total_of_nothing_abstains_and_one_of_many_tells_what_is_not_spelt_out():
    nothing = paid(Total(Entities(("Cy",)), ("paid",), "mean"))
    assert nothing.abstained is not None
    assert nothing.abstained.startswith("the graph holds no number to add up: the average of")
    assert check(PAID, nothing) == ()
    some = paid(PAY, most=1)
    assert "walks are cited for 1 of 2" in some.notes
    assert check(PAID, some) == ()
