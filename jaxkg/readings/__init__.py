"""Readings: what a question may mean, said in plain words."""

from jaxkg.readings.say import say

__all__ = ["say"]
