"""Topic entities of a question: where each is mentioned and how sure that is.

A mention in brackets is looked up whole. Without brackets one Aho-Corasick pass over the words of
the question finds every name and alias in it; what a match is worth depends on how much of the
question's content it covers and on whether it is spelt as the name is. Only where that yields
nothing are misspellings tried.
"""

from __future__ import annotations

import functools
import math
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import ahocorasick_rs
import numpy as np
from rapidfuzz import fuzz, process

from jaxkg.deadline import check
from jaxkg.errors import JaxkgError
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.link.folding import MARK, Words, loose_form, plain, split_words, word_key
from jaxkg.kg.link.mentions import QUESTION_WORDS, relation_words
from jaxkg.kg.other_names import are_names
from jaxkg.kg.questions.formats import split_brackets
from jaxkg.limits import looked_at
from jaxkg.records import Link

# Weights of words. A word that is neither weighs 1, less where many names contain it.
_QUESTION_WORD = 0.1
_RELATION_WORD = 0.15
_LEAST = 0.3

# What a match is worth, as factors of its score.
_COVERAGE = 0.2  # the part of the score that depends on the share of the question covered
_FOLDED = 0.95  # not spelt exactly as the name
_FOLDED_AMID_CASE = 0.85  # the same, in a question that does use capitals
_LOWER_AMID_CASE = 0.9  # no capital, in a question that does use them
_NUMBER = 0.9  # more often a date or a count than a topic
_ALIAS = 0.98
_FUZZY = 0.95

_NOTICED = 0.2  # least score of a match worth reporting
_OTHER_DIGITS = 0.5  # of its similarity is left to a name whose digits differ
_NO_DIGIT = re.compile(r"\D+")

_NEAR_MISS = 60.0  # least similarity, in percent, of a misspelling worth reporting
_SHORTEST_MISSPELT = 5  # characters
_LONGEST_MISSPELT = 6  # words


class _Candidate(NamedTuple):
    score: float
    start: int
    end: int
    pattern: int
    entity: int
    method: str


class _Weighing(NamedTuple):
    weights: list[float]
    """What each word says about the topic."""
    capital: list[bool]
    """Which words have a capital."""
    cased: bool
    """Whether the text tells names by their capitals."""


