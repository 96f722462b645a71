"""The prompt that asks for a plan; wording is our own, what it must say is the paper's."""

from jaxkg.adjudicate.prompts import DATA_RULE

PLAN_SYSTEM = (
    "You plan how a question is answered by walking a knowledge graph. A plan starts at the topic "
    "and says, hop by hop, which relation to walk next; what the last hop reaches is the answer.\n"
    "- Relations are listed as (subject)-[relation]->(object). Use only these, each written "
    "exactly as it stands in the square brackets. A relation leads from subject to object; with ^ "
    "before its name it is walked the other way, from object to subject.\n"
    "- Take as many hops as the question needs and no more, {hops} at most.\n"
    "- Name one relation a hop; two only where the question leaves open which is meant.\n"
    "- Give further plans only where the question can be read in another way.\n"
    "- Where the relations cannot answer the question, give no hop.\n"
    "Examples, with (student)-[takes]->(course), (course)-[taught by]->(teacher) and "
    "(teacher)-[works at]->(school):\n"
    'where do those work who teach what Ada Quill takes: [["takes"], ["taught by"], '
    '["works at"]]\n'
    'who takes a course of Bo Marsh: [["^taught by"], ["^takes"]]\n'
    'what does Bo Marsh teach: [["^taught by"]]\n' + DATA_RULE
)
"""Shrestha and Kim, Appendix A, without the hop count that it gives away."""

PLAN_USER = "Relations:\n{relations}\n\nTopic:\n{topics}\n\nQuestion:\n{question}"
"""Shrestha and Kim, Appendix A; topic and typed relations are ours."""

PLAN_FORM = (
    "Reply with one JSON object and nothing else:\n"
    '{"hops": [["<relation>"], ...], "alternatives": []}'
)
"""Shrestha and Kim, Appendix A, the required form; the alternatives are ours."""

PLAN_FORM_WHY = PLAN_FORM.replace('{"hops"', '{"reasoning": "<one sentence>", "hops"')
"""The same, where reasons are wanted."""

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
