"""SCORE: numeric scorers of relation paths, edges and entities."""
