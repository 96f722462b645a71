"""Everything around a model in one call: endpoint, cache, budgets and meter."""

from __future__ import annotations

import os
from typing import Any

from jaxkg.adjudicate.around.budget import Budget, Caps
from jaxkg.adjudicate.around.cache import Cache
from jaxkg.adjudicate.around.meter import Meter
from jaxkg.adjudicate.backend import Backend, Manner
from jaxkg.adjudicate.endpoint.openai import OpenAIBackend


def connect(
    model: str | None = None,
    *,
    cache: str | os.PathLike[str] | None = None,
    retry: bool = False,
    run: Caps | None = None,
    question: Caps | None = None,
    endpoint: Backend | None = None,
    manner: Manner | None = None,
    **options: Any,
) -> Meter:
    """A backend that caches, keeps to its budgets and counts.

    The caps of the run count what this process pays for. The caps per question count cached replies
    as well: they shape an answer, so a resumed run must meet them where the first one did.

    Args:
        model, manner: see `OpenAIBackend`.
        cache: file that keeps every reply; None keeps none.
        retry: ask again what has a kept reply that cannot be read.
        run: caps of everything this process pays for.
        question: caps per question.
        endpoint: what answers in place of the OpenAI protocol, e.g. a model on this machine, which
            takes no `model` and `options`.
        options: further ones of `OpenAIBackend`: base_url, api_key, concurrency and others.

    Raises:
        JaxkgError: see `OpenAIBackend`, `Cache` and `Budget`.

    Example:
        >>> with connect("my-model", base_url="http://localhost:8000/v1") as backend:
        ...     backend.model
        'my-model'
    """
    if endpoint is None:
        endpoint = OpenAIBackend(model, manner=manner, **options)
    try:
        backend: Backend = endpoint if run is None else Budget(endpoint, run=run)
        if cache is not None:
            backend = Cache(backend, cache, retry=retry)
        if question is not None:
            backend = Budget(backend, question=question)
    except BaseException:
        endpoint.close()
        raise
    return Meter(backend, manner)
