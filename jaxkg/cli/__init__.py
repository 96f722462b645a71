"""The `jaxkg` command."""

from jaxkg.cli.app import main

__all__ = ["main"]
