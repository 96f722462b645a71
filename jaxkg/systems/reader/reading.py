"""From a question's words to its possible readings."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np
from rapidfuzz import fuzz

from jaxkg.deadline import check
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.link.folding import split_words
from jaxkg.limits import LIMITS, checked_length, cut, first_ones, looked_at
from jaxkg.systems.reader.language.asides import topic_in_place, without_asides
from jaxkg.systems.reader.language.cues import Cues, asking_as, read_cues
from jaxkg.systems.reader.language.grades import Grade
from jaxkg.systems.reader.language.lexicon.cue_words import ADDING, LIGHT, STOP
from jaxkg.systems.reader.language.lexicon.stems import meanings, stem
from jaxkg.systems.reader.language.names import key_of
from jaxkg.systems.reader.language.topics import CERTAIN, Mention, Option, TopicFinder
from jaxkg.systems.reader.language.vocabulary import Vocabulary
from jaxkg.systems.reader.linking import RelationLinking
from jaxkg.systems.reader.sets.alignment import PARTICLES, Alignment
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates, ranked
from jaxkg.systems.reader.sets.direction import is_verb
from jaxkg.systems.reader.sets.facts import Facts
from jaxkg.systems.reader.sets.labels import Labels, folded_words
from jaxkg.systems.reader.sets.operators import Operators
from jaxkg.systems.reader.sets.tables import Tables
from jaxkg.systems.reader.sets.unfit import fitting
from jaxkg.systems.reader.sets.wanting import Wanting
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.vectors import ReaderTexts

_NAMED = 0.97
"""Least score of a mention of several words that grades nothing, "the First Responders"."""
_SURELY = 0.65
"""Least score of a mention that no other sentence needs to be looked at for: one word in small
letters of a longer name is below it."""
_MET = 20_000
"""Elements that are held to be compared with the next question, too."""
_WIDEST = 40
"""Words of a question that may be one name."""
_SORTS = 60
"""Sorts up to which a graph's are looked at so."""
_LOOKED_AT = 60
"""Labels that are compared with a question, those first that share the most words with it."""


