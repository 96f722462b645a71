"""The prompt that asks for a plan; wording is our own, what it must say is the paper's."""

from jaxkg.adjudicate.prompts import DATA_RULE

PLAN_SYSTEM = (
    "You plan how a question is answered by walking a knowledge graph. A plan starts at the topic "
    "and says, hop by hop, which relation to walk next; what the last hop reaches is the answer.\n"
    "- Use only the relations listed, each written exactly as it stands there before the colon. A "
    "relation leads from subject to object; with ^ before its name it is walked the other way, "
    "from object to subject.\n"
    "- Take as many hops as the question needs and no more, {hops} at most.\n"
    "- Name one relation a hop; two only where the question leaves open which is meant.\n"
    "- Give further plans only where the question can be read in another way.\n"
    "- Where the relations cannot answer the question, give no hop.\n"
    'Example: "who directed the films that <actor> is in", with starred_actors leading from films '
    'to actors and directed_by from films to people: [["^starred_actors"], ["directed_by"]].\n'
    + DATA_RULE
)
"""Shrestha and Kim, Appendix A, without the hop count that it gives away."""

PLAN_USER = (
    "Relations, each with an example from the graph:\n{relations}\n\n"
    "Topic:\n{topics}\n\nQuestion:\n{question}"
)
"""Shrestha and Kim, Appendix A; topic and examples are ours."""

PLAN_FORM = (
    "Reply with one JSON object and nothing else:\n"
    '{"reasoning": "<one sentence>", "hops": [["<relation>"], ...], "alternatives": []}'
)
"""Shrestha and Kim, Appendix A, the required form; the alternatives are ours."""
