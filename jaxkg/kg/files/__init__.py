"""Readers and writers of graph files; `jaxkg.kg` has `read_graph`, `save_graph`, `open_graph`."""
