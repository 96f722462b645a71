"""A small world of hyperedges, and a scripted model that knows how to reason about it."""

import json

from jaxkg.kg.hypergraph.graph import Chunk, Hyperedge, KnowledgeHypergraph

QUESTION = "where was the director of Alien born?"

FACTS = [
    ("Alien", "Alien was directed by Ridley Scott", ["Alien", "Ridley Scott"]),
    ("Alien", "Alien stars Sigourney Weaver and Tom Skerritt", ["Alien", "Sigourney Weaver",
                                                              "Tom Skerritt"]),
    ("Ridley Scott", "Ridley Scott was born in South Shields", ["Ridley Scott", "South Shields"]),
    ("Ridley Scott", "Ridley Scott has a brother Tony Scott", ["Ridley Scott", "Tony Scott"]),
    ("South Shields", "South Shields is a town in England", ["South Shields", "England"]),
    ("Tony Scott", "Tony Scott directed Top Gun", ["Tony Scott", "Top Gun"]),
    ("Sigourney Weaver", "Sigourney Weaver was born in New York", ["Sigourney Weaver", "New York"]),
]  # fmt: skip


def world() -> KnowledgeHypergraph:
    titles = list(dict.fromkeys(title for title, _, _ in FACTS))
    chunks = [
        Chunk(title, title, ". ".join(said for t, said, _ in FACTS if t == title))
        for title in titles
    ]
    edges = [Hyperedge(said, tuple(ends), chunk=title) for title, said, ends in FACTS]
    return KnowledgeHypergraph.from_edges(
        edges, descriptions={"Ridley Scott": "a film director"}, chunks=chunks
    )


def encoder():
    from jaxkg.text.hashing import HashingEncoder

    return HashingEncoder(buckets=1 << 9)


PLAN = {
    "steps": [
        {"id": "1", "question": "who directed Alien?", "needs": []},
        {"id": "2", "question": "where was {1} born?", "needs": ["1"]},
    ]
}


def reply(schema: str, prompt: str) -> dict:
    """What the model says, by the schema it is asked for; `prompt` is the user's turn."""
    asked = prompt.partition("</question>")[0]
    if schema == "Keywords":
        return {"keywords": ["Alien"]}
    if schema == "Plan":
        if "Answers so far" in prompt:
            step = {"id": "2", "question": "where was Ridley Scott born?", "needs": ["1"]}
            return {"steps": [step]}
        return PLAN
    if schema == "EntityWeights":
        return {
            "weights": [{"number": int(line.partition(".")[0]), "weight": 0.9}
                        for line in prompt.splitlines() if line[:1].isdigit()]
        }  # fmt: skip
    wanted = "was directed by" if "directed" in asked else "born in South"
    lines = [line for line in prompt.splitlines() if line[:1].isdigit()]
    hits = [int(line.partition(".")[0]) for line in lines if wanted in line]
    if schema == "Choice":
        return {"chosen": hits[:2]}
    if schema == "StepAnswer":
        return {"answer": "Ridley Scott" if "directed" in asked else "South Shields"}
    if schema == "FinalAnswer":
        return {"answers": ["South Shields"], "reason": "the director was born there"}
    if schema == "Verdict":
        return {"best": 1}
    raise AssertionError(schema)


def scripted(change=lambda schema, prompt, told: told):
    """A backend of these replies; `change` may replace one."""
    from jaxkg.adjudicate import Scripted

    def answer(request):
        prompt = request.messages[1].content
        told = change(request.schema_name, prompt, reply(request.schema_name, prompt))
        return told if not isinstance(told, dict) else json.dumps(told)

    return Scripted(answer)
