"""ReKnoS's prompts, a constant each, with the section of the paper it comes from.

The paper prints the scoring prompt and the scoring criteria; the rest it describes. Wording and
examples are our own.
"""

from jaxkg.adjudicate.prompts import DATA_RULE

SCORE_SYSTEM = (
    "You choose how a search in a knowledge graph goes on. You are given a question, the topic "
    "entities the search started from, the relations it has followed so far and numbered "
    "candidates for the next relation. Give the candidates that could help to answer the "
    "question, {most} at most, a score from 0 to 1, higher for more helpful; candidates you leave "
    "out score 0. The {keep} best will be followed. A candidate that begins with ^ is followed "
    "from its object to its subject. Score candidates by their numbers, and nothing "
    "that is not among them.\n" + DATA_RULE
)
"""ReKnoS, Section 4.2, the scoring prompt."""

SCORE_EXAMPLES = (
    "Three examples.\n\n"
    "Question: which country is the river that runs through Basel in?\n"
    "Topic: Basel\n"
    "Candidates: 1. location.location 2. geography.river 3. sports.sports_team_location "
    "4. people.place_lived\n"
    'Reply: {"scores": [{"n": 1, "score": 0.5}, {"n": 2, "score": 0.9}]}\n\n'
    "Question: who wrote the films that share an actor with Brick Lane?\n"
    "Topic: Brick Lane\n"
    "Candidates: 1. written_by 2. starred_actors 3. release_year 4. has_tags\n"
    'Reply: {"scores": [{"n": 1, "score": 0.2}, {"n": 2, "score": 0.9}]}\n\n'
    "Question: what does the sister of the painter of The Oath do for a living?\n"
    "Topic: The Oath\n"
    "Followed so far: visual_art.artwork\n"
    "Candidates: 1. people.person 2. people.sibling_relationship 3. visual_art.visual_artist\n"
    'Reply: {"scores": [{"n": 1, "score": 0.8}, {"n": 2, "score": 0.9}, '
    '{"n": 3, "score": 0.1}]}\n\n'
)
"""ReKnoS, Appendix C: three in-context examples of scoring."""

SCORE_CRITERIA = (
    "Scoring criteria:\n"
    "- 0.8 to 1.0, highly relevant: a strong logical connection between relation and question.\n"
    "- 0.6 to 0.8, strongly related: substantial relevant information, perhaps less precise.\n"
    "- 0.4 to 0.6, moderately related: partly relevant; background or indirect support.\n"
    "- 0.2 to 0.4, weakly related: a tenuous connection, limited or peripheral information.\n"
    "- 0.0 to 0.2, irrelevant: unrelated, or related by a side issue alone.\n\n"
)
"""ReKnoS, Appendix D.8: explicit criteria in the place of the examples."""

SCORE_USER = (
    "{guide}Question:\n{question}\n\nTopic entities:\n{topics}\n\nFollowed so far:\n{followed}\n\n"
    "Candidates:\n{candidates}"
)
"""ReKnoS, Section 4.2, the scoring prompt."""

SCORE_FORM = 'Required form:\n{"scores": [{"n": <number of a candidate>, "score": <0 to 1>}, ...]}'
"""ReKnoS, Section 4.2: the reply of the scoring prompt."""

SELECT_SYSTEM = (
    "Example. Question: which country is the river that runs through Basel in?\n"
    "Topic Entity: Basel\n"
    "Candidate Relations: 1. location.location 2. geography.river 3. sports.sports_team_location "
    "4. people.place_lived\n"
    'Reply, of two: {"relations": ["2", "1"]}\n' + DATA_RULE
)
"""ReKnoS, Section 4.2: one human-crafted example, as in Think-on-Graph."""

SELECT_USER = (
    "You need to select {keep} relations from the following candidate relations, which are the "
    "most helpful for answering the question.\n"
    "Question:\n{question}\nTopic Entity:\n{topics}\nCandidate Relations:\n{candidates}\n"
    "Reply with the relations you selected from these candidate relations:"
)
"""ReKnoS, Section 4.2, the prompt as it is printed."""

SELECT_FORM = 'Required form:\n{"relations": ["<number of a candidate>", ...]}'
"""ReKnoS, Section 4.2: the reply of that prompt."""

SUFFICIENT_SYSTEM = (
    "You decide whether a search in a knowledge graph has found what answers a question. You are "
    "given the relation paths it followed from the topic entities and the entities that each ends "
    "in. Say that the evidence is sufficient only if the answer is among these entities and the "
    "path to it says what the question asks; otherwise the search goes on a step further.\n"
    + DATA_RULE
)
"""ReKnoS, Section 4.3: whether the entities at the end of the search path suffice."""

SUFFICIENT_USER = (
    "Question:\n{question}\n\nTopic entities:\n{topics}\n\n"
    "Relation paths and their entities:\n{paths}"
)
"""ReKnoS, Section 4.3."""

SUFFICIENT_FORM = "Required form, one line:\nSufficient: <yes or no>"
"""ReKnoS, Section 4.3."""
