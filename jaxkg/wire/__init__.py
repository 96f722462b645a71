"""Manners towards any endpoint: its replies against the clock, another attempt, keys kept back."""
