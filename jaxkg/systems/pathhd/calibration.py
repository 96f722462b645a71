"""PathHD's calibrated score (Eq. 6 and 7): schema frequencies and weights, found from questions."""

from __future__ import annotations

import dataclasses
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import jax.numpy as jnp
import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.score.hdc import calibrate, grid_search, idf
from jaxkg.storage import read_npz, write_npz
from jaxkg.systems.pathhd.settings import PathHDSettings
from jaxkg.types import NULL

_TOLD = ("alpha", "beta", "decay", "num_train", "scaled", "hits")


@dataclasses.dataclass(frozen=True, eq=False)
class Calibration:
    """s(z) = sim + alpha IDF(z) - beta decay^|z|.

    Attributes:
        alpha, beta, decay: weights; alpha = beta = 0 leaves the similarity as it is.
        keys: [S] int64 ascending, the schemas that training questions had among their candidates.
        frequency: [S] int64, of how many questions.
        num_train: number of training questions; 0 makes every IDF 0.
        scaled: IDF divided by its largest value, see `hdc.idf`.
        hits: Hits@1 on the validation questions; None where the weights were given.
    """

    alpha: float = 0.0
    beta: float = 0.0
    decay: float = 0.8
    keys: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    frequency: np.ndarray = dataclasses.field(
        default_factory=lambda: np.zeros(0, np.int64), repr=False
    )
    num_train: int = 0
    scaled: bool = False
    hits: float | None = None

    @classmethod
    def weighted(cls, settings: PathHDSettings) -> Calibration | None:
        """With the weights of the settings and nothing counted; None where both are 0."""
        if not (settings.alpha or settings.beta):
            return None
        return cls(settings.alpha, settings.beta, settings.decay)

    @classmethod
    def counted(
        cls, relations: np.ndarray, *, num_codes: int, scaled: bool = False, **weights: float
    ) -> Calibration:
        """Frequencies from the candidates of training questions.

        Args:
            relations: [Q, K, L] int32 candidates, NULL-padded.
            num_codes: 2R.
            scaled: see `Calibration`.
            **weights: alpha, beta, decay.
        """
        keys = schema_keys(relations, num_codes)
        # Once a question, however many of its candidates share the schema.
        once = [np.unique(row[row != NULL]) for row in keys]
        distinct, count = np.unique(np.concatenate([*once, keys[:0].ravel()]), return_counts=True)
        return cls(
            keys=distinct, frequency=count, num_train=len(relations), scaled=scaled, **weights
        )

    def save(self, path: str | Path, relations: Sequence[str], hops: int) -> None:
        """Write one `.npz` file.

        Args:
            path: of the file.
            relations: the graph's, in order; schemas are kept by their numbers.
            hops: L of the schemas.

        Raises:
            JaxkgError: it cannot be written.
        """
        numbers = {name: getattr(self, name) for name in _TOLD}
        about = json.dumps({**numbers, "hops": hops, "relations": list(relations)})
        arrays = {"keys": self.keys, "frequency": self.frequency}
        write_npz(path, {**arrays, "about": np.frombuffer(about.encode(), np.uint8)})

    @classmethod
    def open(cls, path: str | Path, relations: Sequence[str], hops: int) -> Calibration:
        """Read a file of `save`.

        Raises:
            JaxkgError: there is none, or it is of other relations or another number of hops.
        """
        try:
            arrays = read_npz(path)
            about = json.loads(bytes(arrays["about"]))
            keys, frequency = arrays["keys"], arrays["frequency"]
            known = {name: about[name] for name in _TOLD}
            same = about["relations"] == list(relations), about["hops"] == hops
        except (OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
            raise JaxkgError(f"{path}: no calibration of PathHD: {error}") from None
        if not all(same):
            what = f"{about['hops']} hops, not {hops}" if same[0] else "a graph of other relations"
            raise JaxkgError(f"{path}: this calibration is for {what}; fit it again")
        return cls(keys=keys, frequency=frequency, **known)

    def inverse_frequency(self, relations: np.ndarray, *, num_codes: int) -> np.ndarray:
        """[..., K] float32, Eq. 7 for [..., K, L] schemas."""
        keys = schema_keys(relations, num_codes)
        if not self.num_train:
            return np.zeros(keys.shape, np.float32)
        place = np.minimum(np.searchsorted(self.keys, keys), max(len(self.keys) - 1, 0))
        known = self.keys[place] == keys if len(self.keys) else np.zeros(keys.shape, bool)
        frequency = np.where(known, self.frequency[place] if len(self.keys) else 0, 0)
        value = idf(jnp.asarray(frequency.astype(np.float32)), self.num_train, scaled=self.scaled)
        return np.asarray(value, np.float32)

    def score(self, similarity: np.ndarray, relations: np.ndarray, *, num_codes: int) -> np.ndarray:
        """[..., K] float32, Eq. 6; -inf stays -inf."""
        if not (self.alpha or self.beta):
            return similarity
        rarity = self.inverse_frequency(relations, num_codes=num_codes)
        length = np.sum(relations != NULL, axis=-1)
        scored = calibrate(
            jnp.asarray(similarity),
            jnp.asarray(rarity),
            jnp.asarray(length),
            alpha=self.alpha,
            beta=self.beta,
            decay=self.decay,
        )
        return np.asarray(scored, np.float32)

    def fitted(
        self,
        similarity: np.ndarray,
        relations: np.ndarray,
        hit: np.ndarray,
        *,
        num_codes: int,
    ) -> Calibration:
        """The weights that do best on validation questions (PathHD, App. I.4).

        Args:
            similarity: [Q, K] of the candidates, -inf for none.
            relations: [Q, K, L].
            hit: [Q, K] share of right answers among what each candidate reaches.
            num_codes: 2R.
        """
        valid = np.isfinite(similarity)
        rarity = self.inverse_frequency(relations, num_codes=num_codes)
        length = np.sum(relations != NULL, axis=-1).astype(np.int32)
        best = grid_search(
            jnp.asarray(np.where(valid, similarity, 0.0).astype(np.float32)),
            jnp.asarray(rarity),
            jnp.asarray(length),
            jnp.asarray(hit.astype(np.float32)),
            jnp.asarray(valid),
        )
        return dataclasses.replace(
            self,
            alpha=round(float(best.alpha), 3),
            beta=round(float(best.beta), 3),
            decay=round(float(best.decay), 3),
            hits=float(best.hits.max()),
        )


def schema_keys(relations: np.ndarray, num_codes: int) -> np.ndarray:
    """One int64 for each relation path, NULL for an empty one.

    Args:
        relations: [..., L] int32 codes, NULL-padded.
        num_codes: 2R; (2R + 1)^L must stay below 2^63, which 60,000 codes at four hops do.
    """
    key = np.zeros(relations.shape[:-1], np.int64)
    for hop in range(relations.shape[-1]):
        key = key * (num_codes + 1) + relations[..., hop] + 1
    return np.where(key == 0, NULL, key)
