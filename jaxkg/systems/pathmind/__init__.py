"""PathMind: entities ranked by path priority."""
