"""The facts of a graph by the names of what they are of."""


def named_facts(graph):
    return {
        (graph.name(head), graph.relations[relation], graph.name(tail))
        for head, relation, tail in graph.triples.tolist()
    }


def plain_facts(graph):
    """The same without statements and what is said of them."""
    statements = {head for head, relation, _ in named_facts(graph) if relation == "predicate"}
    return {fact for fact in named_facts(graph) if fact[0] not in statements}
