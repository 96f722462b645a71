"""Arrays in safetensors files, bfloat16 included; nothing in them is ever executed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError, how_to_install


def open_tensors(path: Path) -> Any:
    """A file whose arrays are read one at a time: `keys()`, `get_tensor(name)`, `metadata()`.

    Raises:
        JaxkgError: it is absent or damaged, or the library is.
    """
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise JaxkgError(
            f"a local language model needs safetensors: {how_to_install('text')}"
        ) from error
    try:
        return safe_open(path, framework="flax")
    except FileNotFoundError as error:
        raise JaxkgError(f"there is no {path}") from error
    except (OSError, SafetensorError) as error:
        raise JaxkgError(f"{path} is damaged: {error}") from error
