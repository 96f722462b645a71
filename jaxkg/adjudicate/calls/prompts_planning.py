"""The prompt that asks for a plan; wording is our own, what it must say is the paper's."""

from jaxkg.adjudicate.prompts import DATA_RULE

TOPIC = "X"
"""What a question's topic is called in a plan's prompt."""

PLAN_SYSTEM = (
    "A question asks about a topic X. Say which way leads through a knowledge graph from X to what "
    'the question asks for: the relations one after another, "->" from subject to object, "<-" '
    "from object to subject. Take no more relations than the question needs, {hops} at most.\n"
    "Examples, with (student)-[takes]->(course), (course)-[taught by]->(teacher) and "
    "(teacher)-[works at]->(school):\n"
    'what does X take: {"way": "-> takes"}\n'
    'what does X teach: {"way": "<- taught by"}\n'
    'who takes a course that X teaches: {"way": "<- taught by <- takes"}\n'
    'which courses have the same teacher as X: {"way": "-> taught by <- taught by"}\n'
    'where do those work who teach what X takes: {"way": "-> takes -> taught by -> works at"}\n'
    'who teaches the courses taken by those who also take X: {"way": "<- takes -> takes -> taught '
    'by"}\n'
    'which students take a course whose teacher also teaches X: {"way": "-> taught by <- taught by '
    '<- takes"}\n' + DATA_RULE
)
"""Shrestha and Kim, Appendix A, without the hop count that it gives away."""

PLAN_USER = "Relations:\n{relations}\n\nQuestion:\n{question}"
"""Shrestha and Kim, Appendix A; typed relations are ours, and that the topic is called X."""

PLAN_FORM = (
    'Reply with one JSON object and nothing else:\n{"way": "-> <relation> <- <relation> ..."}'
)
"""Ours: a plan as a line, which the smallest models write better than lists of lists."""

PLAN_FORM_WHY = PLAN_FORM.replace('{"way"', '{"reasoning": "<one sentence>", "way"')
"""The same, where reasons are wanted."""

PAPER_FORM = (
    "Reply with one JSON object and nothing else:\n"
    '{"reasoning": "<one sentence>", "hops": [["<relation>"], ...], "alternatives": []}'
)
"""Shrestha and Kim, Appendix A, the required form; the alternatives are ours."""

PAPER_HOPS = "This is a {max_hops}-hop question. "
PAPER_USER = """You are analyzing a knowledge graph question to determine which relations to \
traverse.

Available relations in the knowledge graph: {available_relations}

Question: "{question}"

{hops}You need to select which relation(s) might be relevant at EACH hop.

For each hop, select 1-2 most relevant relations from the list above. Think about the logical path \
needed to answer the question.

Examples:

- "Who directed movies starring [Actor]?"
- → Hop 1: starred_actors, Hop 2: directed_by
- "What genre are films written by [Writer]?"
- → Hop 1: written_by, Hop 2: has_genre
- "What year were movies by the director of [Movie]?"
- → Hop 1: directed_by, Hop 2: release_year
- "What films can be described by [occupation]?"
- → Hop 1: has_tags (films point TO tags/themes)
- "What films can be described by [Person Name]?"
- → Hop 1: has_tags (films associated with person as tag)

Respond in JSON format:
{{
   "reasoning": "brief explanation of the path",
   "hops": [
        ["relation1"],
        ["relation2"],
        ...
   ]
}}

Provide your analysis:"""
"""Shrestha and Kim, Appendix A, verbatim; the hop count can be left out."""
