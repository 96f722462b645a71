import jax.numpy as jnp
import numpy as np

from jaxkg.select.hyper_beam import HyperBeam, leads_back


def test_a_path_leads_back_to_any_of_its_hyperedges(rng):
    path = rng.integers(-1, 9, (2, 3, 4)).astype(np.int32)
    beam = HyperBeam(jnp.asarray(path), jnp.zeros((2, 3)), jnp.int32(4))
    parent, edge = (column.ravel().astype(np.int32) for column in np.mgrid[:6, :9])
    walked = path.reshape(6, 4)
    expected = [e in walked[p] for p, e in zip(parent, edge)]
    assert leads_back(beam, jnp.asarray(parent), jnp.asarray(edge)).tolist() == expected
