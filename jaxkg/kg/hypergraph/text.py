"""A hypergraph out of plain text by rules, for running without a language model.

Entities are the documents' titles and phrases in capitals; a sentence is a fact over the entities
it mentions and its document's title, a document a passage over all of them. What it misses: things
written in small letters, pronouns beyond the document's own subject, other names of a thing that
share no words with it, and every fact that goes over more than one sentence.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence

from jaxkg.errors import JaxkgError
from jaxkg.kg.hypergraph.graph import Chunk, Hyperedge, KnowledgeHypergraph
from jaxkg.kg.link.folding import split_words
from jaxkg.kg.link.mentions import QUESTION_WORDS, NameFinder

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Jr|Sr|vs|No|Vol|Inc|Ltd|Co|Prof|Gen|Col|Capt|Lt|Rev|Hon|etc)"
    r"|\b[A-Za-z]\.[A-Za-z])\.$"
)
_CAPITAL = r"(?:[A-Z][\w’'&.-]*|[0-9]+(?:st|nd|rd|th)?)"
_PHRASE = re.compile(
    rf"\b(?:[A-Z]\.)*[A-Z][\w’'&-]*(?:\.(?=\s[A-Z]))?"
    rf"(?:\s+(?:(?:of|the|and|de|la|von|van|der|du|for|in|on|at|&)\s+){{0,2}}{_CAPITAL})*"
)
_DATE = re.compile(
    r"\b(?:\d{1,2}\s+)?(?:January|February|March|April|May|June|July|August|September|October|"
    r"November|December)(?:\s+\d{1,2},?)?(?:\s+\d{4})?\b|\b1[0-9]{3}\b|\b20[0-9]{2}\b"
)
_JOINED = re.compile(r"\s+(?:and|&|in|on|at|for)\s+(?:the\s+)?")
"""What two names in capitals are written into one phrase by, where no name has it."""
TEXT_FILES = (".md", ".txt")
"""How the names of files of text end; a title that ends so is a file's name."""
_MID_SENTENCE = re.compile(r"(?<=\w\s)[A-Z][\w’'-]+")
"""Words in capitals within a sentence."""
_QUALIFIER = re.compile(r"\s*\([^()]*\)\s*$")
_MOST_WORDS = 8


def hypergraph_of_text(
    documents: Iterable[tuple[str, str]],
    *,
    longest: int = 400,
    on_progress: Callable[[int, int], None] | None = None,
) -> KnowledgeHypergraph:
    """Build a hypergraph from (title, text) documents by rules.

    Args:
        documents: titles may be empty.
        longest: words of a chunk; a longer document becomes several, cut between sentences.
        on_progress: told documents done and in all.

    Raises:
        JaxkgError: no document mentions anything.

    Example:
        >>> graph = hypergraph_of_text([
        ...     ("Alien (film)", "Alien is a 1979 film directed by Ridley Scott."),
        ...     ("Ridley Scott", "Scott was born in South Shields."),
        ... ])
        >>> graph.tell(0)
        'Alien is a 1979 film directed by Ridley Scott.'
        >>> [graph.name(row) for row in graph.entities_of(0).tolist()]
        ['Alien (film)', 'Ridley Scott', '1979']
    """
    chunks = chunked(documents, longest=longest)
    titles = list(dict.fromkeys(chunk.title for chunk in chunks if subject_of(chunk.title)))
    # A title is found under its name with and without the words in brackets.
    named = [
        (name, title) for title in titles for name in dict.fromkeys((title, unqualified(title)))
    ]
    finder, owner = NameFinder(name for name, _ in named), [title for _, title in named]
    within = Counter(
        word
        for chunk in chunks
        for sentence in sentences(chunk.text)
        for word in _MID_SENTENCE.findall(sentence)
    )
    chunk_sentences = []
    for number, chunk in enumerate(chunks, start=1):
        told = [(said, mentions(said, finder, owner, within)) for said in sentences(chunk.text)]
        chunk_sentences.append(told)
        if on_progress:
            on_progress(number, len(chunks))
    known = {entity_id(name) for said in chunk_sentences for _, names in said for name in names}
    spellings: dict[str, str] = {}
    edges: list[Hyperedge] = []
    for chunk, said in zip(chunks, chunk_sentences):
        subject = [*filter(None, [subject_of(chunk.title)])]
        if subject:
            spellings.setdefault(subject[0], chunk.title)
        everyone = dict.fromkeys(subject)
        for sentence, names in said:
            ids = dict.fromkeys(subject)
            inner = (name_inside for name in names for name_inside in _inner(name, known))
            for name in itertools.chain(names, inner):
                if id := entity_id(name):
                    spellings.setdefault(id, name)
                    ids[id] = None
            everyone |= ids
            if ids:
                edges.append(Hyperedge(sentence, tuple(ids), "fact", chunk.id))
        if everyone:
            name = chunk.title.strip() or f"passage {chunk.id}"
            edges.append(Hyperedge(name, tuple(everyone), "passage", chunk.id))
    if not edges:
        raise JaxkgError(
            f"{len(chunks)} chunks have no capitalised names and no titles; "
            "extract the facts with a language model, or give them as JSON lines"
        )
    return KnowledgeHypergraph.from_edges(edges, names=spellings, chunks=chunks)


