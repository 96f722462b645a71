"""FIND: which nodes, edges and relation paths a question can reach. Pure and jit-compiled."""

from jaxkg.candidates.advance import advance, available
from jaxkg.candidates.expand import Keep, Revisit, barred, expand, find_run, prune, start, walk
from jaxkg.candidates.follow import answers, fit, follow, path_length, visits
from jaxkg.candidates.relation_paths import RelationPaths, Targets, is_target, relation_paths

__all__ = [
    "Keep",
    "RelationPaths",
    "Revisit",
    "Targets",
    "advance",
    "answers",
    "available",
    "barred",
    "expand",
    "find_run",
    "fit",
    "follow",
    "is_target",
    "path_length",
    "prune",
    "relation_paths",
    "start",
    "visits",
    "walk",
]
