"""The reader: right answers about any graph, in any words, or a reasoned abstention."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import deque
from collections.abc import Sequence

import numpy as np

from jaxkg.answer import Answer
from jaxkg.cite.queries import query_answer
from jaxkg.deadline import check
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.limits import LIMITS, longer, shortened
from jaxkg.query import Rows, query_to_dict
from jaxkg.readings import say
from jaxkg.readings.pair import PairScorer
from jaxkg.records import Link, OtherReading, PlanCandidate, Question, TraceNode
from jaxkg.systems.answering import Progress, QuestionAnswering, Stages, as_question
from jaxkg.systems.cited import RetrievedEntities
from jaxkg.systems.reader.corrections import Correction, corrected, keep_correction, nameless
from jaxkg.systems.reader.ranking import confidence, confidence_cues, rank_on_host
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.sets.adjusted import (
    counted,
    goes_on,
    in_place,
    summed,
    unadded,
    with_closures,
)
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.direction import is_reversed, is_undirected
from jaxkg.systems.reader.sets.titles import Titles
from jaxkg.systems.reader.sets.unfit import contradicted, has_rival, leaves_out_a_sum
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.twofold import together, two_questions
from jaxkg.systems.reader.vectors import ReaderTexts
from jaxkg.systems.reader.views import Seen, kept_views, views
from jaxkg.systems.reader.weights import ReaderWeights, shipped_weights
from jaxkg.text import TextEncoder
from jaxkg.text.best import best_encoder
from jaxkg.text.encoder import token_encoder

_CITED = 200
"""Answers whose walks are spelt out."""
_CERTAIN = 0.75
"""Confidence from which on no second reading is told."""
_AS_LIKELY = 0.5
"""Score by which a yes or no may be behind a set that no yes or no tells of, and a reading is
surer than its inverse."""
_TIE = 0.99
"""Share of the best reading's confidence from which on another one is as likely."""
_NEAR = math.log(4)
"""How far below the best score a reading is a quarter as likely."""
_TOGETHER = 128
"""Questions whose texts are encoded at once."""
_PAIRED = 10
"""Readings, the likeliest by their views, whose sentences are compared with the question."""
_SHOWN = 5
"""Answers in the preview of a reading."""
_LABELS = 2_000
"""Relations that are looked at to tell the nearest."""
_NOTHING = "nothing of the graph is recognised in the question"
_ADDS_UP = "it looks like a sum or an average, but it is unclear of which numbers"


@dataclasses.dataclass(frozen=True)
class Reading:
    """How a question is read and what that answers.

    Attributes:
        candidate: the query graph and what it denotes.
        words: the query graph in words.
        confidence: chance in [0, 1] that this is what was meant and right.
        answers: entity ids; a number, "yes" or "no".
    """

    candidate: Candidate
    words: str
    confidence: float
    answers: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Understood:
    """A question as it was understood: the best readings, answering differently, best first.

    Attributes:
        asked: the question.
        readings: the readings.
        sure: whether the first is the answer.
        confidence: chance in [0, 1] that the first is right, or what is wanting.
        cues: [K] what the confidence was read off.
        said: the correction that chose the first.
        wanting: the reading that stands before all, where it leads nowhere.
    """

    asked: Asked
    readings: tuple[Reading, ...]
    sure: bool
    confidence: float = 0.0
    cues: np.ndarray | None = None
    said: Correction | None = None
    wanting: Candidate | None = None


