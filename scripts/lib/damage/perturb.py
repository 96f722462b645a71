"""Graphs and questions made worse on purpose, for robustness studies. Pure, and told by a seed.

Every function is deterministic in its arguments. What happens to a question depends on the seed and
the question's id, not on which others it stands among; relations renamed at one share are renamed
at every larger one.
"""

from __future__ import annotations

import dataclasses
import re
import zlib
from collections.abc import Container, Mapping

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg.encode import EncodedTriples, TripleEncoder
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.records import Question
from lib.damage.rewording import drop_words, move_words, swap_synonyms

_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    key: "".join(row[max(0, place - 1) : place] + row[place + 1 : place + 2])
    for row in _KEYS
    for place, key in enumerate(row)
}
_TRIES = 100


def opaque_names(graph: KnowledgeGraph, share: float, *, seed: int = 0) -> dict[str, str]:
    """New names, which say nothing, for a random share of the relations.

    Args:
        graph: any.
        share: of the relations, in [0, 1].
        seed: decides the order in which relations are renamed.

    Returns:
        New name by old name, for the renamed ones: `p_0007` and so on.
    """
    if not 0 <= share <= 1:
        raise JaxkgError(f"the share of relations to rename is in [0, 1], not {share}")
    order = np.random.default_rng([seed, 4]).permutation(graph.num_relations).tolist()
    chosen = order[: round(share * graph.num_relations)]
    return {graph.relations[code]: f"p_{place:04d}" for place, code in enumerate(chosen, start=1)}


def rename_relations(graph: KnowledgeGraph, names: Mapping[str, str]) -> KnowledgeGraph:
    """The same facts under other relation names.

    Args:
        graph: any.
        names: new name by old name; relations it does not have keep theirs.

    Raises:
        JaxkgError: a relation is not in the graph, or two would have one name.
    """
    for name in names:
        graph.relation_code(name)
    renamed = [names.get(name, name) for name in graph.relations]
    if len(set(renamed)) < len(renamed):
        raise JaxkgError("two relations would have the same name; facts would be mixed up")
    ids = graph.entity_ids.tolist()
    encoder = TripleEncoder()
    sources = None if graph.provenance is None else graph.provenance.tolist()
    encoder.add_table(ids, renamed, graph.triples, sources)
    table: EncodedTriples = encoder.finish()
    return KnowledgeGraph.from_encoded(
        table,
        names=dict(zip(ids, graph.entity_names)),
        aliases={ids[entity]: also for entity, also in graph.aliases.items()},
        relation_names={r: told for r, told in graph.relation_names.items() if r not in names},
    )


def rename_paths(question: Question, names: Mapping[str, str]) -> Question:
    """A question whose gold relation paths are told in the new names."""

    def renamed(relation: str) -> str:
        inverse = relation.startswith("^")
        return "^" * inverse + names.get(relation[inverse:], relation[inverse:])

    paths = tuple(tuple(map(renamed, path)) for path in question.paths)
    return dataclasses.replace(question, paths=paths)


def misspell(question: Question, edits: int, *, name: str | None = None, seed: int = 0) -> Question:
    """A question whose topic is misspelt; the given topic is hidden, as it would undo the damage.

    An edit, each kind equally likely, drops a letter, doubles one, swaps two, or hits a
    neighbouring key. The first letter stays, as people seldom miss it; digits and signs stay too.

    Args:
        question: with a `mention`, or a topic whose name stands in the text.
        edits: how many; 0 only hides the topic.
        name: display name of the topic, where the question has no `mention`.
        seed: of the edits.

    Raises:
        JaxkgError: the topic is not found in the text.
    """
    start, end = topic_span(question, name)
    word, rng = list(question.text[start:end]), _rng(question, seed, 5)
    for _ in range(edits):
        places = [place for place, letter in enumerate(word) if place and letter.isalpha()]
        if not places:
            break
        place = places[rng.integers(len(places))]
        kind = rng.integers(4)
        if kind == 0 and len(places) > 2:
            del word[place]
        elif kind == 1 and place + 1 < len(word) and word[place + 1] not in (*" -", word[place]):
            word[place : place + 2] = word[place + 1], word[place]
        elif kind == 2 and (near := _NEIGHBOURS.get(word[place].lower())):
            hit = near[rng.integers(len(near))]
            word[place] = hit.upper() if word[place].isupper() else hit
        else:
            word.insert(place, word[place])
    return _with_topic(question, (start, end), "".join(word))