class Linker:
    """Finds the entities a question is about.

    Example:
        >>> graph = KnowledgeGraph.from_triples([("Heat", "directed_by", "Michael Mann")])
        >>> [link] = Linker(graph).link("who directed heat?")
        >>> link.entity, link.start, link.end, link.method, link.chosen
        ('Heat', 13, 17, 'folded', True)

    Args:
        graph: the graph whose names and aliases the linker finds.
        threshold: least score of a chosen link, in [0, 1]. If no link reaches it, none is chosen
            and near misses are returned as runners-up.
        max_topics: largest number of mentions to choose; homonyms of a mention count once.
        runners_up: largest number of further links to return.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        *,
        threshold: float = 0.75,
        max_topics: int = 1,
        runners_up: int = 5,
    ):
        if not 0 <= threshold <= 1 or max_topics < 1 or runners_up < 0:
            raise JaxkgError(
                f"threshold {threshold} must be in [0, 1], max_topics {max_topics} at least 1, "
                f"runners_up {runners_up} at least 0"
            )
        self.graph = graph
        self.threshold = threshold
        self.max_topics = max_topics
        self.runners_up = runners_up
        # Row i < N is the name of entity i, row N + j alias j.
        self._surfaces = graph.entity_names.tolist() + graph.aliases.names.tolist()
        self._ids_are_names = graph.entity_names is graph.entity_ids
        self._degree = np.bincount(graph.triples[:, ::2].ravel(), minlength=graph.num_entities)
        self._are_names = are_names(graph.relations, graph.triples, graph.num_entities)
        patterns: dict[str, int] = {}
        pattern_of = np.fromiter(
            (
                patterns.setdefault(word_key(looked_at(name)), len(patterns))
                for name in self._surfaces
            ),
            np.int32,
            len(self._surfaces),
        )
        self._rows = np.argsort(pattern_of, kind="stable")
        self._starts = np.searchsorted(pattern_of[self._rows], np.arange(len(patterns) + 1))
        self._keys = list(patterns)
        self._automaton = ahocorasick_rs.AhoCorasick(self._keys, store_patterns=False)
        self._weights = _word_weights(self._keys, graph.relations)

    def link(self, text: str, mention: tuple[int, int] | None = None) -> list[Link]:
        """Find the topic entities of one question, see `linked`."""
        return [link for link, _ in self.linked(text, mention)]

    def linked(self, text: str, mention: tuple[int, int] | None = None) -> list[tuple[Link, int]]:
        """Find the topic entities of one question, each with its index.

        Args:
            text: the question. `[...]` may mark the mention of the topic; the brackets are removed.
            mention: `(start, end)` of the topic in `text`, if known. It is matched whole or not
                at all.

        Returns:
            Links, best first: chosen links, then runners-up. Spans count characters of the text
            without brackets.

        Raises:
            JaxkgError: `mention` is not a span of the text.
        """
        if mention is None:
            text, mention = split_brackets(text)
        elif not 0 <= mention[0] < mention[1] <= len(text):
            raise JaxkgError(f"mention {mention} is not a span of the {len(text)} characters text")
        if mention is not None:
            candidates = self._mentioned(text, mention)
        else:
            words = split_words(text)
            weighing = self._weigh(words)
            candidates, torn = self._matched(words, weighing)
            if torn or all(c.score < self.threshold for c in candidates):
                candidates += self._misspelt(words, weighing.weights)
        return self._choose(candidates)

    def _choose(self, candidates: Iterable[_Candidate]) -> list[tuple[Link, int]]:
        best: dict[int, _Candidate] = {}
        for c in candidates:
            known = best.get(c.entity)
            if known is None or c.score > known.score:
                best[c.entity] = c
        degree = self._degree
        order = sorted(
            best.values(),
            key=lambda c: (-c.score, c.start - c.end, c.method, -degree[c.entity], c.entity),
        )
        topics: list[_Candidate] = []
        chosen: list[tuple[Link, int]] = []
        others: list[tuple[Link, int]] = []
        for c in order:
            score, start, end, _, entity, method = c
            is_chosen = score >= self.threshold
            # Homonyms read in the same place are one topic; a further one must stand elsewhere.
            if is_chosen and all(c[:4] != topic[:4] for topic in topics):
                is_chosen = len(topics) < self.max_topics and all(
                    end <= topic.start or topic.end <= start for topic in topics
                )
                if is_chosen:
                    topics.append(c)
            if is_chosen or len(others) < self.runners_up:
                name = self._surfaces[entity]
                entity_id = name if self._ids_are_names else self.graph.entity_ids[entity]
                link = Link(entity_id, name, start, end, score, method, is_chosen)
                (chosen if is_chosen else others).append((link, entity))
        return chosen + others

    def _surfaces_of(self, pattern: int) -> Iterator[tuple[int, str, bool]]:
        """(entity, surface, whether it is an alias) of a pattern."""
        entities = self.graph.num_entities
        for row in self._rows[self._starts[pattern] : self._starts[pattern + 1]].tolist():
            if row < entities:
                if row in self._are_names:
                    continue
                yield row, self._surfaces[row], False
            else:
                yield int(self.graph.aliases.owners[row - entities]), self._surfaces[row], True

    def _weigh(self, words: Words) -> _Weighing:
        weight = self._weights
        weights = [weight.get(word, 1.0) for word in words.folded]
        capital = [word != word.lower() for word in words.written]
        # A capital says "name", but not at the start and not where everything has one.
        cased = any(capital[1:]) and any(
            word.isalpha() and not big for word, big in zip(words.written, capital)
        )
        if cased:
            weights[1:] = [1.0 if big else w for w, big in zip(weights[1:], capital[1:])]
        return _Weighing(weights, capital, cased)

    def _matched(self, words: Words, weighing: _Weighing) -> tuple[list[_Candidate], bool]:
        """Names and aliases in the text, those that overlap a better one left out.

        Returns:
            The candidates, and whether the best of them looks torn out of a longer name that is
            misspelt, as "Laura" of "Laura Hrring".
        """
        key, weights = words.key, weighing.weights
        total = sum(weights) or 1.0
        found: list[tuple[float, int, int, list[_Candidate]]] = []
        for pattern, start, end in self._automaton.find_matches_as_indexes(key, overlapping=True):
            first = key.count(MARK, 0, start)
            last = first + key.count(MARK, start, end) - 1
            value = _match_value(weights[first:last], total)
            if value >= _NOTICED:
                span = words.spans[first][0], words.spans[last - 1][1]
                candidates = self._spelt(words.text, span, pattern, value, weighing)
                found.append((-max(candidates)[0], first, last, candidates))
        if not found:
            return [], False
        found.sort(key=lambda match: match[0])
        taken = [False] * len(weights)
        kept: list[_Candidate] = []
        for _, first, last, candidates in found:
            if True not in taken[first:last]:
                taken[first:last] = [True] * (last - first)
                kept += candidates
        _, first, last, _ = found[0]
        torn = any(
            0 <= beside < len(weights)
            and not taken[beside]
            and weights[beside] == 1.0
            and (weighing.capital[beside] or not weighing.cased)
            for beside in (first - 1, last)
        )
        return kept, torn

    def _spelt(
        self, text: str, span: tuple[int, int], pattern: int, value: float, weighing: _Weighing
    ) -> list[_Candidate]:
        """Who carries the name found at `span`, scored by how exactly it is spelt there."""
        cased = weighing.cased
        candidates = []
        for entity, surface, is_alias in self._surfaces_of(pattern):
            start, end = span
            written = text[start:end]
            factor, method = 1.0, "exact"
            if surface != written and plain(surface) != plain(written):
                # The words match; the name may have punctuation around them that is there too.
                lead = surface.find(written)
                outer = start - lead
                if lead >= 0 <= outer and text.startswith(surface, outer):
                    start, end = outer, outer + len(surface)
                else:
                    method = "folded"
                    # A text without capitals does not say which of "Rocky" and "rocky" is meant.
                    if True in weighing.capital[1:] or surface.lower() != written:
                        factor = _FOLDED_AMID_CASE if cased else _FOLDED
            if written.isdecimal():
                factor *= _NUMBER
            elif cased and written == written.lower():
                factor *= _LOWER_AMID_CASE
            if is_alias:
                factor, method = factor * _ALIAS, "alias"
            candidates.append(_Candidate(value * factor, start, end, pattern, entity, method))
        return candidates

    def _mentioned(self, text: str, mention: tuple[int, int]) -> list[_Candidate]:
        """Who has the mention as name or alias, else as id, else the names spelt most like it."""
        written = text[slice(*mention)].strip()
        candidates = []
        key = word_key(written)
        for pattern, start, end in self._automaton.find_matches_as_indexes(key, overlapping=True):
            if end - start < len(key):
                continue
            for entity, surface, is_alias in self._surfaces_of(pattern):
                factor, method = (
                    (1.0, "bracket") if plain(surface) == plain(written) else (_FOLDED, "folded")
                )
                if is_alias:
                    factor, method = factor * _ALIAS, "alias"
                candidates.append(_Candidate(factor, *mention, pattern, entity, method))
        if not candidates:
            candidates = [
                _Candidate(1.0, *mention, -1, entity, "bracket")
                for entity in self.graph.entity_ids.rows(written)
            ]
        return candidates or [
            _Candidate(_FUZZY * similarity, *mention, pattern, entity, "fuzzy")
            for similarity, pattern in self._similar(key[1:-1].split(MARK))
            for entity, _, _ in self._surfaces_of(pattern)
        ]

    def _misspelt(self, words: Words, weights: list[float]) -> list[_Candidate]:
        """Names that some stretch of the words, begun and ended by content, nearly spells."""
        total = sum(weights) or 1.0
        content = [i for i, weight in enumerate(weights) if weight > _RELATION_WORD]
        candidates = []
        for at, first in enumerate(content):
            check()
            for last in content[at : at + _LONGEST_MISSPELT]:
                if last >= first + _LONGEST_MISSPELT:
                    break
                start, end = words.spans[first][0], words.spans[last][1]
                if end - start < _SHORTEST_MISSPELT:
                    continue
                share = sum(weights[first : last + 1]) / total
                value = _FUZZY * (1 - _COVERAGE + _COVERAGE * share)
                for similarity, pattern in self._similar(words.folded[first : last + 1]):
                    for entity, _, _ in self._surfaces_of(pattern):
                        candidates.append(
                            _Candidate(similarity * value, start, end, pattern, entity, "fuzzy")
                        )
        return candidates

    def _similar(self, words: Sequence[str]) -> list[tuple[float, int]]:
        """(similarity in [0, 1], pattern) of the names spelt most like these words.

        A name with other digits is another name ("Opus 9" is no slip of "Opus 1"), at most the
        nearest one.
        """
        written = loose_form(words)
        found = process.extract(
            written,
            self._loose_names,
            scorer=fuzz.ratio,
            score_cutoff=_NEAR_MISS,
            limit=self.runners_up + 1,
        )
        digits = _NO_DIGIT.sub("", written)
        return [
            (percent / 100 * (1 if _NO_DIGIT.sub("", name) == digits else _OTHER_DIGITS), pattern)
            for name, percent, pattern in found
        ]

    @functools.cached_property
    def _loose_names(self) -> list[str]:
        return [loose_form(key[1:-1].split(MARK)) for key in self._keys]


def _match_value(weights: Sequence[float], total: float) -> float:
    """What a match of words of these weights is worth in a question of `total` weight."""
    content = max(weights)
    # A word or two of the question's own vocabulary are no topic; more that spell a name may be.
    chance = (
        len(weights) < 3
        if content == _QUESTION_WORD
        else content == _RELATION_WORD and len(weights) == 1
    )
    base = _QUESTION_WORD if chance else 1 - _COVERAGE
    return base + (1 - base) * sum(weights) / total


def _word_weights(keys: Sequence[str], relations: Iterable[str]) -> dict[str, float]:
    """What a word says about a topic: little if any question or many names contain it.

    Words left out of the dictionary weigh 1.
    """
    counts = Counter(chain.from_iterable(key[1:-1].split(MARK) for key in keys))
    scale = math.log(len(keys) + 1)
    weights = {
        word: max(_LEAST, 1 - math.log(count) / scale)
        for word, count in counts.items()
        if count > 1
    }
    weights.update(dict.fromkeys(relation_words(relations), _RELATION_WORD))
    weights.update(dict.fromkeys(QUESTION_WORDS, _QUESTION_WORD))
    weights.update(dict.fromkeys(string.ascii_lowercase, _QUESTION_WORD))
    return weights
