"""An answer for other programs: as CSV, and the subgraph behind it, drawn and as triples."""

from jaxkg.show.export import cited_triples, to_csv, to_dot, to_triples
from jaxkg.show.svg import svg

__all__ = ["cited_triples", "svg", "to_csv", "to_dot", "to_triples"]
