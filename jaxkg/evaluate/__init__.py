"""MEASURE: every metric by its true name, run folders, reports with intervals.

| to | use |
|---|---|
| remember a question | `prediction_line`, `open_run` |
| report a run | `report_run`, or `evaluate(read_predictions(folder))` |
| set runs side by side | `compare`, `paired_differences`, `plots.save_latency_plots` |
| rank entities | `link_prediction` |
| rescore other projects' files | `score_predictions` |
| make up graphs and questions | `jaxkg.evaluate.synthetic` |

The definitions are in `strict`, `published`, `retrieval` and `misses`, each a function of one
question. G-E takes a language model: `jaxkg.adjudicate.calls.judging`; `evaluate` is given it.
"""

from jaxkg.evaluate.metrics.intervals import Estimate
from jaxkg.evaluate.metrics.ranking import link_prediction
from jaxkg.evaluate.runs.comparison import compare, paired_differences
from jaxkg.evaluate.runs.foreign import score_predictions
from jaxkg.evaluate.runs.lines import prediction_line, read_predictions
from jaxkg.evaluate.runs.report import Report, evaluate
from jaxkg.evaluate.runs.runs import RunWriter, open_run, provenance, report_run

__all__ = [
    "Estimate",
    "Report",
    "RunWriter",
    "compare",
    "evaluate",
    "link_prediction",
    "open_run",
    "paired_differences",
    "prediction_line",
    "provenance",
    "read_predictions",
    "report_run",
    "score_predictions",
]
