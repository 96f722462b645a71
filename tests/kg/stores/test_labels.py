import chex
import numpy as np

from jaxkg.kg.stores import labels
from jaxkg.kg.stores.labels import Hashes, search_words


def gathered(names, part):
    hashes = Hashes()
    for start in range(0, len(names), part):
        rows = np.arange(start, min(start + part, len(names)))
        hashes.add(names[start : start + part], rows)
    return hashes.index()


def test_common_words_are_left_out_whenever_they_are_noticed(rng, monkeypatch):
    monkeypatch.setattr(labels, "_COMMON", 20)
    # "low" is common only in the first names, "even" in all together alone.
    names = [
        f"{'low' if row < 30 else 'high'} n{row % 90} {'even' if row % 15 == 0 else 'odd'}"
        for row in range(600)
    ]
    whole = gathered(names, 600)
    monkeypatch.setattr(labels, "_PRUNED_AT", 100)
    parts = gathered(names, 7)
    for one, two in zip(vars(whole).values(), vars(parts).values()):
        chex.assert_trees_all_equal(one, two)
    counts = {}
    for row, name in enumerate(names):
        for word in search_words(name):
            counts.setdefault(word, set()).add(row)
    for word, rows in counts.items():
        assert set(whole.sharing(word).tolist()) == (rows if len(rows) <= 20 else set())


def test_words_of_any_name():
    assert search_words("Heat (1995 film)") == ["heat"]
    assert search_words("(untitled)") == search_words("[untitled]") == ["untitled"]
    assert search_words("") == search_words("-") == [""] or search_words("-") == ["-"]
    assert search_words("The Straße") == ["strasse"]
