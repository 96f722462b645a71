"""Graphs that are asked for what lies around some entities, wherever they are kept."""
