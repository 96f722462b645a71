"""The path priority of PathMind."""
