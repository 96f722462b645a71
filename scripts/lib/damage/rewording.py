"""Words of questions swapped, dropped and moved: the parts that `perturb.paraphrase` is made of."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

_GROUPS = """
who, which person | which people
movie, film | picture | motion picture
movies, films | pictures | motion pictures
film, movie | picture
films, movies | pictures
directed, made | shot | was director of
director, maker | film-maker
directors, makers | film-makers
wrote, penned | authored
written, penned | authored | scripted
writer, author | scribe
writers, authors | scribes
screenwriter, scriptwriter | author of the script
screenwriters, scriptwriters | authors of the script
starred, played | acted | appeared
star, lead | leading player
stars, leads | leading players
acted, performed | played
actor, performer | player
actors, performers | players | cast members
released, published | launched | brought out
release, launch | appearance
year, date | time
genre, type | category
genres, types | categories
language, tongue
languages, tongues
spoken, used
country, nation | land
city, town
born, delivered into the world
birthplace, place of origin
spouse, partner
married, wed
father, dad
mother, mum
employer, boss
employees, workers | personnel
founder, creator
founded, set up | started
headquarters, main office
owner, proprietor
owned, held
owns, holds
publisher, publishing house
published, issued | put out
teacher, tutor | instructor
taught, instructed | tutored
winners, recipients
won, gained | took home
award, prize | honour
awards, prizes | honours
prizes, awards
subject, theme
topic, theme
books, volumes
works, pieces
company, firm | business
companies, firms | businesses
person, individual
people, folks | individuals
school, college
name, give | state
list, enumerate | give
tell, inform
find, look up
what, which thing
when, at what time
where, in which place
also, as well
share, have in common
same, identical
other, further
appear, feature | show up
appeared, featured | showed up
kind, sort
type, sort
"""

SYNONYMS: dict[str, tuple[str, ...]] = {
    word.strip(): tuple(other.strip() for other in others.split("|"))
    for word, _, others in (line.partition(",") for line in _GROUPS.strip().splitlines())
}
"""What a word of a question may be replaced by; some fit better than others."""

_FUNCTION = """
a an the of in on at by for to from with is are was were be been do does did has have had that which
who whom this these those and me you can could please there it its as
"""

FUNCTION_WORDS = frozenset(_FUNCTION.split())


def swap_synonyms(words: Sequence[str], rng: np.random.Generator) -> list[str]:
    """Every word that the table has, replaced by one of its synonyms; signs around it stay.

    >>> swap_synonyms(["who", "spoken?"], np.random.default_rng(1))
    ['which person', 'used?']
    """
    swapped = []
    for word in words:
        found = re.fullmatch(r"(\W*)(.*?)(\W*)", word, re.DOTALL)
        assert found is not None  # every string is of that form
        others = SYNONYMS.get(found[2].lower())
        said = found[2] if others is None else others[rng.integers(len(others))]
        swapped.append(f"{found[1]}{said}{found[3]}")
    return swapped


def drop_words(words: Sequence[str], share: float, rng: np.random.Generator) -> list[str]:
    """The words without a random share of the function words among them."""
    return [word for word in words if word.lower() not in FUNCTION_WORDS or rng.random() >= share]


def move_words(
    before: Sequence[str], after: Sequence[str], rng: np.random.Generator
) -> tuple[list[str], list[str]]:
    """Words around a topic in another order: the first few go behind it.

    Args:
        before, after: words before and behind the topic.
        rng: decides how many go, at least one where there are two.
    """
    if len(before) < 2:
        return list(before), list(after)
    count = int(rng.integers(1, len(before)))
    # A question mark stays last.
    end = [word.rstrip("?") for word in after if word.rstrip("?")]
    return list(before[count:]), [*end, *before[:count]]
