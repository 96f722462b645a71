"""ReKnoS: search along super-relations, scored by a model, labels, a planner or a path ranker.

| | |
|---|---|
| `system` | `ReKnoS`, its settings: link, search, answer, cite |
| `search` | the steps `begin`, `ask`, `tell`, `close`, `conclude`; pure (Eq. 1 to 9) |
| `loop` | the steps in order, for any scorer, each in room enough |
| `scorers`, `numeric` | label similarity, planner, path ranker; without a call |
| `llm` | a language model: two calls a step and one to answer |
| `answers`, `trace` | what it found, as records |

Reference: Wang, Lin, Guo, Shun, Li and Zhu, "Reasoning of large language models over knowledge
graphs with super-relations", 2025.
"""

from jaxkg.systems.reknos.llm import LLMScorer
from jaxkg.systems.reknos.scorers import LabelScorer, NumericScorer, PlannerScorer, RankerScorer
from jaxkg.systems.reknos.system import ReKnoS, ReKnoSSettings, default_groups
from jaxkg.systems.reknos.trace import Solved, SuperStep, Trace

__all__ = [
    "LLMScorer",
    "LabelScorer",
    "NumericScorer",
    "PlannerScorer",
    "RankerScorer",
    "ReKnoS",
    "ReKnoSSettings",
    "Solved",
    "SuperStep",
    "Trace",
    "default_groups",
]
