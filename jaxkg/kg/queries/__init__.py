"""Query graphs over a graph on the host: typed values, exact sets, proofs, SPARQL."""