class Readings:
    """Readings of questions about one graph.

    Args:
        kg: the graph.
        texts: their vectors; None for letters alone.
        settings: how much is looked at.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        texts: ReaderTexts | None,
        settings: ReaderSettings,
    ) -> None:
        self.kg = kg
        self.vocabulary = Vocabulary(kg)
        self.finder = TopicFinder(self.vocabulary)
        self.reader_texts = ReaderTexts.of(None) if texts is None else texts
        self.vectors = self.reader_texts.vectors
        self._met = Labels(self.vectors)
        self.senses = Senses(self.vocabulary, self.vectors)
        self.find = Candidates(self.vocabulary, settings)
        self.operators = Operators(self.find)
        self.tables = Tables(self.operators.measured)
        self.facts = Facts(self.find, settings.today)
        self.wanting = Wanting(self.find)
        self.settings = settings
        self.linking: RelationLinking | None = None
        if self.reader_texts.linked is not None:
            relations = self.vocabulary.relations
            ordinary = np.array([relation.role in ("", "alias") for relation in relations], bool)
            wordings = [relation.wordings for relation in relations]
            self.linking = RelationLinking(self.reader_texts.linked, wordings, ordinary)

    def asked(self, text: str, topics: Sequence[str] = ()) -> Asked:
        """A question with its cues, mentions and classes.

        Args:
            text: the question.
            topics: ids or names of its topics, where they are known; nothing else is a topic then.

        Raises:
            JaxkgError: the question is too long.
        """
        spans = split_words(checked_length(text)).spans
        notes = cut(len(spans), LIMITS.words, "words")
        text = text[: spans[LIMITS.words - 1][1]] if notes else text
        topics, dropped = first_ones(topics, LIMITS.topics, "topics")
        moved = topic_in_place(text)
        cues, mentions = self._mentioned(moved.text, topics)
        surest = sorted(mentions, key=lambda mention: -mention.score)
        if len(mentions) > LIMITS.mentions:
            first = {mention.options: mention for mention in reversed(surest)}
            surest = [mention for mention in surest if mention is first[mention.options]]
        notes += dropped + cut(len(surest), LIMITS.mentions, "names", "surest")
        kept = surest[: LIMITS.mentions]
        left_out = {p for mention in mentions if mention not in kept for p in mention.words}
        mentions = [mention for mention in mentions if mention in kept]
        starts = {mention.first for mention in mentions}
        mentions = [m for m in mentions if not self._is_class(m, cues, starts)]
        if not cues.yesno:  # "is Sam Welsh" asks whether what stands beside him holds
            mentions = self._told_once(mentions)
        masked = {p for m in mentions if self._is_name(m, cues) for p in m.words}
        masked |= left_out
        cues = self.facts.with_today(cues)
        alignment = Alignment(cues, masked, self._labels_met())
        names = {place for mention in mentions for place in mention.words}
        alone = self.operators.measured.numbers_alone(cues, alignment, names)
        bounds, more = first_ones((*cues.bounds, *alone), LIMITS.bounds, "numbers and dates")
        cues = dataclasses.replace(cues, bounds=tuple(bounds))
        notes += more + alignment.notes
        part = bool(notes)
        notes += cut(len(cues.words.folded), LIMITS.sentence, "words in one sentence")
        named = self.labels_by_word.named(alignment)
        classes = self.finder.classes(cues)
        kinds, more = first_ones((c.kind for c in classes), LIMITS.classes, "classes")
        notes += more
        part |= bool(more)
        classes = [c for c in classes if c.kind in kinds]
        told = cues.words._replace(
            text=text, spans=[moved.span(*span) for span in cues.words.spans]
        )
        cues = dataclasses.replace(cues, words=told)
        sense = functools.partial(self.senses.of, " ".join(alignment.noun))
        count = len(mentions)
        notes += cut(count * (count - 1) // 2, LIMITS.pairs, "pairs of names", "surest")
        return Asked(
            cues,
            mentions,
            classes,
            alignment,
            named,
            sense,
            notes=tuple(notes),
            part=part,
            unknown=frozenset() if topics else self.finder.unknown(cues, mentions),
        )

    def _labels_met(self) -> Labels:
        """Of elements that questions were compared with; anew where words of questions, which
        may be compared with each other, have become very many."""
        if len(self._met) > _MET:
            self._met = Labels(self.vectors)
        return self._met

    def _is_class(self, mention: Mention, cues: Cues, starts: Collection[int]) -> bool:
        """Whether words are a class that is asked for, or that a name follows, and but a value
        besides: "which devices", "asset A7" where a type of something is "device" or "asset"."""
        asked_for = {*mention.words} <= {*cues.noun} and not cues.yesno
        if not asked_for and mention.last + 1 not in starts:
            return False
        kinds = (m.kind for m in self.finder.classes(cues) if m.first <= mention.first <= m.last)
        plain = not {*kinds}.issubset(self.vocabulary.sorts)
        ahead = self.vocabulary.around.ends(np.array([o.entity for o in mention.options]))
        return plain and all(code >= self.kg.num_relations for code in ahead)

    def _is_name(self, mention: Mention, cues: Cues) -> bool:
        """Whether words are a name and nothing else; not the "director" of an award's long name,
        nor an "account manager" where one thing is another's, nor what was "closed"."""
        words = cues.words.folded[mention.first : mention.last + 1]
        return mention.score >= CERTAIN and tuple(words) not in self._said

    def _mentioned(self, text: str, topics: Sequence[str]) -> tuple[Cues, list[Mention]]:
        """What is asked and of what; asides count where nothing else names anything."""
        part = without_asides(text)
        found = self._read(part, topics)
        says = max(found[0].content, default=0.0) >= 1  # not "which ones would those be?"
        sure = bool(topics) or any(m.score >= _SURELY for m in found[1])
        if part == text or (says and sure):
            return found
        cues, mentions = self._read(text, topics)
        if not says:
            return cues, mentions
        if not any(mention.score >= CERTAIN for mention in mentions):
            return found
        asks = {start for start, _ in found[0].words.spans}
        # Of what else is said, what is surely named.
        named = [
            mention
            for mention in mentions
            if mention.score >= _SURELY or cues.words.spans[mention.first][0] in asks
        ]
        cues = asking_as(cues, found[0])
        return cues, named or mentions

    def _read(self, text: str, topics: Sequence[str]) -> tuple[Cues, list[Mention]]:
        cues = read_cues(text)
        # Of rows of males, of females and "Total", no sum is asked for.
        sums = {
            place
            for place, word in enumerate(cues.words.folded)
            if ADDING.get(word) == "sum" and self.finder.is_name(word)
        }
        cues = self._superlatives(text, sums)
        mentions = self._given(cues, topics) if topics else self.finder.mentions(cues)
        graded = [some.words for some in (cues.extreme, cues.comparative) if some is not None]
        graded += [{place} for place in (cues.negated, cues.except_at) if place is not None]
        named = {p for m in mentions if len(m.words) > 1 and m.score >= _NAMED for p in m.words}
        if any(words <= named for words in graded if words):
            cues = self._superlatives(text, named | sums)
        return cues, mentions

    def _superlatives(self, text: str, taken: set[int]) -> Cues:
        """Cues of a question with its superlatives, none a part of a label: "highest point"."""
        cues = read_cues(text, taken)
        while cues.extreme is not None and self._in_label(cues, cues.extreme):
            taken = taken | cues.extreme.words
            cues = read_cues(text, taken)
        if cues.extreme is None or not cues.extreme.words:
            return cues
        inner = read_cues(text, taken | cues.extreme.words).extreme
        if inner is None or inner.adds or self._in_label(cues, inner):
            return cues
        return dataclasses.replace(cues, inner=inner)

    @functools.cached_property
    def labels_by_word(self) -> LabelIndex:
        """Labels of the graph's relations."""
        return LabelIndex(self.vocabulary.labels)

    @functools.cached_property
    def _said(self) -> set[tuple[str, ...]]:
        """Labels of relations that are nouns, word by word, and verbs that particles follow: the
        "closed" of what was "closed at" noon."""
        labels = [label for wordings in self.vocabulary.labels for label in wordings]
        said = {folded_words(label) for label in labels if not is_verb(label)}
        words = map(folded_words, labels)
        return said | {(w[0],) for w in words if len(w) == 2 and w[1] in PARTICLES}

    def _in_label(self, cues: Cues, grade: Grade) -> bool:
        """Whether a superlative stands so in a relation's label: "first described"."""
        if not grade.words or max(grade.words) > min(grade.words):
            return False  # "the smallest number of"
        last = max(grade.words)
        word, after = (*cues.words.folded, "")[last : last + 2]
        # A bill's "total", not its "total quantity".
        own = bool(grade.adds) and (word,) in self._said and (after,) not in self._said
        pair = tuple(map(stem, cues.words.folded[last : last + 2]))
        return own or (len(pair) == 2 and pair in self._pairs)

    @functools.cached_property
    def _pairs(self) -> set[tuple[str, ...]]:
        """Words that follow one another in labels, by their stems."""
        labels = (label.lower().split() for label in self.vocabulary.wordings_known)
        return {pair for words in labels for pair in itertools.pairwise(map(stem, words))}

    def _told_once(self, mentions: list[Mention]) -> list[Mention]:
        """Without what merely tells what stands beside it is: the "ferry" of "the ferry F1"."""
        kept = list(mentions)
        for one, two in itertools.pairwise(mentions):
            if two.first - one.last > 1 or len(two.options) > 4 or len(one.options) > 4:
                continue
            for topic, told in ((two, one), (one, two)):
                ends = {option.entity for option in told.options}
                near = self.vocabulary.around.ends(np.array([o.entity for o in topic.options]))
                total = self.kg.num_relations
                ahead = [some for code, some in near.items() if code < total]
                if any(ends & set(some.tolist()) for some in ahead) and topic in kept:
                    beside = (*topic.beside, *told.words)
                    kept[kept.index(topic)] = dataclasses.replace(topic, beside=beside)
                    kept = [mention for mention in kept if mention is not told]
                    break
        return kept

    def _given(self, cues: Cues, topics: Sequence[str]) -> list[Mention]:
        """Known topics, where the question seems to name them; none of a question of no words."""
        found = []
        for topic in topics if cues.words.folded else ():
            rows = self.kg.entity_ids.rows(topic) or self.kg.entity_names.rows(topic)
            if not rows:
                continue
            check()
            first, last = _place(cues, looked_at(self.kg.name(int(rows[0]))))
            options = tuple(Option(int(row), 1.0, "given") for row in rows[:6])
            found.append(Mention(first, last, options))
        return found

    def encode(self, some: Sequence[Asked]) -> None:
        """Encode what it takes to look at questions, of all of them at once."""
        told = [text for one in some for text in one.alignment.texts()]
        self.vectors([*told, *filter(None, (" ".join(one.alignment.noun) for one in some))])
        if self.linking is not None:
            self.linking.vectors([one.alignment.masked_text() for one in some])

    def _is_statement(self, candidate: Candidate) -> bool:
        """Whether a reading leads to what but says something of a fact: no answer to anything."""
        statements = self.facts.statements.node
        if not len(statements) or candidate.result or not len(candidate.ends):
            return False
        return bool(np.isin(candidate.ends[:1], statements).any())

    def of(self, asked: Asked) -> list[Candidate]:
        """Readings of a question, the likeliest first, as far as settings go."""
        plain = self.find.all(asked)
        plain = ranked([*plain, *self.facts.all(asked, plain)])
        made = self.operators.all(asked, plain)
        made += self.tables.all(asked, ranked([*plain, *made]))
        asked.notes += tuple(cut(len(made), LIMITS.candidates, "query graphs"))
        made = made[: LIMITS.candidates]
        found = self.find.scored(asked, made)[: self.settings.looked_at]
        found += plain[: self.settings.looked_at] + self.wanting.all(asked)
        found += self.wanting.joins(asked, plain)
        found = [c for c in found if not self._is_statement(c)]
        found = [c for c in found if c.wanting or self.find.answers(asked, c)]
        found = fitting(asked, found, self.find)
        return ranked(found)[: self.settings.looked_at]


