"""The facts of a graph by the names of what they are of."""


def named_facts(graph):
    return {
        (graph.name(head), graph.relations[relation], graph.name(tail))
        for head, relation, tail in graph.triples.tolist()
    }
