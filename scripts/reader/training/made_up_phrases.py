"""Questions made of a schema's own labels: its relations one by one, and two in a row.

People who know their table ask by the names of its columns, "the email of Ann's manager", and a
schema with long names tells a relation by what it belongs to as well: "film country". The questions
of a phrasebook are in other words on purpose, so these are put beside them.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from training.phrasebook import Domain, Phrase, masked_words

_ONE = (
    "what is the {a} of @", "@'s {a}", "{a} of @", "what {a} does @ have", "@ {a}",
    "which {a} has @", "tell me the {a} of @", "what are the {a} of @",
)  # fmt: skip
_ONE_BACK = (
    "what has @ as {a}", "which {head} has the {a} @", "{head} whose {a} is @",
    "everything with {a} @",
)  # fmt: skip
_TWO = (
    "what is the {b} of the {a} of @", "what is the {b} of @'s {a}", "@'s {a}'s {b}",
    "what is the @'s {a}'s {b}", "{b} of the {a} of @", "what {b} does the {a} of @ have",
    "the {a} of @ has which {b}", "who or what is the {b} of the {a} @ has",
)  # fmt: skip
_TWO_BACK = (
    "what is the {b} of the {head} whose {a} is @", "{b} of what has @ as {a}",
    "which {b} do those with {a} @ have", "the {head} with {a} @, what {b}",
)  # fmt: skip


def with_long_labels(domain: Domain) -> Domain:
    """The same, each relation also told by what has it, where one word names it.

    As `jaxkg.words.relation_words` tells "film.film.country".
    """
    longer = (
        tuple(f"{head} {label}" for label in labels if " " not in label and label != head)
        for (head, _), labels in zip(domain.ends, domain.labels, strict=True)
    )
    labels = tuple((*some, *more) for some, more in zip(domain.labels, longer))
    return dataclasses.replace(domain, labels=labels)


def with_made_up(domain: Domain, count: int, seed: int = 0) -> Domain:
    """The same, with questions made of its labels.

    Args:
        domain: a schema and questions.
        count: of questions made, half of them of two relations in a row where there are any such.
        seed: of what is drawn.
    """
    drawn = np.random.default_rng((seed, len(domain.phrases), len(domain.labels)))
    known = range(len(domain.labels))
    # Ahead both, or the first backwards: `(first, whether backwards, second)`; a second of -1 is
    # none.
    chains = [
        (one, back, two)
        for one in known
        for back in (False, True)
        for two in known
        if two != one and domain.ends[two][0] == domain.ends[one][0 if back else 1]
    ]
    phrases = list(domain.phrases)
    for number in range(count):
        if chains and number % 2:
            one, back, two = chains[drawn.integers(len(chains))]
            forms = _TWO_BACK if back else _TWO
        else:
            one, back, two = int(drawn.integers(len(known))), bool(drawn.integers(4) == 0), -1
            forms = _ONE_BACK if back else _ONE
        a, b = (domain.labels[r][drawn.integers(len(domain.labels[r]))] for r in (one, two))
        text = forms[drawn.integers(len(forms))].format(a=a, b=b, head=domain.ends[one][0])
        ahead = frozenset(r for r in (-1 if back else one, two) if r >= 0)
        backwards = frozenset({one} if back else ())
        phrases.append(Phrase(masked_words(text), ahead, backwards))
    return dataclasses.replace(domain, phrases=tuple(phrases))
