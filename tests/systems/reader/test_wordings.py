"""Ways of putting a question that say nothing of what it is about."""

from jaxkg.systems.reader.language.cues import read_cues


def test_what_follows_a_statement_denies_nothing():
    assert read_cues("Ann taught Bo, didn't she?").negated is None
    assert read_cues("Ann didn't teach Bo, did she?").negated == 1


def test_what_looks_like_a_rank_and_other_bounds():
    assert read_cues("When did the Gull sail for the first time?").extreme is None
    assert read_cues("Who is the elder of them?").extreme is not None
    bounds = {
        "who gave upwards of 200 kg": (">=", "200"), "who gave upwards of ten": (">=", "10"),
        "where was it worse than 3": ("<", "3"), "who gave in excess of 5": (">", "5"),
    }  # fmt: skip
    for text, wanted in bounds.items():
        (bound,) = read_cues(text).bounds
        assert (bound.comparison, bound.low) == wanted, text
    assert read_cues("Ann's boats plus Bo's").either


def test_speeds_and_what_is_skipped():
    fast = read_cues("Which boat is the fastest?").extreme
    assert fast.sign(("top knots",), "number")
    assert not fast.sign(("days",), "number")
    assert read_cues("Who sails but skips the fair?").except_at == 2
