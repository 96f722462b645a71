"""Public questions as a phrasebook."""

from jaxkg.systems.reader.linking.public import public_domains, walked


def entity(nid, name):
    return {"nid": nid, "node_type": "entity", "friendly_name": name}


def klass(nid):
    return {"nid": nid, "node_type": "class", "friendly_name": "thing"}


def sample(question, nodes, edges, group="film"):
    return {"question": question, "nodes": nodes, "edges": edges, "group": group}


def test_relations_are_walked_from_what_is_named_to_what_is_asked_for():
    two = sample(
        "Where was the director of Alien born?",
        [klass(0), klass(1), entity(2, "alien")],
        [[1, "people.person.birth_place", "birth place", 0], [2, "film.film.by", "by", 1]],
    )
    both = frozenset({"people.person.birth_place", "film.film.by"})
    assert walked(two) == ("where was the director of it born", both, frozenset())
    back = {**two, "edges": [[1, "person.films", "films", 2], [0, "place.born", "born", 1]]}
    assert walked(back)[1:] == (frozenset(), {"person.films", "place.born"})
    turn = {**two, "edges": [[1, "person.films", "films", 2], [1, "person.home", "home", 0]]}
    assert walked(turn)[1:] == ({"person.home"}, {"person.films"})


def test_a_question_is_left_out_where_its_name_is_not_said_or_nothing_leads_on():
    said = sample("who made it?", [klass(0), entity(1, "Alien")], [[0, "a.b.films", "films", 1]])
    assert walked(said) is None
    apart = sample(
        "who made Alien?", [klass(0), klass(1), entity(2, "Alien")], [[0, "a.b.c", "c", 1]]
    )
    assert walked(apart) is None


def test_a_question_that_names_nothing_is_walked_either_way():
    one = sample("which film is longest?", [klass(0), klass(1)], [[0, "film.film.length", "l", 1]])
    assert walked(one)[1:] == ({"film.film.length"}, {"film.film.length"})


def asked_for(relation, number, group="film"):
    nodes = [klass(0), entity(1, f"Thing{number}")]
    text = f"who has {relation} Thing{number}?"
    return sample(text, nodes, [[1, f"{group}.x.{relation}", relation, 0]], group)


def test_parts_are_small_and_no_relation_is_asked_for_too_often():
    samples = [asked_for(f"r{r}", n) for r in range(10) for n in range(7)]
    samples += [asked_for("age", n, group="people") for n in range(7)]
    parts = public_domains(samples, each=4, width=4)
    assert all(len(part.labels) <= 4 for part in parts)
    phrases = [(part, one) for part in parts for one in part.phrases]
    assert len(phrases) == 11 * 4
    for part, one in phrases:
        [row] = one.ahead
        assert not one.backwards
        told = one.text.split()[2]
        assert told in part.labels[row]
    ages = [part for part in parts if ("x age", "age") in part.labels]
    assert sum(one.text.startswith("who has age") for part in ages for one in part.phrases) == 4


def test_parts_are_the_same_for_a_seed():
    samples = [asked_for(f"r{r}", n) for r in range(6) for n in range(3)]
    assert public_domains(samples, width=3) == public_domains(samples, width=3)
    assert public_domains(samples, width=3) != public_domains(samples, width=3, seed=1)
