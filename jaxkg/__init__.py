"""jaxkg: grounded multi-hop question answering over knowledge graphs, in functional JAX.

The folders are the pipeline:

    kg          LOAD      names and numpy: readers, linking, the built-in demo graph
    text        ENCODE    question and label text to numbers
    tensors     PAD       host to device: buckets, graph tensors
    candidates  FIND      expand, follow, enumerate relation paths            (jit)
    score       SCORE     the planner and other scorers                       (jit)
    select      SELECT    beams, paths out of back-pointers                   (jit)
    search                FIND, SCORE and SELECT in one jitted loop       (jit)
    adjudicate  ASK       the only folder that talks to a language model
    cite        CITE      paths to triples to sentences; `check` re-reads the graph
    evaluate    MEASURE   every published metric by its true name
    learn       TRAIN     supervision mined from answers, train steps
    systems               the published methods, each a composition of the above: `planned`,
                          `llm_planned`, `pathhd`, `reknos`, `pathmind`, `ranked`, `guided`, `proh`,
                          and `reader`, which needs no training
    show                  answers and reports as text, HTML and drawings
    lm                    a language model that runs in this process
    experiments           benchmarks, registry of systems, runs that resume
    serve                 HTTP, MCP and a page

    >>> import jaxkg
    >>> kg = jaxkg.demo_graph()
    >>> kg.num_relations
    17

Names below are imported when first used, so that `import jaxkg` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxkg.answer import Answer
    from jaxkg.cite import check
    from jaxkg.cite.selects import Selects
    from jaxkg.errors import JaxkgError
    from jaxkg.kg import (
        KnowledgeGraph,
        Linker,
        demo_graph,
        demo_questions,
        find_topics,
        open_graph,
        read_graph,
        read_questions,
        save_graph,
    )
    from jaxkg.learn.planner.fit import fit_planner
    from jaxkg.learn.planner.kept import planner_for
    from jaxkg.learn.planner.labels import planner_from_labels
    from jaxkg.learn.planner.model import Planner
    from jaxkg.records import Question
    from jaxkg.search.plans import execute_paths, plan_paths
    from jaxkg.systems.planned import PlannedQA, PlannedSettings
    from jaxkg.systems.reader.system import Reader
    from jaxkg.tensors import tensor_graph

_HOME = {
    "Answer": "jaxkg.answer",
    "JaxkgError": "jaxkg.errors",
    "KnowledgeGraph": "jaxkg.kg",
    "Linker": "jaxkg.kg",
    "PlannedQA": "jaxkg.systems.planned",
    "PlannedSettings": "jaxkg.systems.planned",
    "Planner": "jaxkg.learn.planner.model",
    "Question": "jaxkg.records",
    "Reader": "jaxkg.systems.reader.system",
    "Selects": "jaxkg.cite.selects",
    "check": "jaxkg.cite",
    "demo_graph": "jaxkg.kg",
    "demo_questions": "jaxkg.kg",
    "execute_paths": "jaxkg.search.plans",
    "find_topics": "jaxkg.kg",
    "fit_planner": "jaxkg.learn.planner.fit",
    "open_graph": "jaxkg.kg",
    "plan_paths": "jaxkg.search.plans",
    "planner_for": "jaxkg.learn.planner.kept",
    "planner_from_labels": "jaxkg.learn.planner.labels",
    "read_graph": "jaxkg.kg",
    "read_questions": "jaxkg.kg",
    "save_graph": "jaxkg.kg",
    "tensor_graph": "jaxkg.tensors",
}

__version__ = "0.2.0"

__all__ = [
    "Answer",
    "JaxkgError",
    "KnowledgeGraph",
    "Linker",
    "PlannedQA",
    "PlannedSettings",
    "Planner",
    "Question",
    "Reader",
    "Selects",
    "check",
    "demo_graph",
    "demo_questions",
    "execute_paths",
    "find_topics",
    "fit_planner",
    "open_graph",
    "plan_paths",
    "planner_for",
    "planner_from_labels",
    "read_graph",
    "read_questions",
    "save_graph",
    "tensor_graph",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'jaxkg' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
