"""Films, who made them and when, where those were born; three wordings of questions a film."""

from jaxkg.kg import KnowledgeGraph
from jaxkg.records import Question


def films_graph(films):
    facts = [(film, "film.film.directed_by", f"Person {n % 6}") for n, film in enumerate(films)]
    facts += [(film, "film.film.released", f"{1990 + n % 5}") for n, film in enumerate(films)]
    facts += [(f"Person {n}", "people.person.birthplace", f"Town {n % 4}") for n in range(6)]
    return KnowledgeGraph.from_triples(facts)


def film_questions(films, *, paths=False):
    """Of each film three questions; with their relation paths, or with answers alone."""
    wordings = (
        ("d", "who made {}", "Person {}", ("film.film.directed_by",)),
        ("y", "when was {} shown", "{}", ("film.film.released",)),
        ("b", "home of the maker of {}", "Town {}",
         ("film.film.directed_by", "people.person.birthplace")),
    )  # fmt: skip
    for n, film in enumerate(films):
        for (key, text, answer, path), of in zip(wordings, (n % 6, 1990 + n % 5, n % 6 % 4)):
            yield Question(
                f"{key}{n}", text.format(film), (film,), (answer.format(of),), (path,) * paths
            )
