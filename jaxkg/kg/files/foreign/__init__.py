"""Formats of other trades and tools, each a module; see `jaxkg.kg.files.protocol`."""