class Reader(QuestionAnswering):
    """Answers questions about any graph with shipped weights.

    Example:
        >>> kg = KnowledgeGraph.from_triples([("Alien", "directed_by", "Ridley Scott")])
        >>> reader = Reader.build(kg)
        >>> reader.understand("Who directed Alien?").readings[0].answers
        ('Ridley Scott',)
    """

    def __init__(
        self,
        readings: Readings,
        weights: ReaderWeights,
        settings: ReaderSettings,
        advice: tuple[str, ...] = (),
        corrections: tuple[Correction, ...] = (),
    ) -> None:
        self.kg = readings.kg
        self.readings = readings
        self.weights = weights
        self.settings = settings
        names = (self.kg.entity_names, self.kg.aliases.names)
        long = [
            some[row]
            for some in names
            for row in np.flatnonzero(np.diff(some.offsets) > LIMITS.name).tolist()
        ]
        self.advice = (*advice, *longer(long))
        self.corrections = corrections
        self._kept = kept_views(settings.without)
        encoder = readings.vectors.encoder
        states = token_encoder(encoder) if weights.pair and weights.is_for(encoder) else None
        self._titles = Titles(readings.find)
        self._pair = None
        if states is not None and weights.pair is not None and settings.choose == "pair":
            self._pair = PairScorer(self.kg, states, weights.pair)

    @classmethod
    def build(
        cls,
        kg: KnowledgeGraph,
        encoder: TextEncoder | None = None,
        *,
        weights: ReaderWeights | None = None,
        settings: ReaderSettings = ReaderSettings(),
        advice: tuple[str, ...] = (),
        corrections: tuple[Correction, ...] = (),
        texts: ReaderTexts | None = None,
    ) -> Reader:
        """Make a reader of a graph.

        Args:
            kg: any graph.
            encoder: of texts; None takes the best that this machine has.
            weights: None takes those shipped for the encoder.
            settings: how much is looked at, how sure it must be.
            advice: notes that every answer carries.
            corrections: what users said of earlier questions.
            texts: of another reader, with the same encoder, weights and settings; None makes all
                vectors anew.

        Raises:
            JaxkgError: unknown ablation, or no weights for this encoder.
        """
        if encoder is None:
            encoder, better = best_encoder()
            advice = (*advice, *filter(None, [better]))
        found = weights or shipped_weights(encoder.name)
        used = None if "vectors" in settings.without else encoder
        if texts is None:
            texts = ReaderTexts.of(used, found.phrases, found.change_of(used))
        readings = Readings(kg, texts, settings)
        return cls(readings, found, settings, advice, corrections)

    def understand(self, text: str, topics: Sequence[str] = ()) -> Understood:
        """Read a question.

        Args:
            text: the question.
            topics: ids or names of its topics, where they are known.
        """
        return self._whole(self.readings.asked(text, topics), text)

    def _whole(self, asked: Asked, text: str) -> Understood:
        """A question, or two in one, where both are read surely; those with topics that are given,
        or that somebody corrected, are one."""
        given = any(option.how == "given" for some in asked.mentions for option in some.options)
        known = given or any(each.asks(text) for each in self.corrections)
        parts = None if known else two_questions(text)
        first = self.understood(self.look(parts[0]), parts[0]) if parts else None
        if parts and first is not None and first.sure:
            table = together(self.sets, first.readings[0].candidate, parts[1], self._surest)
            if table is not None and table[1] >= self.threshold:
                sure = min(first.confidence, table[1])
                own = self._reading(table[0], sure)
                return dataclasses.replace(first, readings=(own,), confidence=sure)
        return self.understood(self.seen(asked), text)

    def _surest(self, text: str, topic: str) -> tuple[Candidate, float] | None:
        """The surest reading of a question about one entity, and its confidence."""
        understood = self.understood(self.look(text, (topic,)), text)
        best = understood.readings[:1]
        return (best[0].candidate, best[0].confidence) if best else None

    def look(self, text: str, topics: Sequence[str] = ()) -> Seen:
        """All readings of a question and what the ranker looks at; see `understand`."""
        return self.seen(self.readings.asked(text, topics))

    def seen(self, asked: Asked) -> Seen:
        """`look`, of a question whose words are read."""
        found = self.readings.of(asked)
        seen = views(asked, found, self.readings.find, self.readings.linking)
        scores = rank_on_host(self.weights.params, self.standard(seen))
        sentence = None
        # Of a part of a question nothing is answered: what is offered is ranked without it.
        if self._pair is not None and found and not asked.part:
            best = np.argsort(-scores, kind="stable")[:_PAIRED]
            parts = self._pair.parts(asked.sentence, [found[at].query for at in best])
            added = parts[:, 0]
            scores = scores + added.min()  # what is not compared fits no better
            scores[best] += added - added.min()
            sentence = parts[scores[best].argmax()]
        plain = in_place(Seen(asked, found, seen, scores, sentence))
        every = counted(with_closures(plain, self.sets, self.readings.vocabulary.hierarchies))
        return self._titles.projected(summed(every, self.readings.find, self.sets))

    def standard(self, seen: np.ndarray) -> np.ndarray:
        """[C, F] views of readings as the ranker takes them."""
        return (seen - self.weights.mean) * self.weights.scale * self._kept

    def understood(self, seen: Seen, text: str = "") -> Understood:
        """Rank what was looked at; what was said of the same text before counts for more."""
        asked, found, scores = seen.asked, seen.found, seen.scores
        if not found:
            return Understood(asked, (), sure=False)
        answers = [c.result or np.asarray(c.ends, np.int64).tobytes() for c in found]
        # What is merely offered beside a plain step makes that no less sure.
        own = [place for place, one in enumerate(found) if not goes_on(one.query)]
        alike = [answers[place] for place in own]
        cues = confidence_cues(scores[own], alike, seen.views[own], seen.sentence)
        sure = float(confidence(self.weights.confidence, cues))
        least = self.threshold
        order = np.argsort(-scores, kind="stable")
        if asked.cues.plainly:  # nothing else answers, and the same set is as likely
            truths = (place for place in order.tolist() if found[place].result in ("yes", "no"))
            near = [p for p in itertools.islice(truths, 1) if scores[p] > scores.max() - _AS_LIKELY]
            order = np.concatenate([near, order[~np.isin(order, near)]]).astype(np.int64)
        shares = sure * np.exp(scores - scores.max())
        meant, said = corrected(self.corrections, text, asked, found, order, self.kg)
        if said is not None:
            order = np.concatenate([[meant], order[order != meant]])
            sure = 1.0 if said.asks(text) else sure
            shares = np.minimum(shares, min(sure, 1 - sure))
            shares[meant] = sure
        kept: list[Reading] = []
        taken: set[tuple[str | bytes, Rows | None]] = set()
        best, find = found[order[0]], self.readings.find
        wanting = best if best.wanting else None
        for place in order.tolist():
            candidate, query = found[place], found[place].query
            key = (answers[place], query if isinstance(query, Rows) else None)
            if not (candidate.wanting or unadded(asked, candidate) or key in taken):
                taken.add(key)
                kept.append(self._reading(candidate, float(shares[place])))
            if len(kept) == 1 + self.settings.readings:
                break
        tie = len(kept) > 1 and self._rivals(asked, kept[0], kept[1])
        answers = sure >= least and not tie and not asked.part
        answers = answers and not contradicted(asked, best, find)
        answers = answers and not is_reversed(asked, best, found, find)
        alike = [found[place] for place in order if scores[place] >= scores.max() - _AS_LIKELY]
        answers = answers and not is_undirected(asked, best, alike, find)
        near = [found[place] for place in order if scores[place] >= scores.max() - _NEAR]
        answers = answers and not has_rival(asked, best, near, find)
        answers = answers and not leaves_out_a_sum(asked, best, found, find)
        certain = bool(kept) and wanting is None and (said is not None or answers)
        return Understood(asked, tuple(kept), certain, sure, cues, said, wanting)

    def _rivals(self, asked: Asked, best: Reading, other: Reading) -> bool:
        """Whether two readings are as likely, and the second is another one: not a "no" that is
        said as a value, nor the same walk on and on."""
        plainly = asked.cues.plainly and best.candidate.result and not other.candidate.result
        further = goes_on(other.candidate.query) and not goes_on(best.candidate.query)
        return not (plainly or further) and other.confidence > _TIE * best.confidence

    @property
    def threshold(self) -> float:
        """Least calibrated confidence of an answer."""
        own = self.settings.threshold
        return self.weights.threshold if own is None else own

    def correct(self, question: str | Question, number: int) -> None:
        """Confirm a reading of a question; it is saved and used for this question and similar ones.

        Args:
            question: as it was asked.
            number: of the reading, as the answer has them: from 1, and 0 is the one that was
                answered by.

        Raises:
            JaxkgError: there is no reading of that number.
        """
        question = as_question(question)
        understood = self.understand(question.text, given_topics(question))
        offered = dict(enumerate(understood.readings, start=0 if understood.sure else 1))
        offered.pop(self.settings.readings + 1, None)
        if number not in offered:
            known = f"numbers {min(offered)} to {max(offered)}" if offered else "no readings"
            raise JaxkgError(f"no reading {number} of {question.text!r}, which has {known}")
        best = offered[number]
        masked = understood.asked.alignment.masked_text()
        without = nameless(self.kg, understood.asked, best.candidate)
        one = Correction(question.text, best.candidate.query, best.words, masked, without)
        self.corrections = keep_correction(self.kg, one)

    def _reading(self, candidate: Candidate, confidence: float) -> Reading:
        """A query graph in words, with what it answers."""
        ends = (self.kg.entity_ids[end] for end in candidate.ends.tolist())
        answers = (candidate.result,) if candidate.result else tuple(ends)
        return Reading(candidate, say(self.kg, candidate.query), confidence, answers)

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """See `QuestionAnswering.answer`."""
        found: list[Answer] = []
        for first in range(0, len(questions), _TOGETHER):
            stages, some = Stages(), questions[first : first + _TOGETHER]
            every = deque(self._asked(one, use_given) for one in some)
            self.readings.encode(every)
            stages.end("read")
            shared = stages.usage(len(some)).stages
            for question in some:
                check()
                found.append(self._answered(question, every.popleft(), Stages(shared))[0])
                if on_progress:
                    on_progress("answer", len(found), len(questions))
        return found

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """An answer and the readings it was chosen from."""
        stages = Stages()
        answer, understood = self._answered(question, self._asked(question, True), stages)
        readings = tuple(
            TraceNode(
                f"{reading.words} → {self._preview(reading)}",
                reading.confidence,
                place == 0 and understood.sure,
            )
            for place, reading in enumerate(understood.readings)
        )
        return answer, (TraceNode("readings", below=readings),)

    def _asked(self, question: Question, use_given: bool) -> Asked:
        return self.readings.asked(question.text, given_topics(question) if use_given else ())

    def _answered(
        self, question: Question, asked: Asked, stages: Stages
    ) -> tuple[Answer, Understood]:
        understood = self._whole(asked, question.text)
        stages.end("read")
        notes = [f"weights {self.weights.version}", *self.advice, *understood.asked.notes]
        if understood.asked.cut:
            notes.append(
                "the surroundings of the topics are too large; part of them was not searched"
            )
        topics = self._links(understood)
        if not understood.readings or not understood.sure:
            others = understood.readings[: self.settings.readings]
            why = reason(
                understood.asked, self.readings, understood.wanting, bool(understood.readings)
            )
            answer = Answer(question.text, topics=topics, abstained=why)
        else:
            best, *others = understood.readings
            query = self._titles.query(understood.asked, best.candidate)
            result = self.sets.execute(query)
            answer = query_answer(
                self.sets, query, result, question=question.text, topics=topics, most=_CITED
            )
            if others and best.confidence < _CERTAIN:
                notes.append(f"or was meant: {others[0].words}")
            if understood.said is not None:
                notes.append(f"read as you said of {understood.said.question!r}")
        stages.end("cite")
        answer = dataclasses.replace(
            answer,
            question_id=question.id,
            system="reader",
            plan=self._plan(understood),
            readings=tuple(map(self._other, others)),
            notes=(*answer.notes, *notes),
            usage=stages.usage(1),
            retrieved=self._retrieved(understood),
        )
        return answer, understood

    @property
    def encoder(self) -> TextEncoder | None:
        """What compares words of questions with those of the graph; None where nothing does."""
        return self.readings.vectors.encoder

    @property
    def sets(self) -> QuerySets:
        """Executes the query graphs of the graph."""
        return self.readings.find.sets

    def _retrieved(self, understood: Understood) -> RetrievedEntities:
        """What all readings come to."""
        found = [reading.candidate for reading in understood.readings]
        ends = np.concatenate([np.zeros(0, np.int64), *(some.ends for some in found)])
        results = frozenset(some.result for some in found if some.result)
        return RetrievedEntities(self.kg.entity_ids, np.unique(ends), results)

    def _plan(self, understood: Understood) -> tuple[PlanCandidate, ...]:
        return tuple(
            PlanCandidate(
                relations=tuple(map(self.kg.relation_name, reading.candidate.relations)),
                probability=min(1.0, reading.confidence),
                reached=len(reading.candidate.ends),
                used=place == 0 and understood.sure,
            )
            for place, reading in enumerate(understood.readings)
        )

    def _links(self, understood: Understood) -> tuple[Link, ...]:
        best = understood.readings[0].candidate.topics if understood.readings else ()
        spans = understood.asked.cues.words.spans
        links = []
        for m, mention in enumerate(understood.asked.mentions):
            for o, option in enumerate(mention.options):
                links.append(
                    Link(
                        entity=self.kg.entity_ids[option.entity],
                        name=self.kg.name(option.entity),
                        start=spans[mention.first][0],
                        end=spans[mention.last][1],
                        score=min(1.0, option.score),
                        method={"part": "fuzzy", "form": "fuzzy"}.get(option.how, option.how),
                        chosen=(m, o) in best,
                    )
                )
        return tuple(sorted(links, key=lambda link: not link.chosen))

    def _other(self, reading: Reading) -> OtherReading:
        ends = reading.candidate.ends
        result = reading.candidate.result
        shown = (self.kg.name(end) for end in ends[:_SHOWN].tolist())
        names = [result] if result else list(map(shortened, shown))
        return OtherReading(
            reading.words,
            min(1.0, reading.confidence),
            tuple(names),
            0 if result else len(ends) - len(names),
            query_to_dict(reading.candidate.query),
        )

    def _preview(self, reading: Reading) -> str:
        other = self._other(reading)
        more = f" and {other.more} more" if other.more else ""
        return ", ".join(other.preview) + more


