import re
from importlib import resources

import numpy as np
import pytest
from rapidfuzz import fuzz

from jaxkg.kg.builtin import demo_graph, demo_questions, demo_training_questions
from jaxkg.kg.link.linker import Linker


@pytest.fixture(scope="module")
def graph():
    return demo_graph()


@pytest.fixture(scope="module")
def training():
    return demo_training_questions()


def triples(graph):
    return {graph.triple(row) for row in range(graph.num_triples)}


def execute(facts, topic, path):
    """Sets of ids over plain string triples; the topic leaves the frontier after every hop."""
    reached = {topic}
    for relation in path:
        if relation.startswith("^"):
            found = {h for h, r, t in facts if r == relation[1:] and t in reached}
        else:
            found = {t for h, r, t in facts if r == relation and h in reached}
        reached = found - {topic}
    return reached


def test_graph_is_large_enough_and_connected(graph):
    assert graph.num_triples >= 330
    assert graph.duplicates == 0
    label = np.arange(graph.num_entities)
    heads, tails = graph.triples[:, 0], graph.triples[:, 2]
    for _ in range(graph.num_entities):
        lowest = np.minimum(label[heads], label[tails])
        before = label.copy()
        np.minimum.at(label, heads, lowest)
        np.minimum.at(label, tails, lowest)
        if (before == label).all():
            break
    assert (label == 0).all()


def test_every_fact_names_its_line(graph):
    text = (resources.files("jaxkg.kg") / "demo" / "facts.tsv").read_text(encoding="utf-8")
    lines = text.split("\n")
    for row in range(graph.num_triples):
        file, line = graph.source(row).rsplit(":", 1)
        assert file == "demo/facts.tsv"
        assert tuple(lines[int(line) - 1].split("\t")) == graph.triple(row)


def test_names_aliases_and_homonyms(graph):
    director, actor = (graph.entity(f"Steve McQueen ({who})") for who in ("director", "actor"))
    assert graph.name(director) == graph.name(actor) == "Steve McQueen"
    names = graph.entity_names.tolist()
    assert len(names) - len(set(names)) == 1
    assert "UK" in graph.aliases[graph.entity("United Kingdom")]
    text = (resources.files("jaxkg.kg") / "demo" / "aliases.tsv").read_text(encoding="utf-8")
    listed = {tuple(line.split("\t")) for line in text.split("\n") if line}
    kept = {(graph.entity_ids[e], name) for e, also in graph.aliases.items() for name in also}
    assert kept == listed


def test_relations_that_go_both_ways_do(graph):
    facts = triples(graph)
    for head, relation, tail in facts:
        if relation in ("borders", "spouse"):
            assert (tail, relation, head) in facts
        if relation == "capital_of":
            assert (head, "located_in", tail) in facts


def test_each_relation_keeps_to_its_kinds(graph):
    """A name that changed its spelling, or its column, would turn up as another kind of thing."""
    facts = triples(graph)
    heads = {r: {h for h, rel, _ in facts if rel == r} for r in graph.relations}
    tails = {r: {t for _, rel, t in facts if rel == r} for r in graph.relations}
    films, countries = heads["directed_by"], heads["continent"]
    people = tails["directed_by"] | tails["starred"] | tails["written_by"] | heads["spouse"]
    for relation in ("written_by", "starred", "release_year", "has_genre", "in_language"):
        assert heads[relation] <= films
    for relation in ("born_in", "citizen_of", "spouse", "parent"):
        assert heads[relation] <= people
    assert heads["won_award"] <= films | people
    for relation in ("official_language", "borders", "currency"):
        assert heads[relation] <= countries
    for relation in ("citizen_of", "located_in", "capital_of"):
        assert tails[relation] <= countries
    assert tails["born_in"] <= heads["located_in"]
    assert tails["spouse"] == heads["spouse"]
    assert films.isdisjoint(people | countries)
    assert people.isdisjoint(countries)
    assert all(re.fullmatch(r"(19|20)\d\d", year) for year in tails["release_year"])
    for relation in ("directed_by", "release_year", "in_language", "continent", "currency"):
        for head in films | countries:
            assert sum(h == head and r == relation for h, r, _ in facts) <= 1


def test_sample_answers_are_what_the_paths_lead_to(graph):
    facts = triples(graph)
    questions = demo_questions()
    assert len(questions) == 40
    assert {len(q.paths[0]) for q in questions} == {1, 2, 3}
    for question in questions:
        [topic], [path] = question.topics, question.paths
        assert question.text[slice(*question.mention)] == topic
        assert question.answers
        assert set(question.answers) == execute(facts, topic, path), question.text


def test_training_answers_are_what_the_paths_lead_to(graph, training):
    facts = triples(graph)
    assert len(training) >= 400
    for question in training[::11]:
        [topic], [path] = question.topics, question.paths
        assert set(question.answers) == execute(facts, topic, path)
        assert question.text[slice(*question.mention)] == graph.name(graph.entity(topic))
        assert question.answers


def test_training_covers_the_samples_without_giving_them_away(training):
    samples = demo_questions()
    assert {q.paths for q in samples} <= {q.paths for q in training}
    assert len({q.text for q in training}) == len(training)
    assert len({q.id for q in training + samples}) == len(training) + len(samples)
    trained = {(q.topics, q.paths) for q in training}
    assert not any((q.topics, q.paths) in trained for q in samples)

    def wording(question):
        start, end = question.mention
        return f"{question.text[:start]}X{question.text[end:]}".lower().rstrip("?")

    wordings = {wording(q) for q in training}
    assert len(wordings) >= 200
    for question in samples:
        asked = wording(question)
        assert max(fuzz.ratio(asked, known) for known in wordings) < 95, asked


def test_linker_finds_every_topic_without_brackets(graph, training):
    linker = Linker(graph)
    for question in demo_questions() + training:
        chosen = [link.entity for link in linker.link(question.text) if link.chosen]
        assert chosen == list(question.topics), question.text
