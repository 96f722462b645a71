"""ReKnoS: search along super-relations, scored by a model, labels or a planner.

| | |
|---|---|
| `system`, `settings` | `ReKnoS`: link, search, answer, cite |
| `super_relations` | what is searched: graph, groups of its relations, settings |
| `scorers`, `numeric` | label similarity, planner: one program a batch |
| `llm` | a language model: step by step, two calls a step and one to answer |
| `trace` | what it found, as records |

Reference: Wang, Lin, Guo, Shun, Li and Zhu, "Reasoning of large language models over knowledge
graphs with super-relations", 2025. The steps (Eq. 1 to 9) are `jaxkg.search.super_relations`.
"""

from jaxkg.systems.reknos.llm import LLMScorer
from jaxkg.systems.reknos.scorers import LabelScorer, NumericScorer, PlannerScorer
from jaxkg.systems.reknos.settings import ReKnoSSettings
from jaxkg.systems.reknos.system import ReKnoS, grouped
from jaxkg.systems.reknos.trace import Solved, SuperStep, Trace

__all__ = [
    "LLMScorer",
    "LabelScorer",
    "NumericScorer",
    "PlannerScorer",
    "ReKnoS",
    "ReKnoSSettings",
    "Solved",
    "SuperStep",
    "Trace",
    "grouped",
]
