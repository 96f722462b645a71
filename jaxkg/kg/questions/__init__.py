"""Question files."""
