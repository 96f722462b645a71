"""Runs, their reports, and runs of others."""