def _place(cues: Cues, name: str) -> tuple[int, int]:
    """The words most like a name."""
    wanted = key_of(name)
    width = min(len(wanted.split()), _WIDEST)
    words = cues.words.folded
    spans = [(a, b) for a in range(len(words)) for b in range(a, min(len(words), a + width + 1))]
    if not spans:
        return 0, 0
    return max(spans, key=lambda s: fuzz.ratio(" ".join(words[s[0] : s[1] + 1]), wanted))


class LabelIndex:
    """Labels of relations by the words in them and by what these mean.

    Args:
        labels: wordings of each relation.
    """

    def __init__(self, labels: Iterable[tuple[str, ...]]) -> None:
        self._by_meaning: dict[str | int, set[tuple[str, ...]]] = defaultdict(set)
        self._place: dict[tuple[str, ...], int] = {}
        for wordings in labels:
            self._place.setdefault(wordings, len(self._place))
            for word in {w for text in wordings for w in folded_words(text)}:
                if word not in STOP and word not in LIGHT:
                    for meaning in meanings(word):
                        self._by_meaning[meaning].add(wordings)

    def named(self, alignment: Alignment) -> np.ndarray:
        """[words] in [0, 1]: how surely a word belongs to the label of a relation.

        The likeness of the word, times the share of the label's words that the question has.
        """
        sharing: Counter[tuple[str, ...]] = Counter()
        for place in np.flatnonzero(alignment.content >= 1.0).tolist():
            told = (self._by_meaning.get(m, set()) for m in meanings(alignment.words[place]))
            sharing.update(set().union(*told))
        found = np.zeros(len(alignment.words), np.float32)
        # Of labels that share as many the first, whichever order a set happens to have.
        order = sorted(sharing, key=lambda label: (-sharing[label], self._place[label]))
        for wordings in order[:_LOOKED_AT]:
            lex, share, _ = alignment.letters(wordings)
            found = np.maximum(found, lex * np.float32(share))
        return np.where(alignment.content > 0, found, np.float32(0))