def unknown_topic(
    question: Question, known: Container[str], *, name: str | None = None, seed: int = 0
) -> Question:
    """A question about something the graph has not; the right answer is to abstain.

    Args:
        question: with a `mention`, or a topic whose name stands in the text.
        known: names that the graph has.
        name: display name of the topic, where the question has no `mention`.
        seed: of the new name, two words made of syllables.

    Returns:
        The question with no topic and no gold answers.

    Raises:
        JaxkgError: the topic is not found in the text.
    """
    span, rng = topic_span(question, name), _rng(question, seed, 6)
    for _ in range(_TRIES):
        letters = ["bdfgklmnprstvz"[i] + "aeiou"[j] for i, j in rng.integers((14, 5), size=(6, 2))]
        made = f"{''.join(letters[:3]).title()} {''.join(letters[3:]).title()}"
        if made not in known:
            changed = _with_topic(question, span, made)
            return dataclasses.replace(changed, answers=(), paths=())
    raise JaxkgError(f"no name was found that the graph has not, in {_TRIES} tries")


def paraphrase(
    question: Question, strength: int, *, name: str | None = None, seed: int = 0
) -> Question:
    """A question in other words, by rules of thumb: no template is known, no model is asked.

    1 swaps every word that a small table of synonyms has; 2 also drops a third of the function
    words; 3 also moves the words around the topic, which makes telegraphic English ("Alien
    directed who"). Real paraphrases differ in more ways than these. The topic is left as it is.

    Args:
        question: any; without a topic in its text, all words may change.
        strength: 0 (unchanged) to 3.
        name: display name of the topic, where the question has no `mention`.
        seed: of the choices.
    """
    if not 0 <= strength <= 3:
        raise JaxkgError(f"the strength of a paraphrase is 0, 1, 2 or 3, not {strength}")
    if not strength:
        return question
    try:
        start, end = topic_span(question, name)
    except JaxkgError:
        start = end = len(question.text)
    rng = _rng(question, seed, 7)
    before, after = question.text[:start].split(), question.text[end:].split()
    topic = question.text[start:end]
    before, after = swap_synonyms(before, rng), swap_synonyms(after, rng)
    if strength >= 2:
        before, after = drop_words(before, 1 / 3, rng), drop_words(after, 1 / 3, rng)
    if strength >= 3:
        before, after = move_words(before, after, rng)
    text = " ".join([*before, *([topic] if topic else []), *after])
    # A sign that followed the topic at once does so again.
    text = re.sub(r" (?=[?.,!'’])", "", text)
    begin = len(" ".join(before)) + bool(before)
    held = text[begin : begin + len(topic)] == topic
    mention = (begin, begin + len(topic)) if question.mention and topic and held else None
    return dataclasses.replace(question, text=text, mention=mention)


def topic_span(question: Question, name: str | None = None) -> tuple[int, int]:
    """Where the topic stands in the text: the `mention`, or where the name or topic id is found.

    Raises:
        JaxkgError: it is not found.
    """
    if question.mention is not None:
        return question.mention
    for said in (name, *question.topics):
        if said and (found := re.search(re.escape(said), question.text, re.IGNORECASE)):
            return found.span()
    raise JaxkgError(f"question {question.id!r}: its topic is not found in {question.text!r}")


def _with_topic(question: Question, span: tuple[int, int], said: str) -> Question:
    text = question.text[: span[0]] + said + question.text[span[1] :]
    return dataclasses.replace(question, text=text, topics=(), mention=None)


def _rng(question: Question, seed: int, purpose: int) -> np.random.Generator:
    return np.random.default_rng([seed, purpose, zlib.crc32(question.id.encode())])
