"""Graphs and questions, damaged on purpose."""