def given_topics(question: Question) -> tuple[str, ...]:
    """The topics that a question states: by name or id, else what it brackets."""
    if question.topics or question.mention is None:
        return question.topics
    return (question.text[slice(*question.mention)],)


def reason(asked: Asked, readings: Readings, wanting: Candidate | None, some: bool) -> str:
    """Why a question goes without an answer: what was understood, and what is near it.

    Args:
        asked: the question.
        readings: what read it.
        wanting: the best reading, where it leads nowhere.
        some: whether there are readings to choose from.
    """
    vocabulary = readings.vocabulary
    names = [shortened(readings.kg.name(m.options[0].entity)) for m in asked.mentions]
    kinds = [vocabulary.class_names(m.kind)[0] for m in asked.classes]
    told = dict.fromkeys([*names, *kinds])
    known = f"recognised: {', '.join(map(repr, told))}" if told else _NOTHING
    if unknown := _unknown(asked):
        known += f"; nothing is called {', '.join(map(repr, unknown))}"
    if wanting is not None:
        return f"{_lacked(asked, readings, wanting)}; {known}; {_near(asked, readings)}"
    if not some:
        unmet = " and leads to nothing that was asked for" if told else ""
        return f"{known}{unmet}; {_near(asked, readings)}"
    if asked.part:
        return f"only a part of the question is looked at ({'; '.join(asked.notes)}); {known}"
    if asked.cues.adds_up:
        return f"{_ADDS_UP}; {known}; {_near(asked, readings)}"
    return f"not sure enough how to read it; {known}; {_near(asked, readings)}"


