"""Small random graphs with dates of every precision, numbers and truth values."""

import numpy as np

KINDS = {"when": "date", "size": "number", "alive": "boolean"}
TIMED = {**KINDS, "since": "date", "until": "date"}


def value_triples(rng: np.random.Generator, entities=9, edges=24) -> list[tuple[str, str, str]]:
    """Entities e0, e1, ..., relations a, b, c between them, and up to two values of every kind."""
    triples = {
        (f"e{rng.integers(entities)}", "abc"[rng.integers(3)], f"e{rng.integers(entities)}")
        for _ in range(edges)
    }
    triples |= {("e0", relation, f"e{rng.integers(entities)}") for relation in "abc"}
    for _ in range(entities):
        year = f"{rng.integers(1998, 2002)}"
        month = f"{rng.integers(1, 13):02}"
        date = [year, f"{year}-{month}", f"{year}-{month}-{rng.integers(1, 29):02}"]
        size = f"{rng.integers(-3, 12)}" + [".5", "", ".25"][rng.integers(3)]
        alive = ["true", "false"][rng.integers(2)]
        for relation, value in (("when", date[rng.integers(3)]), ("size", size), ("alive", alive)):
            triples.add((f"e{rng.integers(entities)}", relation, value))
    return sorted(triples)


def timed_triples(rng: np.random.Generator) -> list[tuple[str, str, str]]:
    """As `value_triples`, with statements that tell of some facts since when or until when."""
    triples = value_triples(rng)
    facts = [fact for fact in triples if fact[1] in "abc"]
    said = []
    for number in range(12):
        node, fact = f"_:{number}", facts[rng.integers(len(facts))]
        said += [(node, what, end) for what, end in zip(("subject", "predicate", "object"), fact)]
        years = sorted(rng.integers(1998, 2003, 2).tolist())
        some = [("since", f"{years[0]}-06"), ("until", f"{years[1]}")]
        said += [(node, *one) for one in some if rng.random() < 0.7]
    return sorted({*triples, *said})
