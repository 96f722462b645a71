"""Readings: what a question may mean, said in plain words."""

from jaxkg.readings.say import column_words, say

__all__ = ["column_words", "say"]
