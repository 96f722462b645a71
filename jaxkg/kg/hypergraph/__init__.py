"""Knowledge hypergraphs: hyperedges over any number of entities, and the texts behind them."""
