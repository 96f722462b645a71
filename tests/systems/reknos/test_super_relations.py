import itertools

import numpy as np
import pytest
from brute_force import Facts
from super_brute_force import connects

from jaxkg.errors import JaxkgError
from jaxkg.systems.reknos.super_relations import SuperRelations

NAMES = ["film.actor.film", "film.actor.awards", "film.film.genre", "likes", "a.b"]


def test_names_are_cut_after_two_parts():
    groups = SuperRelations.by_name(NAMES)
    assert groups.names == (
        *("film.actor", "film.film", "likes", "a.b"),
        *("^film.actor", "^film.film", "^likes", "^a.b"),
    )
    assert groups.group.tolist() == [0, 0, 1, 2, 3, 4, 4, 5, 6, 7]
    assert np.flatnonzero(groups.group == 4).tolist() == [5, 6]
    assert (len(groups), groups.num_relations) == (8, 5)


def test_clusters_join_what_is_alike_and_are_named_after_their_centre():
    vectors = [[1, 0, 0], [0, 1, 0], [1, 0.2, 0], [0.9, 0.5, 0]]
    groups = SuperRelations.by_clusters(["far", "other", "centre", "near"], vectors, distance=0.3)
    assert groups.group[:4].tolist() == [0, 1, 0, 0]
    assert groups.names[:2] == ("centre / far / near", "other")
    assert groups.names[2:] == ("^centre / far / near", "^other")


def test_the_name_of_a_cluster_tells_its_members_or_how_many_more_there_are():
    vectors = np.ones((7, 2)) + np.arange(7)[:, None] * [[0.01, 0]]
    some = SuperRelations.by_clusters(list("abcde"), vectors[:5]).names[0]
    assert sorted(some.split(" / ")) == list("abcde")
    many = SuperRelations.by_clusters(list("abcdefg"), vectors).names[0]
    assert many.split(" / ")[-1] == "3 more"
    assert len(many.split(" / ")) == 5


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1.0, 0]], "2 relations require as many vectors"),
        ([[1.0, 0], [0, 0]], "'b' is zero or not finite"),
        ([[1.0, 0], [np.nan, 0]], "'b' is zero or not finite"),
    ],
)
def test_vectors_must_fit(vectors, message):
    with pytest.raises(JaxkgError, match=message):
        SuperRelations.by_clusters(["a", "b"], vectors)


@pytest.mark.parametrize(
    ("names", "group", "message"),
    [
        ("ab", [0, 1, 2], r"\[2R\] int32"),
        ("ab", [0, 0], "numbered by them"),
        ("ab", [0, 2], "numbered by them"),
        ("aa", [0, 1], "share a name"),
    ],
)
def test_groups_must_be_whole(names, group, message):
    with pytest.raises(JaxkgError, match=message):
        SuperRelations(tuple(names), np.asarray(group, np.int32))


@pytest.mark.parametrize("seed", range(6))
def test_connections_are_those_of_definition_1(random_graph, rng, seed):
    world = random_graph(seed)
    group = rng.permutation([0, 1, 2, 3, 0, 2]).astype(np.int32)
    got = SuperRelations(tuple("wxyz"), group).connections(world.triples)
    facts = Facts(world.triples.tolist(), world.num_relations)
    for first, second in itertools.product(range(4), repeat=2):
        assert got[first, second] == connects(facts, group, first, second)
