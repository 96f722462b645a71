"""Arrays of a tree of weights by name, as files keep them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import jax
import numpy as np

T = TypeVar("T")


def named_leaves(tree: Any) -> dict[str, np.ndarray]:
    """The arrays of a tree by their path.

    >>> sorted(named_leaves({"layers": (np.zeros(2), np.ones(3)), "seen": np.ones(1)}))
    ['layers/0', 'layers/1', 'seen']
    """
    return {_name(path): np.asarray(leaf) for path, leaf in _paths(tree)}


def leaves_like(arrays: Mapping[str, np.ndarray], like: T) -> T:
    """The tree of the same shape as another, from the arrays that `named_leaves` named.

    Args:
        arrays: these and no others.
        like: of arrays, or of their shapes and dtypes.

    Raises:
        ValueError: the names, shapes or dtypes are not those of `like`.
    """
    wanted = {_name(path): leaf for path, leaf in _paths(like)}
    if odd := sorted(set(wanted) ^ set(arrays)):
        raise ValueError(f"weights and sizes disagree: {', '.join(odd[:3])}")
    leaves = []
    for name, want in wanted.items():
        array = arrays[name]
        if array.dtype.kind == "V":  # a dtype that NumPy's own format does not know, as bfloat16
            array = array.view(want.dtype)
        if (array.shape, array.dtype) != (tuple(want.shape), np.dtype(want.dtype)):
            raise ValueError(
                f"weights and sizes disagree: {name} is {array.dtype}{list(array.shape)}, not "
                f"{want.dtype}{list(want.shape)}"
            )
        leaves.append(array)
    return jax.tree.unflatten(jax.tree.structure(like), leaves)


def _paths(tree: Any) -> list[tuple[Any, Any]]:
    return jax.tree_util.tree_flatten_with_path(tree)[0]


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator="/")
