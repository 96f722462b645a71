"""GHRR: a hypervector is D unitary m x m blocks, binding is their matrix product.

The axis of the blocks is the *last* one, `[m, m, D]`: entry (i, j) of all blocks is contiguous, and
binding compiles to vector code along D.

What the three families of random blocks give, checked in the tests and printed by
`scripts/tables/table_hdc_capacity.py`:

- "haar": uniform on U(m). Similarity of independent symbols has mean 0 and variance 1/(2d).
- "householder": a product of reflections I - 2 v v*, times one random phase per block. PathHD,
  Sec. 2.2, names a plain product, but its blocks have mean (1 - 2/m)^n I rather than the zero that
  its Prop. 1 asks for, so unrelated symbols would be similar (0.25 for one reflection, m = 4); the
  phase removes that.
- "diagonal": diag(exp(i phi)), the family PathHD names first. Such blocks **commute**: order is
  lost (similarity of a * b and b * a is 1), and m^2 - m of m^2 entries are zeros, so the similarity
  of independent symbols has variance m/(2d), as if d were m times smaller.

Even Haar blocks do not make a * b and b * a orthogonal, however large d: the similarity has mean
E tr(commutator)/m = 1/m^2 (0.0625 for m = 4), because the swapped path has the same relations. The
zero-mean claim of PathHD, Prop. 1, "for any distractor", holds for distractors that use some
relation a different number of times than the query does.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp

from jaxkg.errors import JaxkgError
from jaxkg.score.hdc import layout as lay
from jaxkg.score.hdc.algebra import Algebra

_SQUARINGS = 8
_TAYLOR = 8

FAMILIES = ("haar", "householder", "diagonal")


def ghrr(
    blocks: int = 256,
    m: int = 4,
    *,
    family: str = "haar",
    reflections: int | None = None,
    layout: str = "complex",
    dtype: Any = jnp.float32,
) -> Algebra:
    """Generalized holographic reduced representations (PathHD, Eq. 1, 3 and 4).

    Dimension d = blocks * m^2 counts complex entries, as PathHD, Eq. 1, has v in C^d; the
    hypervector takes 2d floats. (Haar blocks have m^2 real degrees of freedom each, so d is also
    the number of free real parameters.)

    Args:
        blocks: D.
        m: size of a block; 1 is FHRR, 4 is the paper's.
        family: "haar", "householder" or "diagonal", of `random` symbols.
        reflections: factors of a Householder block; m if None.
        layout: "complex" (complex64, `[m, m, D]`) or "pair" (`[2, m, m, D]`, real part first).
        dtype: storage of the parts, float32 or bfloat16 (pairs only).

    Raises:
        JaxkgError: a size below 1, or an unknown family, layout or dtype.

    Example:
        >>> import jax
        >>> g = ghrr(blocks=64)
        >>> a, b = g.random((2,), key=jax.random.key(0))
        >>> round(float(g.similarity(g.unbind_left(a, g.bind(a, b)), b)), 3)
        1.0
        >>> bool(g.similarity(g.bind(a, b), g.bind(b, a)) < 0.2)
        True
    """
    if blocks < 1 or m < 1:
        raise JaxkgError(f"ghrr needs blocks >= 1 and m >= 1, got blocks={blocks}, m={m}")
    if family not in FAMILIES:
        raise JaxkgError(f"family {family!r} is unknown: use one of {', '.join(FAMILIES)}")
    reflections = m if reflections is None else reflections
    if reflections < 1:
        raise JaxkgError(f"a Householder block needs at least 1 reflection, got {reflections}")
    return _ghrr(blocks, m, family, reflections, layout, jnp.dtype(dtype))


@functools.cache
def _ghrr(blocks: int, m: int, family: str, reflections: int, layout: str, dtype: Any) -> Algebra:
    storage = lay.complex_layout(layout, dtype, (m, m, blocks))
    load, store = storage.load, storage.store
    diagonal = family == "diagonal"

    def random(shape: tuple[int, ...] = (), *, key: jax.Array) -> jax.Array:
        if family == "haar":
            z = haar_blocks((*shape, blocks), m, key=key)
        elif family == "householder":
            z = householder_blocks((*shape, blocks), m, reflections, key=key)
        else:
            z = _phasor((*shape, blocks, m, 1), key) * _eye((*shape, blocks), m)
        z = jnp.moveaxis(z, -3, -1)
        return store(jnp.real(z), jnp.imag(z))

    def identity() -> jax.Array:
        eye = jnp.broadcast_to(jnp.eye(m, dtype=jnp.float32)[:, :, None], (m, m, blocks))
        return store(eye, jnp.zeros_like(eye))

    def operands(x: jax.Array, y: jax.Array) -> tuple[lay.Pair, lay.Pair]:
        # A product fused into the next one would be computed m times over.
        x, y = jax.lax.optimization_barrier((x, y))
        return load(x), load(y)

    def bind(x: jax.Array, y: jax.Array) -> jax.Array:
        return store(*lay.matmul(*operands(x, y)))

    def inverse(x: jax.Array) -> jax.Array:
        return store(*lay.adjoint(load(x)))

    def unbind_left(x: jax.Array, z: jax.Array) -> jax.Array:
        left, right = operands(x, z)
        return store(*lay.matmul(lay.adjoint(left), right))

    def smooth(g: jax.Array, *, key: jax.Array) -> jax.Array:
        # The shared random block in front keeps order: without it symbols that vary slowly are all
        # near the identity and commute.
        return bind(random(key=key), store(*_exponential(*_skew(g, m, blocks, diagonal))))

    def columns(x: jax.Array) -> jax.Array:
        parts = jnp.stack(load(x), axis=-4)
        return parts.reshape(*parts.shape[:-4], 2 * m * m, blocks)

    def from_columns(c: jax.Array) -> jax.Array:
        parts = c.reshape(*c.shape[:-2], 2, m, m, blocks)
        return store(parts[..., 0, :, :, :], parts[..., 1, :, :, :])

    return Algebra(
        name=f"ghrr-{family}",
        dimension=blocks * m * m,
        floats=2 * blocks * m * m,
        shape=storage.shape,
        dtype=storage.dtype,
        energy=float(blocks * m),
        commutative=m == 1 or diagonal,
        isometric=True,
        random=random,
        identity=identity,
        bind=bind,
        inverse=inverse,
        unbind_left=unbind_left,
        coordinates=blocks * (m if diagonal else m * m),
        smooth=smooth,
        blocks=columns,
        from_blocks=from_columns,
    )


def haar_blocks(shape: tuple[int, ...], m: int, *, key: jax.Array) -> jax.Array:
    """`[*shape, m, m]` complex64, uniform on U(m).

    The QR factor of a complex Gaussian matrix is uniform once the diagonal of R is made positive
    (Mezzadri 2007); without that it is not.
    """
    gaussian = jax.random.normal(key, (*shape, m, m), dtype=jnp.complex64)
    q, r = jnp.linalg.qr(gaussian)
    diagonal = jnp.diagonal(r, axis1=-2, axis2=-1)
    return q * (diagonal / jnp.abs(diagonal).astype(jnp.complex64))[..., None, :]


def householder_blocks(
    shape: tuple[int, ...], m: int, reflections: int, *, key: jax.Array
) -> jax.Array:
    """`[*shape, m, m]` complex64: a product of random reflections times one random phase."""
    key_vector, key_phase = jax.random.split(key)
    v = jax.random.normal(key_vector, (*shape, reflections, m), dtype=jnp.complex64)
    v = v / jnp.linalg.norm(v, axis=-1, keepdims=True).astype(jnp.complex64)
    block = _phasor((*shape, 1, 1), key_phase) * _eye(shape, m)
    for k in range(reflections):
        vk = v[..., k, :]
        projected = jnp.einsum("...ij,...j->...i", block, vk)
        block = block - 2 * projected[..., :, None] * jnp.conj(vk)[..., None, :]
    return block


def _phasor(shape: tuple[int, ...], key: jax.Array) -> jax.Array:
    phase = jax.random.uniform(key, shape, maxval=2 * jnp.pi)
    return jax.lax.complex(jnp.cos(phase), jnp.sin(phase))


def _eye(shape: tuple[int, ...], m: int) -> jax.Array:
    return jnp.broadcast_to(jnp.eye(m, dtype=jnp.complex64), (*shape, m, m))


def _skew(g: jax.Array, m: int, blocks: int, diagonal: bool) -> lay.Pair:
    """`[m, m, D]` skew-Hermitian blocks with E|S|_F^2 = m for standard normal coordinates g."""
    if diagonal:
        phase = jnp.eye(m)[:, :, None] * g.reshape(1, m, blocks)
        return jnp.zeros_like(phase), phase
    square = g.reshape(m, m, blocks) / jnp.sqrt(2.0 * m)
    transposed = jnp.swapaxes(square, 0, 1)
    upper = jnp.triu(jnp.ones((m, m)), 1)[:, :, None]
    lower = jnp.swapaxes(upper, 0, 1)
    on = jnp.eye(m)[:, :, None]
    # Coordinates above the diagonal are real parts, those below imaginary parts, scaled so that
    # the basis is orthogonal with squared norm 1/m.
    real = upper * square - lower * transposed
    imag = lower * square + upper * transposed + on * square * jnp.sqrt(2.0)
    return real, imag


def _exponential(real: jax.Array, imag: jax.Array) -> lay.Pair:
    """exp of skew-Hermitian blocks of norm up to about 100: Taylor, squaring, one Newton step.

    Matrix products alone, so it is differentiable everywhere (an eigendecomposition is not where
    eigenvalues meet) and runs the same on every device. The Newton step X (3 - X* X) / 2 takes the
    rounding that eight squarings leave (1e-5) back to float32's own.
    """
    m = real.shape[-3]
    eye = jnp.broadcast_to(jnp.eye(m, dtype=jnp.float32)[:, :, None], real.shape)
    small = (real / 2**_SQUARINGS, imag / 2**_SQUARINGS)

    def horner(step: jax.Array, x: lay.Pair) -> lay.Pair:
        order = (_TAYLOR - step).astype(jnp.float32)
        product = lay.matmul(small, x)
        return eye + product[0] / order, product[1] / order

    # Loops, not unrolled: one product compiles in a tenth of the time of seventeen.
    x = jax.lax.fori_loop(0, _TAYLOR, horner, (eye, jnp.zeros_like(eye)))
    x = jax.lax.fori_loop(0, _SQUARINGS, lambda _, x: lay.matmul(x, x), x)
    gram = lay.matmul(lay.adjoint(x), x)
    return lay.matmul(x, ((3 * eye - gram[0]) / 2, -gram[1] / 2))
