"""Longer questions from shorter ones: a topic is told by what it is of something else.

"Where was Kubrick born?" becomes "Where was the director of Sogar born?". What is asked for is
still in people's words; only the topic's description is made up.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from training.maker import invented_name

Sample = dict[str, Any]


def spliced(
    question: Mapping[str, Any], pool: Sequence[Mapping[str, Any]], order: random.Random
) -> Sample | None:
    """A question one or two steps longer; None where its topic cannot be told by a relation.

    Args:
        question: with `nodes` and `edges`.
        pool: questions of the same domain, whose relations may be used.
        order: of what is chosen.
    """
    names = [node for node in question["nodes"] if node["node_type"] == "entity"]
    if question.get("ask") or len(names) != 1 or len(question["edges"]) > 2:
        return None
    topic = names[0]
    found = re.search(re.escape(topic["friendly_name"]), question["question"], re.IGNORECASE)
    ends = [(e, e[0] == topic["nid"]) for e in question["edges"] if topic["nid"] in (e[0], e[3])]
    if not found or len(ends) != 1:
        return None
    edge, heads = ends[0]
    kind = ".".join(edge[1].split(".")[:2])
    nodes, edges = [dict(node) for node in question["nodes"]], [list(e) for e in question["edges"]]
    words, at = "", topic["nid"]
    for hop in range(order.choice([1, 1, 2])):
        step = _step(pool, kind, at_head=heads if hop == 0 else True, used=edges, order=order)
        if step is None:
            break
        noun = kind.split(".")[-1].replace("_", " ")
        id, label, backwards, domain = step
        new = max(node["nid"] for node in nodes) + 1
        nodes.append({"nid": new, "node_type": "any", "id": "", "friendly_name": "",
                      "question_node": 0, "function": "none"})  # fmt: skip
        edges.append([at, id, label, new] if backwards else [new, id, label, at])
        at, kind = new, domain
        words = _around(words, label.lower(), backwards, noun, order)
    if not words:
        return None
    name = invented_name(order, order.choice([1, 2]))
    for node in nodes:
        if node["nid"] == topic["nid"]:
            node.update(node_type="any", id="", friendly_name="")
        if node["nid"] == at:
            node.update(node_type="entity", id=name, friendly_name=name)
    asked = question["question"]
    before = re.sub(r"\b(the|a|an)\s+$", "", asked[: found.start()], flags=re.IGNORECASE)
    text = before + words.replace("@", name) + asked[found.end() :]
    if order.random() < 0.3:
        text = text.lower()
    return {**question, "question": text, "nodes": nodes, "edges": edges}


def _step(
    pool: Sequence[Mapping[str, Any]],
    kind: str,
    *,
    at_head: bool,
    used: Sequence[Sequence[Any]],
    order: random.Random,
) -> tuple[str, str, bool, str] | None:
    """A relation that something has to a thing of a kind, or that such a thing has."""
    gone = {e[1] for e in used}
    ahead, back = [], []
    for question in pool:
        nodes = {node["nid"]: node for node in question["nodes"]}
        for _, id, label, end in question["edges"]:
            if id in gone or nodes[end]["node_type"] == "literal":
                continue
            domain = ".".join(id.split(".")[:2])
            if nodes[end].get("id") == kind:
                ahead.append((id, label, False, domain))
            if at_head and domain == kind:
                tail = nodes[end]
                back.append((id, label, True, tail["id"] if tail["node_type"] == "class" else ""))
    options = sorted(set(ahead if ahead and order.random() < 0.6 else back or ahead))
    return order.choice(options) if options else None


def _around(words: str, label: str, backwards: bool, noun: str, order: random.Random) -> str:
    """A topic's description, outside in; "@" stands for the name it ends with."""
    if backwards:
        noun = order.choice([noun or "one", "one", f"{noun}s" if noun else "ones"])
        new = order.choice([f"the {noun} whose {label} is @", f"the {noun} with {label} @",
                            f"the {noun} that has @ as {label}"])  # fmt: skip
    else:
        new = order.choice([f"the {label} of @", f"the {label} of @", f"@'s {label}"])
    return words.replace("@", new) if words else new
