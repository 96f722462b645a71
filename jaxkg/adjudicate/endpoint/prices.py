"""What a model's tokens cost, from an editable table."""

from __future__ import annotations

import dataclasses
import fnmatch
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from jaxkg.errors import JaxkgError

DEFAULT_TABLE = Path(__file__).with_name("prices.toml")


@dataclasses.dataclass(frozen=True)
class Rates:
    """Price of a million tokens.

    Example:
        >>> Rates(prompt=0.25, completion=2.0).price(1_000_000, 500_000)
        1.25
    """

    prompt: float
    completion: float
    currency: str = "USD"

    def price(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Price of a call, in `currency`."""
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / 1e6


@dataclasses.dataclass(frozen=True)
class PriceTable:
    """Rates by model name; names may hold `*` and `?`, the longest that fits wins.

    Attributes:
        rates: by model name or pattern.
        source: the file it was read from, for messages.
    """

    rates: Mapping[str, Rates]
    source: str = ""

    @classmethod
    def load(cls, path: str | os.PathLike[str] | None = None) -> Self:
        """Read a table: `path`, else the file JAXKG_PRICES names, else the one that is shipped.

        Raises:
            JaxkgError: no such file, not TOML, or a price that is not a number >= 0.
        """
        file = Path(path or os.environ.get("JAXKG_PRICES") or DEFAULT_TABLE)
        try:
            raw = tomllib.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise JaxkgError(f"{file}: cannot read the price table: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise JaxkgError(f"{file}: the price table is not TOML: {error}") from error
        currency, rates = raw.get("currency", "USD"), {}
        for name, entry in raw.get("models", {}).items():
            prompt, completion = _number(entry, "prompt"), _number(entry, "completion")
            if prompt is None or completion is None:
                raise JaxkgError(
                    f"{file}: model {name!r} needs prompt and completion, a number >= 0 each, "
                    'e.g. "my-model" = { prompt = 0.1, completion = 0.4 }'
                )
            rates[name] = Rates(prompt, completion, currency)
        return cls(rates, str(file))

    def of(self, model: str) -> Rates | None:
        """Rates of a model; None where no entry fits.

        Example:
            >>> table = PriceTable({"m*": Rates(1, 1), "m-small*": Rates(0, 0)})
            >>> table.of("m-small-2").prompt, table.of("m-large").prompt, table.of("other")
            (0, 1, None)
        """
        if model in self.rates:
            return self.rates[model]
        fits = [name for name in self.rates if fnmatch.fnmatchcase(model, name)]
        return self.rates[max(fits, key=len)] if fits else None


def _number(entry: object, key: str) -> float | None:
    value = entry.get(key) if isinstance(entry, dict) else None
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value < float("inf") else None
