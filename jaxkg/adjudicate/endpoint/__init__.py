"""The wire: one request to a model endpoint and what can go wrong with it."""
