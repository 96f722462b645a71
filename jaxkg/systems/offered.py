"""Any system, with a language model that chooses among the readings of a question.

The readings are query graphs that answer differently: those that the system has itself, or its
relation paths from the linked topics, which are the smallest query graphs. What the model says is
added to the system's own score; the reading that is likeliest then is executed, cited and checked
as any answer is.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from jaxkg import query as q
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.calls.choosing import Asked, Choice, choose_by_model
from jaxkg.adjudicate.calls.one_shot import FAILED
from jaxkg.answer import JUDGED, Answer
from jaxkg.cite.queries import query_answer
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.limits import shortened
from jaxkg.readings import say
from jaxkg.records import OtherReading, Question, RankedEntity, TraceNode
from jaxkg.systems.answering import Progress, QuestionAnswering, Stages
from jaxkg.systems.parts import OfferSettings

CITED = 200
"""Answers whose walks are spelt out."""
_SHOWN = 5
"""Answers in the preview of a reading."""
OTHERS = 3
"""Readings that an answer tells beside its own, or a withheld one tells."""
_TRIED = 4
"""Relation paths executed at most for each reading that is offered."""


@dataclasses.dataclass(frozen=True)
class Offer:
    """A reading that is offered.

    Attributes:
        reading: in words, with its preview; its confidence is the system's.
        own: the system answered by it.
        relations: of a relation path, as the answer's plan has it.
        query: its query graph; None of an own reading that no query graph says.
    """

    reading: OtherReading
    own: bool = False
    relations: tuple[str, ...] = ()
    query: q.Query | None = None


class OfferedQA(QuestionAnswering):
    """A system, and the model that is offered its best readings.

    Args:
        inner: the system.
        kg: its graph.
        backend: the model.
        settings: how many readings, when the model is asked, how much its word counts.
        repair: allow one more call for a reply that cannot be read.
    """

    def __init__(
        self,
        inner: QuestionAnswering,
        kg: KnowledgeGraph,
        backend: Backend,
        settings: OfferSettings = OfferSettings(),
        *,
        repair: bool = False,
    ) -> None:
        self.inner, self.kg, self.backend = inner, kg, backend
        self.settings, self.repair = settings, repair

    @functools.cached_property
    def sets(self) -> QuerySets:
        """Executes query graphs."""
        return getattr(self.inner, "sets", None) or QuerySets(self.kg)

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """Answer all questions, then ask the model about those that it is to choose for."""
        found = self.inner.answer(questions, use_given=use_given, on_progress=on_progress)
        return [answer for answer, _, _ in self._chosen(found)]

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """An answer, what the system considered, and the readings the model was offered."""
        found, stages = self.inner.traced(question)
        [(answer, offers, chosen)] = self._chosen([found])
        told = tuple(
            TraceNode(each.reading.reading, each.reading.confidence, place == chosen)
            for place, each in enumerate(offers)
        )
        return answer, (*stages, TraceNode("readings offered to the model", below=told))

    def _chosen(
        self, found: Sequence[Answer]
    ) -> list[tuple[Answer, tuple[Offer, ...], int | None]]:
        """Each answer as it is then, what was offered for it, and the place of what is chosen."""
        clock = Stages()
        offers = [self.offers(answer) for answer in found]
        asked = [place for place, some in enumerate(offers) if len(some) > 1]
        clock.end("offer")
        choices = choose_by_model(
            self.backend,
            [
                Asked(
                    found[place].question,
                    found[place].question_id,
                    tuple(each.reading for each in offers[place]),
                )
                for place in asked
            ],
            pointwise=self.settings.prompts == "point",
            seed=self.settings.seed,
            repair=self.repair,
        )
        told = dict(zip(asked, choices))
        made = []
        for place, (answer, some) in enumerate(zip(found, offers)):
            chosen = None
            answer = dataclasses.replace(
                answer, system=answer.system + JUDGED, readings=answer.readings[:OTHERS]
            )
            if place in told:
                answer, chosen = self._decided(answer, some, told[place])
            made.append((answer, some, chosen))
        return made

    def _decided(
        self, answer: Answer, offers: Sequence[Offer], choice: Choice
    ) -> tuple[Answer, int | None]:
        """An answer as the model's word leaves it, and the place of the reading chosen."""
        answer = dataclasses.replace(
            answer,
            usage=answer.usage + choice.usage,
            rationale=choice.rationale or answer.rationale,
            notes=(*answer.notes, *choice.notes),
        )
        if choice.logits is None:
            failed = f"{choice.error}: {choice.detail}"
            stays = "the system's own choice stands"
            if choice.error == "budget":
                note = f"partial: {choice.detail}; {stays}"
                return dataclasses.replace(answer, notes=(*answer.notes, note)), None
            note = f"{FAILED} ({failed}); {stays}"
            return dataclasses.replace(answer, notes=(*answer.notes, note), error=failed), None
        chances = self.chances(offers, choice.logits)
        best = int(np.argmax(chances))
        chosen, chance = offers[best], float(chances[best])
        calls = f"{choice.usage.calls} {'call' if choice.usage.calls == 1 else 'calls'}"
        among = f"the model chose among {len(offers)} readings ({calls})"
        others = [
            dataclasses.replace(offers[place].reading, confidence=float(chances[place]))
            for place in np.argsort(-chances, kind="stable").tolist()
        ]
        if chosen.own:
            note = f"{among} and keeps to the system's own"
            readings = tuple(some for some in others if some != others[0])[:OTHERS]
            return (
                dataclasses.replace(answer, notes=(*answer.notes, note), readings=readings),
                best,
            )
        withheld = answer.abstained is not None
        first = offers[0].reading.confidence
        tied = offers[1].reading.confidence > 0.99 * first
        # A calibrated system that withholds a sure reading has another reason than its chance.
        denied = withheld and bool(answer.readings) and first >= self.threshold and not tied
        if withheld and (chance < self.threshold or (denied and best == 0)):
            why = f"the confidence in its choice, {chance:.2f}, is below {self.threshold:.2f}"
            if chance >= self.threshold:
                why = "it keeps to the reading that the system withholds, which stays withheld"
            note = f"{among}: {why}"
            return (
                dataclasses.replace(
                    answer, notes=(*answer.notes, note), readings=tuple(others[:OTHERS])
                ),
                None,
            )
        assert chosen.query is not None
        clock = Stages()
        made = query_answer(
            self.sets,
            chosen.query,
            self.sets.execute(chosen.query),
            question=answer.question,
            topics=answer.topics,
            most=CITED,
        )
        clock.end("cite")
        before = answer.notes
        if not withheld:
            before = tuple(f"of the system's own reading: {note}" for note in before)
        note = f"{among}: the {_nth(best + 1)} by the system's score"
        return (
            dataclasses.replace(
                made,
                question_id=answer.question_id,
                system=answer.system,
                plan=tuple(
                    dataclasses.replace(some, used=some.relations == chosen.relations)
                    for some in answer.plan
                ),
                notes=(*made.notes, *before, note),
                usage=answer.usage + clock.usage(1),
                rationale=answer.rationale,
                dropped=answer.dropped,
                refused=answer.refused,
                readings=tuple(others[1 : 1 + OTHERS]),
                retrieved=answer.retrieved,
            ),
            best,
        )

    @property
    def threshold(self) -> float:
        """Least chance of a reading that a withheld answer is then given by."""
        return getattr(self.inner, "threshold", 0.0)

    def chances(self, offers: Sequence[Offer], logits: Sequence[float]) -> np.ndarray:
        """[C] float64, the chance of each reading once the model has spoken.

        The system's log-scores and the model's logits add up; together the readings are as likely
        as they were.
        """
        prior = np.array([each.reading.confidence for each in offers])
        score = np.log(np.maximum(prior, 1e-6)) + self.settings.weight * np.array(logits)
        share = np.exp(score - score.max())
        return min(1.0, float(prior.sum())) * share / share.sum()

    def offers(self, answer: Answer) -> tuple[Offer, ...]:
        """The readings of an answer to be offered, likeliest first; none where nobody is asked."""
        if answer.error is not None:
            return ()
        if self._native(answer):
            offers = list(self._read(answer))
            sure = offers[0].reading.confidence if offers and offers[0].own else 0.0
        else:
            offers, sure = self._paths(answer)
        if self.settings.ask == "unsure" and sure >= self.settings.certain:
            return ()
        offers = offers[: self.settings.offered]
        together = sum(offer.reading.confidence for offer in offers)
        if self.settings.ask == "unsure" and answer.abstained and together < self.threshold:
            return ()  # whatever the model said, none would be likely enough
        return tuple(offers)

    @staticmethod
    def _native(answer: Answer) -> bool:
        """Whether a system tells its readings as query graphs."""
        if answer.readings:
            return True
        return answer.query is not None and all(some.used for some in answer.plan)

    def _read(self, answer: Answer) -> Iterator[Offer]:
        """The query graph answered by, and those that a system tells beside it."""
        if answer.query is not None and answer.abstained is None:
            own = answer.plan[0].probability if answer.plan else 1.0
            yield self._own(answer, answer.reading, own)
        for other in answer.readings:
            if other.query is not None:
                yield Offer(other, query=q.query_from_dict(other.query))

    def _own(self, answer: Answer, words: str, confidence: float) -> Offer:
        return Offer(previewed(words, confidence, answer.entities, answer.query), own=True)

    def _paths(self, answer: Answer) -> tuple[list[Offer], float]:
        """Relation paths that answer differently, likeliest first, and how sure the own one is."""
        plan = [some for some in answer.plan if some.relations]
        answered = answer.abstained is None
        used = [some for some in plan if some.used] if answered else []
        taken = sum(some.probability for some in used)
        rest = sum(some.probability for some in plan) - taken
        sure = min(taken, taken / max(taken + rest, 1e-9)) if answered else 0.0
        offers: list[Offer] = []
        keys: set[bytes] = set()
        whole = len(used) > 1 or answer.query is not None
        if answered and used and whole:
            nodes = np.unique([self.kg.entity(each.entity) for each in answer.entities])
            keys.add(self._key(nodes))
            offers.append(self._own(answer, self._words(answer, used[0].relations), taken))
        if self.settings.ask == "unsure" and sure >= self.settings.certain:
            return [], sure
        order = sorted(plan, key=lambda some: -some.probability)
        for some in order[: _TRIED * self.settings.offered]:
            if (query := self.query(answer, some.relations)) is None:
                break
            nodes = self.sets.execute(query).rows
            own = some.used and answered and not whole
            if not own and (not len(nodes) or self._key(nodes) in keys):
                continue
            keys.add(self._key(nodes))
            if own:
                offer = self._own(answer, say(self.kg, query), some.probability)
                offers.append(dataclasses.replace(offer, relations=some.relations))
                continue
            names = tuple(shortened(self.kg.name(node)) for node in nodes[:_SHOWN].tolist())
            reading = OtherReading(
                say(self.kg, query),
                min(1.0, some.probability),
                names,
                len(nodes) - len(names),
                q.query_to_dict(query),
            )
            offers.append(Offer(reading, relations=some.relations, query=query))
        return sorted(offers, key=lambda offer: -offer.reading.confidence), sure

    def _words(self, answer: Answer, relations: tuple[str, ...]) -> str:
        if answer.reading:
            return answer.reading
        query = self.query(answer, relations)
        return "" if query is None else f"{say(self.kg, query)}; and what is said beside it"

    def _key(self, nodes: np.ndarray) -> bytes:
        """What a reading answers; nodes without a name count where there is nothing else."""
        named = [node for node in nodes.tolist() if self.kg.has_name(node)]
        return np.array(named or nodes.tolist(), np.int64).tobytes()

    def query(self, answer: Answer, relations: Sequence[str]) -> q.Query | None:
        """A relation path from the linked topics as a query graph.

        Several topics come to what is reached from each, where there is any, else from any.
        """
        topics: dict[str, list[str]] = {}
        for link in answer.topics:
            if link.chosen:
                topics.setdefault(link.name, []).append(link.entity)
        branches = [self._walk(tuple(ids), relations) for ids in topics.values()]
        if len(branches) < 2:
            return branches[0] if branches else None
        both = q.Intersection(tuple(branches))
        return both if len(self.sets.execute(both).rows) else q.Union(tuple(branches))

    def _walk(self, topics: tuple[str, ...], relations: Sequence[str]) -> q.Node:
        returns = getattr(self.inner, "revisit", "topic") != "topic"
        if not getattr(self.inner, "directed", True):
            steps = [hop.split("|") for hop in relations]
            relations = ["|".join(dict.fromkeys((*hop, *map(q.inverse, hop)))) for hop in steps]
        return q.path_query(topics, relations, returns=returns)


def previewed(
    words: str,
    confidence: float,
    entities: Sequence[RankedEntity],
    query: Mapping[str, Any] | None,
) -> OtherReading:
    """A reading in words with its first answers."""
    names = tuple(shortened(each.name) for each in entities[:_SHOWN])
    return OtherReading(words, min(1.0, confidence), names, len(entities) - len(names), query)


def _nth(number: int) -> str:
    """An ordinal.

    >>> _nth(2), _nth(6)
    ('2nd', '6th')
    """
    return f"{number}{({1: 'st', 2: 'nd', 3: 'rd'}).get(number, 'th')}"