def chunked(documents: Iterable[tuple[str, str]], *, longest: int = 400) -> list[Chunk]:
    """Documents as chunks of at most `longest` words, cut between sentences.

    A chunk's id is the document's number, with the number of the part where there are several.

    >>> [chunk.id for chunk in chunked([("A", "One two. Three four."), ("B", "Five.")], longest=2)]
    ['0.0', '0.1', '1']
    """
    chunks = []
    for number, (title, text) in enumerate(documents):
        parts: list[list[str]] = [[]]
        size = 0
        for sentence in sentences(text):
            words = len(sentence.split())
            if parts[-1] and size + words > longest:
                parts.append([])
                size = 0
            parts[-1].append(sentence)
            size += words
        for part, group in enumerate(parts):
            id = f"{number}" if len(parts) == 1 else f"{number}.{part}"
            # One part keeps the text as it was given.
            chunks.append(Chunk(id, title, text if len(parts) == 1 else " ".join(group)))
    return chunks


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text; an abbreviation or an initial ends none.

    >>> list(sentences("J. R. R. Tolkien met Mr. Lewis. They talked."))
    ['J. R. R. Tolkien met Mr. Lewis.', 'They talked.']
    """
    held = ""
    for piece in _SENTENCE_END.split(" ".join(text.split())):
        held = f"{held} {piece}" if held else piece
        if held and not _ABBREVIATION.search(held):
            yield held
            held = ""
    if held:
        yield held


def mentions(
    sentence: str, finder: NameFinder, owner: Sequence[str], within: Counter[str]
) -> list[str]:
    """Names in a sentence: known titles, phrases in capitals, dates."""
    ids: dict[str, None] = {}
    taken: list[tuple[int, int]] = []
    for mention in finder.find(sentence):
        # A title in small letters is a common word.
        if any(char.isupper() or char.isdigit() for char in sentence[mention.start : mention.end]):
            ids[owner[mention.name]] = None
            taken.append((mention.start, mention.end))
    for pattern in (_PHRASE, _DATE):
        for match in pattern.finditer(sentence):
            start, end = match.span()
            if any(a <= start and end <= b for a, b in taken):
                continue
            phrase = match[0].strip(" .’'&-")
            words = phrase.split()
            while words and words[0].casefold() in QUESTION_WORDS:
                words = words[1:]
            phrase = re.sub(r"[’']s$", "", " ".join(words))
            if not phrase or len(words) > _MOST_WORDS:
                continue
            first = not sentence[:start].strip(" \"'(")
            if first and len(words) == 1 and phrase not in within and not phrase.isdigit():
                continue  # the capital of a sentence's first word says nothing
            ids[phrase] = None
            taken.append((start, end))
    return list(ids)


def entity_id(name: str) -> str:
    """The folded words of a name; what differs in case and punctuation is one entity."""
    return " ".join(split_words(name).folded)


def subject_of(title: str) -> str:
    """What a document is about by its title, as an entity; "" where that is but a file's name.

    >>> subject_of("Ridley Scott"), subject_of("notes_2023.txt")
    ('ridley scott', '')
    """
    return "" if title.lower().endswith(TEXT_FILES) else entity_id(title)


def unqualified(title: str) -> str:
    """A title without the words in brackets at its end; itself where nothing would be left.

    >>> unqualified("Alien (film)"), unqualified("(I)")
    ('Alien', '(I)')
    """
    return _QUALIFIER.sub("", title) or title


def _inner(phrase: str, known: Container[str]) -> Iterator[str]:
    """Names within a phrase: those it joins, and runs of words that are names elsewhere.

    "Amy Poehler and Will Arnett" are two; "King Henry III of England" is Henry III too. A single
    word is one only where it is joined and known: a family name is not its every bearer.
    """
    parts = [part.split() for part in _JOINED.split(phrase) if part]
    if len(parts) > 1:
        for part in parts:
            if len(part) > 1 or part[0].isdigit() or entity_id(part[0]) in known:
                yield " ".join(part)
    words = phrase.split()
    for length in range(2, len(words)):
        for first in range(len(words) - length + 1):
            run = " ".join(words[first : first + length]).strip(" .,’'&-")
            if entity_id(run) in known:
                yield run
