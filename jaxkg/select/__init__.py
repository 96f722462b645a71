"""SELECT: which partial paths live on, and the walks they leave behind. Pure and jit-compiled."""

from jaxkg.select.beam import Choice, choose
from jaxkg.select.witness import Witnessed, witness_paths

__all__ = ["Choice", "Witnessed", "choose", "witness_paths"]