class Senses:
    """The sorts of a graph as vectors, made once.

    Args:
        vocabulary: of the graph.
        vectors: of texts, [T, D] float32.
    """

    def __init__(
        self, vocabulary: Vocabulary, vectors: Callable[[Sequence[str]], np.ndarray]
    ) -> None:
        self._vocabulary, self._vectors = vocabulary, vectors

    def of(self, noun: str) -> Mapping[int, np.ndarray]:
        """Each sort against a noun.

        Returns:
            for each sort [3] float32: cosine with the labels around it, with names of its members,
            and how far it is behind the likeliest sort, all three and its words together.
        """
        vector = self._vectors([noun])[0] if self._made and noun else np.zeros(0, np.float32)
        if not len(vector):
            return {}
        seen = {
            names: (float((words @ vector).max()), float(labels @ vector), float(told @ vector))
            for names, (words, labels, told) in self._made.items()
        }
        whole = {one: words + labels + told / 2 for one, (words, labels, told) in seen.items()}
        best = max(whole.values())
        return {
            kind: np.array([*seen[sort.names][1:], whole[sort.names] - best], np.float32)
            for kind, sort in self._vocabulary.sorts.items()
        }

    @functools.cached_property
    def _made(self) -> dict[tuple[str, ...], tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Words, labels and names of each sort, also of those that a part of a graph lacks."""
        sorts = self._vocabulary.every_sort
        if len(sorts) > _SORTS:
            return {}
        self._vectors([t for sort in sorts for t in (*sort.words, *sort.labels, *sort.names)])
        return {
            sort.names: (
                self._vectors(sort.words),
                _middle(self._vectors(sort.labels)),
                _middle(self._vectors(sort.names)),
            )
            for sort in sorts
        }


def _middle(vectors: np.ndarray) -> np.ndarray:
    """[D] mean, of length 1; zeros of none."""
    mean = vectors.sum(axis=0)
    return mean / max(float(np.linalg.norm(mean)), 1e-9)
