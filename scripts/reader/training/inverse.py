"""Questions about asymmetric relations in made-up words: who does what to whom.

No word of verbs, labels and names exists, so that nothing but grammar tells the direction.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from jaxkg.kg import KnowledgeGraph
from training.maker import invented_name

LABELS = (
    ("{v}s", False), ("{v}ed", False), ("{v}er of", False),
    ("{v}ed by", True), ("{v}er", True), ("has {v}er", True),
)  # fmt: skip
"""Labels of relations, and whether they lead from whom it is done to to who does it."""
FORMS = (
    ("Who {v}s @?", True), ("Who {v}ed @?", True), ("By whom was @ {v}ed?", True),
    ("Who was @ {v}ed by?", True), ("Who is the {v}er of @?", True), ("Who is @'s {v}er?", True),
    ("Who does @ {v}?", False), ("Whom did @ {v}?", False), ("Who was {v}ed by @?", False),
    ("Who is {v}ed by @?", False), ("Who is @ the {v}er of?", False),
    ("Who has @ as {v}er?", False),
)  # fmt: skip
"""Questions, and whether they ask who does it."""
_THINGS, _RELATIONS = 12, 4


def inverse_questions(
    count: int, seed: int = 0
) -> Iterator[tuple[KnowledgeGraph, list[tuple[str, str, frozenset[str], frozenset[str]]]]]:
    """Graphs with questions: each its form, its text, its answers and those of the inverse.

    Args:
        count: of questions in all.
        seed: of what is drawn.
    """
    drawn = random.Random(seed)
    while count > 0:
        names = list(dict.fromkeys(invented_name(drawn, 2) for _ in range(_THINGS)))
        typed = names if drawn.random() < 0.5 else []
        facts = [(name, "type", "Person") for name in typed]
        asked = []
        for _ in range(_RELATIONS):
            verb = invented_name(drawn).lower().rstrip("aeiouyswxzh") + drawn.choice("bdgklmnprt")
            # Round a ring, one or three places on: nobody is done by whom they do it to.
            ring = drawn.sample(names, len(names))
            done = {(a, ring[(at + 1) % len(ring)]) for at, a in enumerate(ring)}
            done |= {(a, ring[(at + 3) % len(ring)]) for at, a in enumerate(ring) if at % 3 == 0}
            label, back = drawn.choice(LABELS)
            facts += [
                (b, label.format(v=verb), a) if back else (a, label.format(v=verb), b)
                for a, b in sorted(done)
            ]
            for form, doer in FORMS:
                name = drawn.choice(names)
                before = frozenset(a for a, b in done if b == name)
                behind = frozenset(b for a, b in done if a == name)
                ends = (before, behind) if doer else (behind, before)
                asked.append((form, form.format(v=verb).replace("@", name), *ends))
        yield KnowledgeGraph.from_triples(facts), asked[:count]
        count -= len(asked)
