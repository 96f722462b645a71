"""PRoH: planning and retrieval over knowledge hypergraphs."""
