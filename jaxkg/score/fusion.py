"""Hybrid fusion: a text vector and a graph vector of one thing, weighed against each other.

Reference: Shrestha and Kim, "Efficient multi-hop question answering over knowledge graphs via LLM
planning and embedding-guided search", Fig. 3.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike


class Dense(NamedTuple):
    """A matrix product and a bias."""

    kernel: jax.Array  # [I, O] float32
    bias: jax.Array  # [O] float32


class Fusion(NamedTuple):
    """Weights of one component's fusion; a source that is not used is None."""

    text: Dense | None  # [T, W]
    graph: Dense | None  # [G, W]
    gate: Dense | None  # [2W, 2]; None where there is one source only


def init_dense(inputs: int, outputs: int, *, key: jax.Array) -> Dense:
    """He-scaled weights and no bias."""
    kernel = jax.random.normal(key, (inputs, outputs)) * (2 / max(1, inputs)) ** 0.5
    return Dense(kernel, jnp.zeros(outputs))


def multiply(inputs: jax.Array, kernel: jax.Array, *, dtype: DTypeLike = jnp.float32) -> jax.Array:
    """[..., I] by [I, O] to [..., O] float32; taken in `dtype` and summed in float32."""
    return jnp.einsum(
        "...i,io->...o",
        inputs.astype(dtype),
        kernel.astype(dtype),
        preferred_element_type=jnp.float32,
    )


def dense(layer: Dense, inputs: jax.Array, *, dtype: DTypeLike = jnp.float32) -> jax.Array:
    """[..., I] to [..., O] float32, see `multiply`."""
    product = multiply(inputs, layer.kernel, dtype=dtype)
    return product + layer.bias.reshape((1,) * (product.ndim - 1) + (-1,))


def layer_norm(vectors: jax.Array) -> jax.Array:
    """Zero mean and unit variance along the last axis; a constant vector becomes 0."""
    centred = vectors - jnp.mean(vectors, axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + 1e-6)


def init_fusion(text: int, graph: int, width: int, *, key: jax.Array) -> Fusion:
    """Weights for sources of the given sizes; 0 leaves a source out, and not both may be."""
    keys = jax.random.split(key, 3)
    return Fusion(
        text=init_dense(text, width, key=keys[0]) if text else None,
        graph=init_dense(graph, width, key=keys[1]) if graph else None,
        gate=init_dense(2 * width, 2, key=keys[2]) if text and graph else None,
    )


def fuse(
    params: Fusion, text: jax.Array, graph: jax.Array, *, dtype: DTypeLike = jnp.float32
) -> jax.Array:
    """Fuse the vectors of one component.

    Args:
        text: [..., T] float32; not looked at where `params.text` is None.
        graph: [..., G] float32; likewise.
        dtype: of the products.

    Returns:
        [..., W] float32: a mean of both projections, weighed by a soft gate.
    """
    if params.graph is None:
        assert params.text is not None
        return dense(params.text, layer_norm(text), dtype=dtype)
    of_graph = dense(params.graph, layer_norm(graph), dtype=dtype)
    if params.text is None or params.gate is None:
        return of_graph
    of_text = dense(params.text, layer_norm(text), dtype=dtype)
    both = jnp.concatenate([of_text, of_graph], axis=-1)
    gate = jax.nn.softmax(dense(params.gate, both, dtype=dtype), axis=-1)
    return gate[..., :1] * of_text + gate[..., 1:] * of_graph
