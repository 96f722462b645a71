"""A reading as a whole in words, to be compared with the question whose names are masked."""

from __future__ import annotations

from jaxkg.systems.reader.sets.candidate import Candidate
from jaxkg.systems.reader.sets.candidates import Candidates

WORDINGS = 2
"""Wordings of a reading: as a phrase, and as the sequence of what is walked."""
_IT = "it"
_MEASURED = {"extreme": "first by", "except": "without"}


def told(candidate: Candidate, find: Candidates) -> tuple[str, str]:
    """A reading in two wordings; the names of its topics are masked as in the question.

    "the genre of what has directed by it", and "it: directed by of, genre".
    """
    vocabulary, total = find.vocabulary, find.kg.num_relations
    kinds = find.end_classes(candidate)
    noun = vocabulary.class_words(kinds[0])[0] if kinds else ""
    phrases, sequences = [], []
    legs = candidate.legs or ((-1, candidate.relations),)
    for mention, codes in legs:
        named = [vocabulary.class_words(kind)[0] for kind in candidate.classes]
        words = _IT if mention >= 0 else f"every {' '.join(named) or 'thing'}"
        walked = [words]
        between = list(candidate.between)
        for place, code in enumerate(codes):
            label = find.wordings(code)[0]
            if code < total or code >= 2 * total:
                words = f"the {label} of {words}"
                walked.append(label)
            else:
                last = place == len(codes) - 1
                kind = noun if last else _name(vocabulary, between, place)
                words = f"{kind or 'what'} whose {label} is {words}"
                walked.append(f"{kind} whose {label} it is".strip())
        phrases.append(words)
        sequences.append(", ".join(walked))
    joined = " or " if candidate.shape == "union" else " and "
    phrase, sequence = joined.join(phrases), "; ".join(sequences)
    if candidate.measure >= 0 and candidate.shape != "compare":
        label = f"{_MEASURED.get(candidate.shape, 'by')} {find.wordings(candidate.measure)[0]}"
        phrase, sequence = f"{phrase}, {label}", f"{sequence}, {label}"
    elif candidate.shape == "except":
        phrase, sequence = f"{phrase}, but not it", f"{sequence}, but not it"
    if candidate.result in ("yes", "no"):
        return f"is it {phrase}", f"is it {sequence}"
    if candidate.shape == "count":
        return f"how many {phrase}", f"how many {sequence}"
    return phrase, sequence


def _name(vocabulary, between: list[int], place: int) -> str:
    return vocabulary.class_words(between[place])[0] if place < len(between) else ""
