"""Graphs larger than memory, built from their files on the disk."""
