"""CITE: rows of triples become paths, sentences and citations; `check` reads the graph again.

Nothing is cited but what stands in the graph, so an answer can be held against it at any time, also
after it was stored, edited by hand or passed through a language model.
"""

from jaxkg.cite.grounding import check, check_all, grounded
from jaxkg.cite.paths import cite_path, cite_paths

__all__ = ["check", "check_all", "cite_path", "cite_paths", "grounded"]
