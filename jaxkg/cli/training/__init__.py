"""`jaxkg train ...` and `jaxkg distill`."""
