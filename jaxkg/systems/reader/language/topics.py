"""Every mention of a thing or a class of the graph in a question, with all who bear the name."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set

import numpy as np

from jaxkg.deadline import check
from jaxkg.kg.link.folding import split_words
from jaxkg.kg.link.name_search import NameSearch
from jaxkg.kg.neighbourhood import distinct
from jaxkg.limits import looked_at
from jaxkg.systems.reader.language.cues import Cues
from jaxkg.systems.reader.language.lexicon.cue_words import ADDING, LIGHT, STOP
from jaxkg.systems.reader.language.lexicon.german import is_german
from jaxkg.systems.reader.language.lexicon.stems import alike, meant
from jaxkg.systems.reader.language.names import ARTICLES, key_of, key_of_words, opened
from jaxkg.systems.reader.language.vocabulary import Vocabulary
from jaxkg.words import is_blank, relation_words, singular

_LONGEST = 9
_ID = re.compile(r"(?=\S*\d)(?=\S*[^\W\d])[^\s?!,;\"'()]+[^\s?!.,:;\"'()]")
"""What may be an id in a text: no spaces, a letter, a digit."""
_SIGN = re.compile(r"(?<![\w-])[A-Z]{2,6}(?![\w-])")
"""What may be one in a text that is not all in capitals: "SFO"."""
_TEXT = 16
"""Words from which on a name is a text, which a part of it does not name."""
_SAYS = 3
"""Digits from which on a number may be a part of a name that names it: "the 747"."""
_SHORT = 8
"""Words up to which one of them, in small letters, names a name."""
_PARTIAL = 4
"""Entities that a part of a name may stand for, at most."""
_BESIDE = 2
"""Words of a name beside one that is a name of its own from which on that is but a part of it."""
_FUZZY = 78.0
_SLIPS = 2
"""Letters that a misspelt name has more or less than the name."""
_AT_ONCE = 30_000
"""Entities beyond which only the names that share a word with a question are read."""
_COMMON = 3_000
"""Names that share a word from which on it takes another word to look at one."""
_FEW = 0.001
"""Share of all facts up to which a name is one of few."""
CERTAIN = 0.6
"""Least score of a mention whose words are read as a name and nothing else."""
_WHOLE = 0.95
"""Score from which on a whole name is said."""
_DOUBTED = 0.55
"""Score of a name beside topics that the question rather says in passing, below `CERTAIN`."""


@dataclasses.dataclass(frozen=True)
class Option:
    """Who may be meant: entity index, how sure in [0, 1], how it was found."""

    entity: int
    score: float
    how: str


@dataclasses.dataclass(frozen=True)
class Mention:
    """Words of a question that name something; homonyms are its options."""

    first: int
    last: int
    options: tuple[Option, ...]
    beside: tuple[int, ...] = ()

    @property
    def score(self) -> float:
        """Of the best option."""
        return max(option.score for option in self.options)

    @property
    def words(self) -> range:
        """Places of its words."""
        return range(self.first, self.last + 1)

    def at_most(self, score: float) -> Mention:
        """The mention with no option surer than so."""
        options = (dataclasses.replace(o, score=min(o.score, score)) for o in self.options)
        return dataclasses.replace(self, options=tuple(options))


@dataclasses.dataclass(frozen=True)
class ClassMention:
    """Words that name a class."""

    first: int
    last: int
    kind: int

    @property
    def words(self) -> range:
        """Places of its words."""
        return range(self.first, self.last + 1)


@dataclasses.dataclass(frozen=True)
class _Index:
    """Entities by the key of a name and by its words, and all words that are known."""

    by_key: dict[str, list[tuple[int, bool]]]
    by_word: dict[str, set[int]]
    known: set[str]

    @functools.cached_property
    def keys(self) -> list[str]:
        return list(self.by_key)


class TopicFinder:
    """Finds mentions by name, other name, plural, part of a name or misspelling.

    Args:
        vocabulary: of the graph.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        kg = vocabulary.kg
        self._class_keys: dict[str, list[int]] = defaultdict(list)
        self._schema_words: set[str] = set()
        for kind in vocabulary.classes:
            names = map(relation_words, vocabulary.class_names(kind))
            for key in dict.fromkeys(map(key_of, names)):
                self._class_keys[key].append(kind)
        for relation in vocabulary.relations:
            for wording in relation.wordings:
                self._schema_words.update(map(singular, split_words(wording).folded))
        for key in self._class_keys:
            self._schema_words.update(key.split())
        labels = {key_of(w) for relation in vocabulary.relations for w in relation.wordings}
        self._labels = {label for label in labels if _is_compound(label)}
        self._compounds = self._labels | set(filter(_is_compound, self._class_keys))
        self._aside = vocabulary.is_schema | vocabulary.is_value | vocabulary.is_other_name
        self._aside[vocabulary.values.statements.node] = True  # of facts, which nobody names
        # Of a part of a larger graph, names that happen to lie around are no topics.
        self._around = np.zeros(kg.num_entities, bool)
        if (named := getattr(kg, "mentionable", None)) is not None:
            self._around[:] = True
            self._around[named] = False
        self._all = None if kg.num_entities > _AT_ONCE else self._indexed(vocabulary.surfaces())

    def _indexed(self, surfaces: Iterable[tuple[str, int, bool]]) -> _Index:
        index = _Index(defaultdict(list), defaultdict(set), set(self._schema_words))
        for name, row, other in surfaces:
            if self._aside[row]:
                continue
            name = looked_at(name)
            for key in dict.fromkeys((key_of(name), key_of(opened(name)))):
                words = key.split()
                index.known.update(words)
                if not self._around[row]:
                    index.by_key[key].append((row, other))
                    for word in words if len(words) < _TEXT else ():
                        index.by_word[word].add(row)
        return index

    @functools.cached_property
    def _searches(self) -> tuple[NameSearch, NameSearch]:
        kg = self.vocabulary.kg
        return NameSearch(kg.entity_names), NameSearch(kg.aliases.names)

    def _index_for(self, cues: Cues) -> _Index:
        """All names, or of a large graph those that share a word with the question."""
        if self._all is not None:
            return self._all
        rows, aliases = (self._sharing(search, cues) for search in self._searches)
        return self._indexed(self.vocabulary.surfaces(rows, aliases))

    def _sharing(self, search: NameSearch, cues: Cues) -> list[int]:
        """Names that share a word; of a word that thousands share, with another word, or alone."""
        found: list[np.ndarray] = []
        common: list[np.ndarray] = []
        for place, word in enumerate(cues.words.folded):
            if word in STOP or (cues.content[place] == 0 and not word.isalnum()):
                continue
            stem = singular(word)
            rows = search.rows(stem[:-1] if stem.endswith("y") and len(stem) > 3 else stem)
            if not stem.isascii():  # bytes alone tell no capital of other scripts
                rows = distinct(np.concatenate([rows, search.rows(stem.capitalize())]))
            if not len(rows):
                # A slip of the pen, hardly in the first letters.
                rows = search.rows(stem[:4])
                rows = rows if len(rows) <= _COMMON or len(stem) < 6 else search.rows(stem[:5])
            (common if len(rows) > _COMMON else found).append(rows)
        if common:
            rows, shared = np.unique(np.concatenate([*common, *found]), return_counts=True)
            found.append(rows[(shared > 1) | (search.words(rows) == 1)])
        return distinct(np.concatenate(found)).tolist() if found else []

    def classes(self, cues: Cues) -> list[ClassMention]:
        """Classes named in a question, not by a part of a relation's label: "instance type"."""
        words = [singular(word) for word in cues.words.folded]
        labels = self._spans(cues, self._labels)
        found = []
        for first in range(len(words)):
            for last in range(first, min(first + 3, len(words))):
                key = " ".join(words[first : last + 1])
                if not _is_part(first, last, labels):
                    kinds = self._class_keys.get(key, ())
                    found += [ClassMention(first, last, kind) for kind in kinds]
        return found

    def _spans(self, cues: Cues, names: Set[str]) -> list[tuple[int, int]]:
        """Where a question says the whole of some names of several words: first and last places."""
        words = [singular(word) for word in cues.words.folded]
        spans = ((a, b) for a in range(len(words)) for b in range(a + 1, min(a + 4, len(words))))
        return [(a, b) for a, b in spans if " ".join(words[a : b + 1]) in names]

    def is_name(self, word: str) -> bool:
        """Whether a thing is called by a word; of a very large graph that is not known."""
        return self._all is not None and key_of(word) in self._all.by_key

    def mentions(self, cues: Cues) -> list[Mention]:
        """Things named in a question, in order of place; none within another."""
        index = self._index_for(cues)
        found = self._exact(cues, index)
        loose = self._loose(cues, found, index)
        longer = [mention for mention in loose if mention.first < mention.last]
        found = [m for m in found if not any(m.first in other.words for other in longer)] + loose
        doubted = [self._in_passing(cues, mention, index) for mention in found]
        if all(doubted):
            return sorted(found, key=lambda mention: mention.first)
        rated = (m.at_most(_DOUBTED) if less else m for m, less in zip(found, doubted))
        return sorted(rated, key=lambda mention: mention.first)

    def unknown(self, cues: Cues, mentions: Sequence[Mention]) -> frozenset[int]:
        """Places of words written as names are of which nothing in the graph has any: the "Pixar"
        of films without their studios. None of a question that is German, or all in capitals."""
        written, folded = cues.words.written, cues.words.folded
        named = {place for mention in mentions for place in (*mention.words, *mention.beside)}
        sure = [mention for mention in mentions if mention.score >= _WHOLE]  # Prof. Adler
        named |= {place for m in sure for place in (m.first - 1, m.last + 1)} | cues.used
        capital = {
            place: singular(folded[place])
            for place, word in enumerate(written)
            if place and word.istitle() and len(word) > 2 and place not in named
        }
        if not capital or is_german(folded) or not any(map(str.islower, written[1:])):
            return frozenset()
        known = self._index_for(cues).known | STOP
        return frozenset(
            place
            for place, word in capital.items()
            if known.isdisjoint((word, folded[place])) and not self._of_schema(word)
        )

    def _in_passing(self, cues: Cues, mention: Mention, index: _Index) -> bool:
        """Whether one word in small letters is rather what a question says than what it is about:
        few facts have it, and it speaks of relations, more names share it, or its bearers have a
        capital where the question writes capitals."""
        written = cues.words.written
        plain = written[mention.first].isalpha() and written[mention.first].islower()
        if mention.first < mention.last or not plain:
            return False
        bearers = [option.entity for option in mention.options]
        facts = self.vocabulary.degree[bearers].max()
        if facts > _FEW * self.vocabulary.kg.num_triples:
            return False
        word = singular(cues.words.folded[mention.first])
        if len(index.by_word.get(word, ())) > facts or self._of_schema(word):
            return True
        cased = any(not other.islower() for other in written[1:])
        names = self.vocabulary.kg.entity_names
        return cased and not any(names[row].islower() for row in bearers)

    def _exact(self, cues: Cues, index: _Index) -> list[Mention]:
        folded, written = cues.words.folded, cues.words.written
        compounds = self._spans(cues, self._compounds)
        spans = []
        for first in range(len(folded)):
            if folded[first] in ARTICLES and first + 1 < len(folded) and len(folded[first]) > 1:
                continue
            for last in range(first, min(first + _LONGEST, len(folded))):
                if _is_part(first, last, compounds):
                    continue
                rows = index.by_key.get(key_of_words(folded[first : last + 1]), [])
                rows = rows + self._of_class(folded[first : last + 1], index)
                if rows and self._meant(cues, first, last, rows):
                    spans.append((last - first, -first, first, last, rows))
        spans += self._by_id(cues)
        found, taken = [], set()
        for _, _, first, last, rows in sorted(spans, reverse=True, key=lambda s: s[:2]):
            if taken & set(range(first, last + 1)):
                continue
            taken.update(range(first, last + 1))
            text = " ".join(written[first : last + 1])
            found.append(self._mention(cues, first, last, rows, text))
        return found

    def _by_id(self, cues: Cues) -> Iterator[tuple[int, int, int, int, list[tuple[int, bool]]]]:
        """Spans that are ids as they stand: "GO:0008150", "SFO"."""
        ids, text = self.vocabulary.kg.entity_ids, cues.words.text
        spans = list(enumerate(cues.words.spans))
        signs = () if text.isupper() else _SIGN.finditer(text)
        for match in itertools.chain(_ID.finditer(text), signs):
            low, high = match.span()
            places = [place for place, (a, b) in spans if low <= a and b <= high]
            rows = [(row, False) for row in ids.rows(match[0]) if not self._aside[row]]
            if rows and places:
                yield places[-1] - places[0], -places[0], places[0], places[-1], rows

    def _of_class(self, words: list[str], index: _Index) -> list[tuple[int, bool]]:
        """Things of the class that the first or last of some words names: "colorado river"."""
        found: list[tuple[int, bool]] = []
        for word, rest in ((words[-1], words[:-1]), (words[0], words[1:])):
            kinds = [k for k in self._class_keys.get(word, ()) if k not in self.vocabulary.sorts]
            for row, other in index.by_key.get(key_of_words(rest), ()) if kinds and rest else ():
                if set(kinds) & set(self.vocabulary.kinds_of(row)):
                    found.append((row, other))
        return found

    def _meant(self, cues: Cues, first: int, last: int, rows: list[tuple[int, bool]]) -> bool:
        """Whether the words may be a name: not function words alone, unless written as one."""
        folded, written = cues.words.folded, cues.words.written
        words = folded[first : last + 1]
        text = " ".join(written[first : last + 1])
        capital = text != text.lower() and first > 0
        names = {self.vocabulary.kg.name(row) for row, _ in rows}
        if any(word not in STOP and len(word) > 1 for word in words):
            light = first == last and words[0] in LIGHT and ADDING.get(words[0]) != "sum"
            return not light or (capital and text in names)  # "the People department"
        digit = words[0].isdigit()
        if digit:
            return not any(first in bound.words for bound in cues.bounds)
        return capital and (text in names or len(words) > 1 or text.isupper())

    def _mention(
        self, cues: Cues, first: int, last: int, rows: list[tuple[int, bool]], text: str
    ) -> Mention:
        """A mention with its options; words beside it that tell homonyms apart count for one."""
        near = [p for p in (first - 2, first - 1, last + 1, last + 2) if 0 <= p < len(cues.content)]
        options: dict[int, Option] = {}
        beside: set[int] = set()
        for row, other in rows:
            name = self.vocabulary.kg.name(row)
            score = 0.97 if other else 1.0
            if not other and name != text and name.lower() != text.lower():
                score -= 0.03
            hints = set(split_words(name).folded) if "(" in name else set()
            for kind in self.vocabulary.kinds_of(row):
                for word in self.vocabulary.class_names(kind):
                    hints.update(split_words(word).folded)
            told = [p for p in near if singular(cues.words.folded[p]) in map(singular, hints)]
            if told and len(rows) > 1:
                score += 0.05
            beside.update(told)
            best = options.get(row)
            if best is None or score > best.score:
                options[row] = Option(row, min(score, 1.05), "alias" if other else "exact")
        order = sorted(
            options.values(), key=lambda o: (-o.score, -self.vocabulary.degree[o.entity])
        )
        return Mention(first, last, tuple(order[:6]), tuple(sorted(beside)))

    def _loose(self, cues: Cues, exact: Sequence[Mention], index: _Index) -> list[Mention]:
        """Parts of names and slips of the pen, outside of what was found exactly; but for single
        words in small letters that stand in a longer part of one name: "CSV import crash"."""
        folded, written = cues.words.folded, cues.words.written
        single = {m.first for m in exact if m.first == m.last and written[m.first].islower()}
        taken = {place for mention in exact for place in mention.words} - single
        free = [
            place not in taken and place not in cues.used and cues.content[place] == 1.0
            for place in range(len(folded))
        ]
        found: list[Mention] = []
        # A word of the graph's, or a form of one that speaks of its schema.
        familiar = functools.cache(lambda word: word in index.known or self._of_schema(word))
        for first in range(len(folded)):
            check()
            for last in range(first, min(first + 5, len(folded))):
                if not (free[first] and free[last]) or taken & set(range(first, last + 1)):
                    continue
                known = len(single.intersection(range(first, last + 1)))
                if known and last + 1 - first < known + _BESIDE:
                    continue
                words = [singular(w) for w in folded[first : last + 1]]
                options = self._partial(words, written[first : last + 1], first, index)
                unknown = [w for w in words if w not in STOP and not familiar(w)]
                if unknown and not known:
                    options += self._misspelt(" ".join(words), index)
                if options:
                    best: dict[int, Option] = {}
                    for option in options:
                        if option.score > best.get(option.entity, Option(0, 0.0, "")).score:
                            best[option.entity] = option
                    order = sorted(best.values(), key=lambda o: -o.score)[:4]
                    found.append(Mention(first, last, tuple(order)))
        kept: list[Mention] = []
        for mention in sorted(found, key=lambda m: (-m.score, m.first - m.last)):
            if all(mention.last < k.first or k.last < mention.first for k in kept):
                kept.append(mention)
        return kept

    def _of_schema(self, word: str) -> bool:
        """Whether a word is a form of one that speaks of the graph's relations or classes."""
        return any(alike(word, known) >= 0.85 for known in self._schema_words)

    def _partial(
        self, words: list[str], written: list[str], first: int, index: _Index
    ) -> list[Option]:
        """Names that all these words are part of, where there are few such names."""
        sets = [index.by_word.get(word, set()) for word in words if word not in STOP]
        rows = set.intersection(*sets) if sets and all(sets) else set()
        if all(map(str.isdecimal, words)):
            if max(map(len, words)) < _SAYS:
                return []  # "3 bedrooms" are not at 3 Quay Street
            # The number of a row without an id is no name.
            rows = {row for row in rows if not is_blank(self.vocabulary.kg.entity_ids[row])}
        if all(word in self._schema_words or word in STOP for word in words):
            return []
        capital = first > 0 and any(word != word.lower() for word in written)
        if len(words) == 1 and not capital:  # one word of many says little
            names = self.vocabulary.kg.entity_names
            rows = {row for row in rows if len(names[row].split()) <= _SHORT}
        if len(words) == 1 and not capital and (len(rows) > 1 or self._of_schema(words[0])):
            # What several names share is no name: "case", "house"; nor a form of a relation's word.
            return []
        if rows and len(rows) <= _PARTIAL:
            return [Option(row, 0.8 if capital else 0.62, "part") for row in sorted(rows)]
        if len(words) == 1 and len(words[0]) >= 6 and capital and words[0] not in index.by_word:
            near = [k for k in index.keys if k[:5] == words[0][:5] and " " not in k]
            return [Option(row, 0.7, "form") for k in near[:3] for row, _ in index.by_key[k][:2]]
        return []

    def _misspelt(self, text: str, index: _Index) -> list[Option]:
        if len(text) < 5 or not index.keys:
            return []
        from rapidfuzz import fuzz, process

        found = process.extract(text, index.keys, scorer=fuzz.ratio, score_cutoff=_FUZZY, limit=3)
        digits = [c for c in text if c.isdigit()]
        return [
            Option(row, percent / 100 * 0.95, "fuzzy")
            for key, percent, _ in found
            if [c for c in key if c.isdigit()] == digits and abs(len(key) - len(text)) <= _SLIPS
            for row, _ in index.by_key[key][:3]
        ]

    def nearest(self, cues: Cues) -> tuple[str, ...]:
        """Three names that are a little like words of a question in which none was found."""
        from rapidfuzz import fuzz, process

        index = self._index_for(cues)
        found: dict[str, float] = {}
        for word, weight in zip(cues.words.folded, cues.content):
            if weight == 1.0 and len(word) > 2:
                close = process.extract(
                    word, index.keys, scorer=fuzz.WRatio, score_cutoff=70.0, limit=3
                )
                found |= {key: max(score, found.get(key, 0.0)) for key, score, _ in close}
        best = sorted(found, key=lambda key: -found[key])[:3]
        return tuple(self.vocabulary.kg.name(index.by_key[key][0][0]) for key in best)


def _is_compound(key: str) -> bool:
    """Whether a key is of several words, none of them a function word: "story point"."""
    words = key.split()
    return len(words) > 1 and STOP.isdisjoint(words)


def _is_part(first: int, last: int, spans: Iterable[tuple[int, int]]) -> bool:
    """Whether places lie within one of some longer spans."""
    return any(a <= first and last <= b and last - first < b - a for a, b in spans)


def soft_class(words: list[str], names: tuple[str, ...]) -> float:
    """How alike a noun and a class are by their letters."""
    return max(
        (meant(word, part) for word in words for name in names for part in name.split()[-1:]),
        default=0.0,
    )
