"""ReKnoS's functions for `conformance_cases.py`: function and inputs by seed."""

import numpy as np
from drawn import floats, graph, ints, mask, rng
from programs import frontier_of, random_topics

from jaxkg.candidates import super_relations as steps
from jaxkg.search import relation_beam as relation_search
from jaxkg.search import super_relations as reknos
from jaxkg.select import super_paths
from jaxkg.systems.reknos import scorers

QUESTIONS, SLOTS, HOPS, CODES, GROUPS, WIDTH = 2, 64, 2, 6, 3, 3


def starts(seed):
    return frontier_of(random_topics(rng(seed), QUESTIONS), size=16, last=QUESTIONS - 1)


def group(seed):
    return ints(seed, GROUPS, CODES)


def distinct(seed, high, rows, count):
    """Rows of different numbers below `high`."""
    return np.argsort(floats(seed, rows, high))[:, :count].astype(np.int32)


def super_codes(seed, *shape):
    """NULL only at the end."""
    return np.sort(ints(seed, GROUPS, *shape, low=-1))[..., ::-1].copy()


def beam(seed):
    codes = ints(seed, CODES, QUESTIONS, WIDTH, HOPS, low=-1)
    codes[..., 1] = np.where(codes[..., 0] == -1, -1, codes[..., 1])
    first = relation_search.init(starts(seed), num_questions=QUESTIONS, width=WIDTH, hops=HOPS)
    return first._replace(relations=codes, score=-abs(floats(seed, QUESTIONS, WIDTH)))


def logs(seed):
    return -abs(floats(seed, QUESTIONS, WIDTH, CODES + 1))


def whole(graph, begin, group, scores):
    found = reknos.super_search(
        graph,
        begin,
        group,
        lambda found, options, memo: scores[len(found.sets)],
        num_questions=QUESTIONS,
        num_groups=GROUPS,
        width=2,
        hops=HOPS,
        capacities=(SLOTS, SLOTS, SLOTS) * HOPS,
    )
    return found.search, reknos.conclude(found.search, keep=2)


def one_step(graph, begin, group, chosen):
    runs = steps.onward(
        graph,
        begin,
        begin,
        group,
        num_questions=QUESTIONS,
        num_paths=1,
        capacities=(SLOTS, SLOTS),
    )
    place = steps.place_in_set(runs, chosen, num_groups=GROUPS, num_paths=1)
    return (
        steps.candidates(runs, num_questions=QUESTIONS, num_groups=GROUPS, num_paths=1),
        steps.existing(runs, place, num_rows=QUESTIONS, width=2),
    )


CASES = {
    "candidates.super_relations": (
        one_step,
        lambda s: (graph(s), starts(s), group(s), distinct(s, GROUPS, QUESTIONS, 2)),
    ),
    "candidates.super_relations.connected": (
        steps.connected,
        lambda s: (mask(s, GROUPS, GROUPS), super_codes(s, 5, 2)),
    ),
    "select.super_paths.keep_best": (
        lambda *args: super_paths.keep_best(*args, width=2, floor=0.1),
        lambda s: (floats(s, 4, 5), mask(s, 4, 5)),
    ),
    "select.super_paths.add_step": (
        super_paths.add_step,
        lambda s: (floats(s, 4, 2), floats(s + 1, 4, 2)),
    ),
    "select.super_paths.best_paths": (
        lambda *args: super_paths.best_paths(*args, keep=3),
        lambda s: (floats(s, 4, 4), mask(s, 4, 4)),
    ),
    "select.super_paths.path_groups": (
        lambda path, *sets: super_paths.path_groups(path, sets),
        lambda s: (ints(s, 4, 4, 3, low=-1), ints(s, 6, 4, 2), ints(s + 1, 6, 4, 2)),
    ),
    "systems.reknos.search": (
        whole,
        lambda s: (graph(s), starts(s), group(s), abs(floats(s, HOPS, QUESTIONS, GROUPS))),
    ),
    "systems.reknos.scorers.probabilities": (
        scorers.probabilities,
        lambda s: (logs(s), mask(s, QUESTIONS, WIDTH, CODES), mask(s + 1, QUESTIONS, WIDTH)),
    ),
    "systems.reknos.scorers.group_scores": (
        lambda *args: scorers.group_scores(*args, num_groups=GROUPS),
        lambda s: (beam(s), logs(s), group(s)),
    ),
    "systems.reknos.scorers.stop_share": (scorers.stop_share, lambda s: (beam(s), logs(s))),
    "systems.reknos.scorers.within": (
        lambda *args: scorers.within(*args, num_groups=GROUPS),
        lambda s: (beam(s), super_codes(s, QUESTIONS, 4, HOPS), group(s)),
    ),
}
