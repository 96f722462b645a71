"""PRoH's search in plain Python over lists: slow, and easy to trust."""

import math


def aggregate(values, how):
    if not values:
        return 0.0
    return {"sum": sum(values), "max": max(values), "mean": sum(values) / len(values)}[how]


def weight(graph, row, node, settings):
    similarity = float(graph.question[row] @ graph.entity[node])
    if similarity < settings.threshold:
        return 0.0
    return max(0.0, 1.0 if settings.weigh == "one" else similarity)


def overlap(graph, row, edge, other, settings):
    """EWO(other | q, edge), Eq. 5."""
    shared = sorted(set(graph.edges[edge]) & set(graph.edges[other]))
    return aggregate([weight(graph, row, v, settings) for v in shared], settings.aggregate)


def path_score(graph, row, path, settings):
    """SP(p), Eq. 6."""
    nodes = sorted({v for edge in path for v in graph.edges[edge]})
    return aggregate([weight(graph, row, v, settings) for v in nodes], settings.path_aggregate)


def best(options, width):
    """(score, item) in order of slots; the best, ties to the earlier."""
    return [item for _, _, item in sorted((-s, i, o) for i, (s, o) in enumerate(options))[:width]]


def seeds(graph, row, settings):
    """Paths of one hyperedge with their scores."""
    found = sorted(graph.targets[row])
    for node in sorted(graph.topics[row]):
        found += [edge for edge in graph.incident(node) if edge not in found]
    scored = [(float(graph.question[row] @ graph.edge[e]), ((e,), i)) for i, e in enumerate(found)]
    value = {path: score for score, (path, _) in scored}
    return [(path, value[path]) for path, _ in best(scored, settings.seeds)]


def directions(graph, row, beam, settings):
    """(score, path) of every direction, in order of slots."""
    options = []
    for path, _ in beam:
        last, met = path[-1], {}
        for node in graph.edges[last]:
            if settings.aggregate != "mean" and weight(graph, row, node, settings) <= 0:
                continue
            for other in graph.incident(node):
                if other != last:
                    met[other] = None
        for other in met:
            score = overlap(graph, row, last, other, settings)
            if score > 0 and other not in path:
                if settings.guide == "similarity":
                    score = float(graph.question[row] @ graph.edge[other])
                options.append((score, (*path, other)))
    return options


def merged(options, merge):
    """One direction for each hyperedge it leads to, in its own slot."""
    if merge == "none":
        return options
    groups = {}
    for slot, (score, path) in enumerate(options):
        groups.setdefault(path[-1], []).append((-score, slot))
    kept = []
    for slots in groups.values():
        _, slot = min(slots)
        score = options[slot][0]
        if merge == "sum":
            score = sum(-minus for minus, _ in slots)
        kept.append((slot, score, options[slot][1]))
    return [(score, path) for _, score, path in sorted(kept)]


def explore(graph, row, settings):
    """Beams of all depths: lists of (path, score)."""
    beams = [seeds(graph, row, settings)]
    for _ in range(settings.depth):
        options = merged(directions(graph, row, beams[-1], settings), settings.merge)
        value = {path: score for score, path in options}
        chosen = best(options, settings.width)
        beams.append([(path, value[path]) for path in chosen])
    return beams


def landed(graph, chunks, row, beams, settings, decay):
    """Score of every chunk (a set of nodes) that the ends of the paths share entities with."""
    total = {}
    for path, score in (pair for beam in beams for pair in beam):
        mass = score * math.pow(decay, len(path) - 1)
        for node in graph.edges[path[-1]]:
            w = weight(graph, row, node, settings)
            for number, chunk in enumerate(chunks):
                if w > 0 and node in chunk and w * mass > 0:
                    total[number] = total.get(number, 0.0) + w * mass
    return total
