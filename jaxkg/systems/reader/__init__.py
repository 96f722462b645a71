"""Questions in any words about any graph, with shipped weights and no training by the user."""
