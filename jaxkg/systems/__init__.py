"""The published methods, each a short composition over the folders above."""
