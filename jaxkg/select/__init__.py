"""SELECT: which partial paths live on, and the walks they leave behind. Pure and jit-compiled."""

from jaxkg.select.beam import Choice, Witnessed, best_in_rows, choose, witness_paths

__all__ = ["Choice", "Witnessed", "best_in_rows", "choose", "witness_paths"]