def _unknown(asked: Asked) -> list[str]:
    """Names of which the graph has none, words that follow one another together."""
    words = asked.cues.words.written
    runs = itertools.groupby(enumerate(sorted(asked.unknown)), key=lambda pair: pair[1] - pair[0])
    return [shortened(" ".join(words[place] for _, place in run)) for _, run in runs]


def _lacked(asked: Asked, readings: Readings, candidate: Candidate) -> str:
    """What the graph does not say."""
    if candidate.shape in ("except", "join"):
        return f"there seems to be none: {say(readings.kg, candidate.query)}"
    ((mention, option),) = candidate.topics
    name = shortened(readings.kg.name(asked.mentions[mention].options[option].entity))
    label = readings.find.wordings(candidate.last)[0]
    has = f"{name!r} has no" if candidate.last < readings.kg.num_relations else f"of {name!r} no"
    return f"the graph does not seem to say it: {has} {label!r}"


def _near(asked: Asked, readings: Readings) -> str:
    """The relations, and the names, that the question's words are nearest to."""
    labels = [r.wordings for r in readings.vocabulary.relations[:_LABELS] if not r.role]
    close = dict(zip(labels, asked.alignment.closeness(labels).tolist()))
    best = sorted(close, key=lambda label: -close[label])[:3]
    told = f"nearest relations: {', '.join(repr(label[0]) for label in best)}"
    names = () if asked.mentions else readings.finder.nearest(asked.cues)
    return told + (f"; nearest names: {', '.join(map(repr, names))}" if names else "")
