"""Questions in any words about any graph, with shipped weights and no training by the user.

`Reader` and `ReaderSettings` are imported when first used: who wants a part of this folder loads no
more than that.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxkg.systems.reader.settings import ReaderSettings
    from jaxkg.systems.reader.system import Reader

__all__ = ["Reader", "ReaderSettings"]

_HOME = {"Reader": "system", "ReaderSettings": "settings"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
