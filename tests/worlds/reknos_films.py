"""A graph with three-part relation names, so small that every path of it is known by heart."""

from jaxkg.kg import KnowledgeGraph
from jaxkg.records import Question

DIRECTED, STARRING = "film.film.directed_by", "film.film.starring"
BORN, GENRE = "people.person.place_of_birth", "media.genre.of"
TRIPLES = [
    ("Heat", DIRECTED, "Michael Mann"),
    ("Heat", STARRING, "Al Pacino"),
    ("Heat", GENRE, "Crime"),
    ("Ali", DIRECTED, "Michael Mann"),
    ("Ali", STARRING, "Will Smith"),
    ("Ali", GENRE, "Biography"),
    ("Serpico", DIRECTED, "Sidney Lumet"),
    ("Serpico", STARRING, "Al Pacino"),
    ("Al Pacino", BORN, "New York"),
    ("Will Smith", BORN, "Philadelphia"),
    ("Michael Mann", BORN, "Chicago"),
]
FILMS = KnowledgeGraph.from_triples(TRIPLES)


def asked(text: str, *topics: str, id: str = "q1", answers=None) -> Question:
    return Question(id=id, text=text, topics=topics, answers=answers)


BIRTHPLACE = asked("where was the director of Heat born", "Heat", answers=("Chicago",))
GENRE_OF = asked("what genre is Heat", "Heat", id="q2", answers=("Crime",))
