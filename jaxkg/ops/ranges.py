"""Columns of which each device holds a range, read as if they were whole.

Every device of the mesh axis "graph" is asked for the same rows; it looks up those that lie in its
range, answers 0 for the others, and the answers are added up. What is exchanged are thus answers,
as many as were asked for, and never the column.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec

from jaxkg.errors import JaxkgError

AXIS = "graph"


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Ranged:
    """A column in S ranges; `column[index]` reads it within a compiled function."""

    rows: jax.Array  # [S, K] over "graph"; a range may end with what the next one begins with
    span: jax.Array  # [S, 2] int32 over "graph", where each range begins and ends in the column
    size: int = dataclasses.field(metadata={"static": True})
    """Rows of the whole column."""
    mesh: Mesh = dataclasses.field(metadata={"static": True})

    @property
    def shape(self) -> tuple[int]:
        """Of the whole column."""
        return (self.size,)

    def __getitem__(self, index: Any) -> jax.Array:
        place = jnp.asarray(index)
        # As an array is read: from the end below 0, and the nearest where there is no such row.
        place = jnp.clip(jnp.where(place < 0, place + self.size, place), 0, self.size - 1)
        return at_home(lambda column, place: column[place], self, self, place)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if not self.rows.is_fully_addressable:
            raise JaxkgError("this process holds a part of the graph; follow paths over it instead")
        rows, span = np.asarray(self.rows), np.asarray(self.span)
        held = [row[: high - low] for row, (low, high) in zip(rows, span.tolist())]
        return np.concatenate(held).astype(dtype or rows.dtype, copy=False)


@dataclasses.dataclass(frozen=True)
class _Here:
    """The range of one device; a row of another's is read as some row or other."""

    rows: jax.Array
    low: jax.Array
    shape: tuple[int]

    def __getitem__(self, index: jax.Array) -> jax.Array:
        return self.rows[jnp.clip(index - self.low, 0, self.rows.shape[0] - 1)]


def at_home(
    function: Callable[..., Any], tables: Any, home: Ranged, index: jax.Array, *more: jax.Array
) -> Any:
    """Let each element be computed by the device in whose range of a column it lies.

    Args:
        function: (tables, index, *more) to a pytree of int32 arrays of the shape of `index`,
            element by element; pure. It may read what the same device holds.
        tables: a pytree with `Ranged` columns.
        home: the column whose ranges tell whose an element is.
        index: [...] int32 rows of `home`.
        more: of the same shape, exact on every device.

    Returns:
        What `function` returns, on every device.
    """

    def compute(tables: Any, span: jax.Array, index: jax.Array, *more: jax.Array) -> Any:
        own = jax.tree.map(_here, tables, is_leaf=_ranged)
        mine = (index >= span[0, 0]) & (index < span[0, 1])
        found = function(own, index, *more)
        return jax.lax.psum(jax.tree.map(lambda part: jnp.where(mine, part, 0), found), AXIS)

    over, whole = PartitionSpec(AXIS), PartitionSpec()
    outer = jax.sharding.get_abstract_mesh()
    return jax.shard_map(
        compute,
        # Within a function that is divided over questions, the axes that are left.
        mesh=home.mesh if outer.empty else None,
        in_specs=(
            jax.tree.map(
                lambda part: jax.tree.map(lambda _: over, part) if _ranged(part) else whole,
                tables,
                is_leaf=_ranged,
            ),
            over,
            *(whole for _ in (index, *more)),
        ),
        out_specs=whole,
        axis_names={AXIS},
        check_vma=False,
    )(tables, home.span, index, *more)


def _ranged(part: Any) -> bool:
    return isinstance(part, Ranged)


def _here(part: Any) -> Any:
    return _Here(part.rows[0], part.span[0, 0], part.shape) if _ranged(part) else part
