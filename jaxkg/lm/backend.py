"""A language model in this process as a backend of the ASK stage: no endpoint, no network.

Where a prompt offers options (entities that paths end in, relations of the graph), the reply is
written under a grammar and cannot name anything else. Everything else is answered in free text.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections import defaultdict
from collections.abc import Sequence

from jax.typing import DTypeLike

from jaxkg.adjudicate.backend import Closing
from jaxkg.adjudicate.endpoint.dialect import wire_messages
from jaxkg.adjudicate.endpoint.prices import Rates
from jaxkg.adjudicate.requests import Admit, OnReply, Reply, Request
from jaxkg.errors import JaxkgError
from jaxkg.lm.checkpoint import LanguageModel, named_tensors
from jaxkg.lm.generate import Generated, generate
from jaxkg.lm.grammar import Grammar, build_grammar, split_list
from jaxkg.lm.offers import Offer, read_offer
from jaxkg.storage import digest_of

PREFIX = "local:"
"""What names a model folder or a GGUF file where the name of a model is expected."""

_FREE_TOKENS = 256
"""Longest free reply where the request sets no limit."""


@dataclasses.dataclass(frozen=True)
class _Job:
    """A request as it is generated.

    Attributes:
        place: in its batch.
        offer: what the reply is restricted to; None for free text.
        named: options by their tokens.
    """

    place: int
    request: Request
    offer: Offer | None
    prompt: list[int]
    named: dict[tuple[int, ...], str]


class LocalLM(Closing):
    """Answers requests with a `LanguageModel`; counts tokens exactly and costs nothing.

    Attributes:
        language: the model.
        model: its name with a digest of its weights, so that a cache never mixes two trainings.
        rates: zero.
        compact: it was taught to judge paths and to plan, and follows no instructions.

    Example:
        >>> with LocalLM.open("models/student") as backend:  # doctest: +SKIP
        ...     answers = adjudicate(backend, retrieved)
    """

    def __init__(self, language: LanguageModel, *, batch_size: int = 16) -> None:
        """Take a model.

        Args:
            language: weights and tokenizer. Where its `about` says `"prompts": "compact"`, it is
                shown short prompts, see `Offer.turns`.
            batch_size: requests that are answered together.

        Raises:
            JaxkgError: batch_size is below 1, or it is not known how this model's chats are
                written.
        """
        if batch_size < 1:
            raise JaxkgError(f"batch_size is at least 1, not {batch_size}")
        self._end = language.tokenizer.end
        self._newline = language.tokenizer.newline
        self.language = language
        self.rates: Rates | None = Rates(prompt=0.0, completion=0.0)
        self._context = language.config.max_position_embeddings
        weights = language.digest
        if not weights:
            tensors = dict(named_tensors(language.model))
            weights = digest_of(tensors[name] for name in sorted(tensors))
        self.model = f"{PREFIX}{language.name}@{weights[:12]}"
        self.compact = language.about.get("prompts") == "compact"
        self._batch_size = batch_size

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, dtype: DTypeLike | None = None) -> LocalLM:
        """Open a folder or a GGUF file, by its path or as `local:PATH`; see the class for the rest.

        Raises:
            JaxkgError: see `LanguageModel.open`.
        """
        return cls(LanguageModel.open(os.fspath(folder).removeprefix(PREFIX), dtype=dtype))

    @property
    def at_once(self) -> int:
        """Requests that are answered together."""
        return self._batch_size

    def complete(
        self, requests: Sequence[Request], *, admit: Admit = None, on_reply: OnReply = None
    ) -> list[Reply]:
        """One reply per request, in order; `seconds` are those of the batch it was part of."""
        replies: list[Reply] = []
        for first in range(0, len(requests), self._batch_size):
            some = requests[first : first + self._batch_size]
            held = [admit(first + i) if admit else None for i in range(len(some))]
            found = self._answered({i: r for i, r in enumerate(some) if not held[i]})
            for i, reason in enumerate(held):
                replies.append(Reply.held_back(reason) if reason else found[i])
                if on_reply:
                    on_reply(first + i, replies[-1])
        return replies

    def _answered(self, requests: dict[int, Request]) -> dict[int, Reply]:
        """Replies by place; requests of one kind are generated together."""
        replies: dict[int, Reply] = {}
        kinds: dict[tuple[object, ...], list[_Job]] = defaultdict(list)
        for place, request in requests.items():
            job = self._job(place, request)
            if isinstance(job, Reply):
                replies[place] = job
            else:
                kinds[(job.offer.stage, job.offer.most) if job.offer else ()].append(job)
        for jobs in kinds.values():
            replies |= self._generated(jobs)
        return replies

    def _job(self, place: int, request: Request) -> _Job | Reply:
        """The prompt as the model reads it, or why it cannot be answered."""
        tokenizer, offer = self.language.tokenizer, read_offer(request)
        if offer is None and self.compact:
            return Reply(
                error="bad_request",
                detail=f"{self.model} was taught to adjudicate and to plan alone; stage "
                f"{request.stage!r} needs a model that follows instructions",
            )
        if offer is not None:
            turns = offer.turns(request.messages, compact=self.compact)
        else:
            sent = wire_messages(request, structured=False)
            turns = [(message.role, message.content) for message in sent]
        prompt = tokenizer.chat(turns)
        most = self.language.config.max_position_embeddings
        if len(prompt) >= most:
            return Reply(
                error="bad_request",
                detail=f"the prompt has {len(prompt)} tokens, {self.model} takes less than {most}",
            )
        options = offer.options(compact=self.compact) if offer else ()
        named = {tuple(tokenizer.encode(name)): name for name in options if name}
        return _Job(place, request, offer if named else None, prompt, named)

    def _generated(self, jobs: Sequence[_Job]) -> dict[int, Reply]:
        begin = time.perf_counter()
        grammar, longest = self._grammar(jobs)
        limits = [longest if j.request.max_tokens is None else j.request.max_tokens for j in jobs]
        room = self.language.config.max_position_embeddings - max(len(j.prompt) for j in jobs)
        found = generate(
            self.language.model,
            [job.prompt for job in jobs],
            end=self._end,
            max_tokens=max(1, min(room, max(limits))),
            temperature=[job.request.temperature or 0.0 for job in jobs],
            seeds=[job.request.seed or 0 for job in jobs],
            grammar=grammar,
        )
        seconds = time.perf_counter() - begin
        return {
            job.place: self._reply(job, each, limit, seconds)
            for job, each, limit in zip(jobs, found, limits)
        }

    def _grammar(self, jobs: Sequence[_Job]) -> tuple[Grammar | None, int]:
        """What jobs of one kind may write, and the tokens it takes at most."""
        offer = jobs[0].offer
        if offer is None:
            return None, _FREE_TOKENS
        most = offer.most
        grammar = build_grammar(
            [list(job.named) for job in jobs],
            separator=self._newline,
            end=self._end[0],
            most=most,
            # A plan may take one relation twice and has a hop; that no path answers is an answer.
            least=0 if most is None else 1,
            repeat=most is not None,
        )
        sizes = [[len(tokens) + 1 for tokens in job.named] for job in jobs]
        return grammar, max(sum(some) if most is None else most * max(some) for some in sizes)

    def _reply(self, job: _Job, found: Generated, limit: int, seconds: float) -> Reply:
        tokens, finish = found.tokens, found.finish
        if len(tokens) > limit:  # the batch went on for a request with a higher limit
            tokens, finish = tokens[:limit], "length"
        if job.offer is not None:
            # A list that was cut off may end within a name: what is no whole option goes.
            items = split_list(tokens, self._newline)
            chosen = [job.named[item] for item in items if item in job.named]
            text = job.offer.reply(chosen, compact=self.compact)
        else:
            text = self.language.tokenizer.decode(tokens)
        return Reply(
            text=text,
            finish=finish,
            prompt_tokens=len(job.prompt),
            completion_tokens=len(tokens),
            seconds=seconds,
        )
