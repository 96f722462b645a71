"""Vectors from an embeddings endpoint of the OpenAI protocol."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxkg.errors import JaxkgError


class RemoteEncoder:
    """Asks an endpoint (hosted, vLLM, Ollama, llama.cpp) for vectors.

    Attributes:
        name: of the model at the endpoint.
        base_url: address of the endpoint; None is the hosted service.
        batch_size: texts a request.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        dimension: int | None = None,
        batch_size: int = 256,
        timeout: float = 60.0,
        retries: int = 4,
    ) -> None:
        """Nothing is sent before the first text, or before `dimension` is read.

        Args:
            model: name at the endpoint.
            base_url: else OPENAI_BASE_URL, else the hosted service.
            api_key: else OPENAI_API_KEY; may be absent where a base URL is given.
            dimension: to ask for, where the model can shorten its vectors; None takes its own.
            batch_size: texts a request.
            timeout: seconds a request.
            retries: of requests that fail for the moment, with growing waits.

        Raises:
            JaxkgError: no model, or no key for the hosted service.
        """
        if not model:
            raise JaxkgError("name the embedding model at the endpoint")
        self.name = model
        self.base_url = base_url or os.environ.get("OPENAI_BASE_URL") or None
        self.batch_size = batch_size
        self._key = api_key or os.environ.get("OPENAI_API_KEY", "")
        if not self._key and not self.base_url:
            raise JaxkgError(
                "no key for the hosted service: set OPENAI_API_KEY, or name your own server with "
                "base_url=..., e.g. http://localhost:11434/v1"
            )
        self._asked_dimension = self._dimension = dimension
        self._timeout, self._retries = timeout, retries

    @property
    def revision(self) -> str:
        """The endpoint and the dimension asked for; what it serves under a name it alone knows."""
        return f"{self.base_url or 'hosted'} {self._asked_dimension or 'full'}"

    @property
    def dimension(self) -> int:
        """D; asks the endpoint once where it was not given."""
        if self._dimension is None:
            self._dimension = self._ask(["dimension"]).shape[1]
        return self._dimension

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Encode texts.

        Returns:
            [Q, D] float32 of length 1; 0 for a blank text, which endpoints refuse.

        Raises:
            JaxkgError: the endpoint fails or answers with something else than vectors.
        """
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        said = [place for place, text in enumerate(texts) if text.strip()]
        for first in range(0, len(said), self.batch_size):
            places = said[first : first + self.batch_size]
            answer = self._ask([texts[place] for place in places])
            if answer.shape[1] != self.dimension:
                raise JaxkgError(
                    f"{self.name} answered with {answer.shape[1]} numbers a text, not "
                    f"{self.dimension}; leave dimension out if it cannot shorten its vectors"
                )
            vectors[places] = answer
        return vectors

    def _ask(self, texts: list[str]) -> np.ndarray:
        import openai  # half a second: only for those who ask an endpoint

        options: dict[str, Any] = {}
        if self._asked_dimension is not None:
            options["dimensions"] = self._asked_dimension
        try:
            with openai.OpenAI(
                base_url=self.base_url,
                api_key=self._key or "unused",
                timeout=self._timeout,
                max_retries=self._retries,
            ) as client:
                reply = client.embeddings.create(
                    model=self.name, input=texts, encoding_format="float", **options
                )
            rows = sorted(reply.data, key=lambda row: row.index)
            table = np.asarray([row.embedding for row in rows], np.float32)
        except openai.OpenAIError as error:
            said = str(error).replace(self._key, "***") if self._key else str(error)
            raise JaxkgError(
                f"{self.name} at {self.base_url or 'the hosted service'}: {said}"
            ) from (None if self._key else error)
        except (TypeError, ValueError, AttributeError) as error:
            raise JaxkgError(f"{self.name} answered without vectors: {error}") from error
        if table.ndim != 2 or len(table) != len(texts) or not np.isfinite(table).all():
            raise JaxkgError(
                f"{self.name} answered {len(texts)} texts with numbers of shape {table.shape}"
            )
        size = np.linalg.norm(table, axis=1, keepdims=True)
        return table / np.where(size > 0, size, 1)
