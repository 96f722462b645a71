"""The path ranker: relation paths ranked by their texts."""
