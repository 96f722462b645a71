"""The hybrid edge scorer of guided search."""
