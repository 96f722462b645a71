"""Wrappers around a backend: budgets, a cache of replies, a meter."""
