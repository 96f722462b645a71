"""The subgraph behind an answer: a drawing, and the same triples for other programs."""

from jaxkg.show.export import cited_triples, to_dot, to_triples
from jaxkg.show.svg import svg

__all__ = ["cited_triples", "svg", "to_dot", "to_triples"]
