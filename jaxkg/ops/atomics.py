"""Sums scattered in float32 on NVIDIA GPUs: a known flag where jaxlib makes them slow."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import warnings
from importlib.metadata import version

_FIRST, _LAST = (0, 10, 2), (0, 11, 0)
"""These jaxlib compile a float32 scatter-add to a loop of compare and swap, up to 2,000 times as
slow where few places take many numbers (openxla/xla #46225, jax-ml/jax #38806). Later ones do not:
measured with 0.11.2."""

_PLUGINS = ("jax_cuda12_plugin", "jax_cuda13_plugin")
_OPTIONS, _FLAG = "--xla_backend_extra_options=", "-nvptx-allow-ftz-atomics"


def flags_for(flags: str, *, jaxlib: str) -> str:
    """`XLA_FLAGS` by which a jaxlib adds float32 in one instruction; as given where it does anyway.

    >>> flags_for("--a=1", jaxlib="0.10.2")
    '--a=1 --xla_backend_extra_options=-nvptx-allow-ftz-atomics'
    >>> flags_for("--a=1", jaxlib="0.11.2")
    '--a=1'
    """
    numbers = tuple(map(int, re.findall(r"\d+", jaxlib)[:3]))
    if not _FIRST <= numbers <= _LAST or _FLAG in flags:
        return flags
    if _OPTIONS in flags:
        return flags.replace(_OPTIONS, f"{_OPTIONS}{_FLAG},")
    return f"{flags} {_OPTIONS}{_FLAG}".strip()


def spare_float_atomics() -> None:
    """Set the flag where this jaxlib needs it and a plugin for NVIDIA's GPUs is installed.

    Flags are read when JAX first looks for devices; after that a warning says that it is too late.
    """
    if not any(map(importlib.util.find_spec, _PLUGINS)):
        return
    before = os.environ.get("XLA_FLAGS", "")
    flags = flags_for(before, jaxlib=version("jaxlib"))
    if flags == before:
        return
    bridge = sys.modules.get("jax._src.xla_bridge")
    if bridge is not None and bridge.backends_are_initialized():
        warnings.warn(
            f"jaxlib {version('jaxlib')} adds float32 numbers slowly on NVIDIA GPUs, and JAX has "
            f"begun: import jaxkg.ops before JAX is used, or set XLA_FLAGS={_OPTIONS}{_FLAG}",
            RuntimeWarning,
            stacklevel=3,
        )
        return
    os.environ["XLA_FLAGS"] = flags
