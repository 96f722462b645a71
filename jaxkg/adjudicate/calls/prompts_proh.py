"""What PRoH asks a language model, in one place. The paper prints no prompts; the words are ours.

Each string names the step of the paper it serves.
"""

from jaxkg.adjudicate.prompts import DATA_RULE

KEYWORDS_SYSTEM = (
    "You read a question and name what it is about: the people, places, works, organisations, "
    "dates and other things it mentions, each exactly as it is written there. Do not answer the "
    "question.\n"
    'Example: in which town was the teacher of Ada Quill born: {"keywords": ["Ada Quill"]}\n'
    + DATA_RULE
)
"""PRoH, Section 4.2, topic entity identification."""

KEYWORDS_USER = "Question:\n{question}"

PLAN_SYSTEM = (
    "You plan how to answer a question step by step from a collection of facts. You are given the "
    "question, its topics, and a sketch of the facts around them, nearest first. Break the "
    "question into the fewest sub-questions that can each be answered from a few facts. Give every "
    "sub-question an id; where it needs the answer of another, list that id in `needs` and write "
    "the id in braces where the answer belongs, as in: where was {1} born? A question that one "
    "fact answers is a plan of one sub-question. A step is a question, never a fact or a name. Do "
    "not answer anything.\n"
    'Example: in which town was the teacher of Ada Quill born: {"steps": [{"id": "1", "question": '
    '"who taught Ada Quill?", "needs": []}, {"id": "2", "question": "in which town was {1} '
    'born?", "needs": ["1"]}]}\n' + DATA_RULE
)
"""PRoH, Section 4.3, initial reasoning plan generation."""

PLAN_USER = "Question:\n{question}\n\nTopics:\n{topics}\n\nFacts around them:\n{context}"

ENTITY_SYSTEM = (
    "You weigh how much each numbered thing can help to answer a question, from 0 (not at all) to "
    "1 (decisive). Things you leave out weigh 0. Weigh things by their numbers, and nothing that "
    "is not among them.\n" + DATA_RULE
)
"""PRoH, Eq. 4, LLMScore."""

ENTITY_USER = "Question:\n{question}\n\nThings:\n{entities}"

DIRECTIONS_SYSTEM = (
    "You guide a search through facts that share things. The numbered lines are chains of facts; "
    "choose, by their numbers and best first, at most {keep} that lead towards the answer of the "
    "question. If none does, choose none.\n" + DATA_RULE
)
"""PRoH, Section 4.5, LLMSelectDirections."""

DIRECTIONS_USER = "Question:\n{question}\n\nChains:\n{paths}"

PATHS_SYSTEM = (
    "You decide which chains of facts are enough to answer a question. The numbered lines are all "
    "there is; use no knowledge of your own. Choose, by their numbers and best first, those that "
    "by themselves contain the answer. If none does, choose none: the search then goes on.\n"
    + DATA_RULE
)
"""PRoH, Section 4.5, LLMSelectPaths."""

PATHS_USER = "Question:\n{question}\n\nChains:\n{paths}"

STEP_SYSTEM = (
    "You answer a question from the facts given and from nothing else, in as few words as do: a "
    "name, a date, a number. If the facts do not answer it, leave the answer empty.\n" + DATA_RULE
)
"""PRoH, Section 4.5, LLMAnswerStep."""

STEP_USER = "Question:\n{question}\n\nFacts:\n{facts}{entities}{passages}"

REFINE_SYSTEM = (
    "You keep a plan of sub-questions up to date. You are given the question, the plan, and the "
    "answers found so far. Give the sub-questions that are still open, with the same ids, reworded "
    "with the answers filled in; leave out those that are no longer needed, and add one only where "
    "the plan cannot do without. Write ids in braces where an answer is still to come.\n"
    + DATA_RULE
)
"""PRoH, Section 4.4, LLMGenerateNewDAG."""

REFINE_USER = "Question:\n{question}\n\nPlan:\n{plan}\n\nAnswers so far:\n{answers}"

FINAL_SYSTEM = (
    "You answer a question from the sub-questions that were answered on the way and the facts "
    "behind them, and from nothing else. The answer is as short as can be: names, a date, a "
    "number; several where the question asks for several. Where they do not answer it, give no "
    "answer. The reason is one or two sentences.\n" + DATA_RULE
)
"""PRoH, Section 4.6, the candidate answer of a completed plan."""

FINAL_USER = "Question:\n{question}\n\nAnswered on the way:\n{steps}\n\nFacts:\n{facts}"

JUDGE_SYSTEM = (
    "You choose among candidate answers to a question. Each numbered candidate comes with the "
    "steps and facts it rests on. Choose the one that these support best, by its number.\n"
    + DATA_RULE
)
"""PRoH, Section 4.6, the judge."""

JUDGE_USER = "Question:\n{question}\n\nCandidates:\n{candidates}"

GENERATION_SYSTEM = (
    "You grade the answer that a system gave to a question, knowing the gold answers. Give each "
    "of seven dimensions a score from 0 (worst) to 10 (best):\n"
    "- comprehensiveness: it covers all that is asked for.\n"
    "- knowledgeability: with its facts and explanation it shows knowledge of the subject.\n"
    "- correctness: it agrees with the gold answers.\n"
    "- relevance: it keeps to what is asked.\n"
    "- diversity: it brings different facts together where the question has room for them.\n"
    "- logical_coherence: it follows from its facts and explanation, without contradiction.\n"
    "- factuality: what it claims is true, and borne by its facts where it gives some.\n"
    "Another spelling or name of the same thing is the same answer. Length earns nothing.\n"
    + DATA_RULE
)
"""PRoH, Section 5, G-E: the seven dimensions of HyperGraphRAG."""

GENERATION_USER = (
    "Question:\n{question}\n\nGold answers:\n{gold}\n\nAnswer to grade:\n{answers}{facts}{reason}"
)
GENERATION_FACTS = "\n\nFacts it cites:\n{facts}"
GENERATION_REASON = "\n\nIts explanation:\n{reason}"

EXTRACT_SYSTEM = (
    "You read a passage and state the facts it contains. Each fact is one complete sentence that "
    "can be understood without the passage (names instead of pronouns), and joins all the things "
    "that take part in it. For every fact list those things: the name as the passage writes it, "
    "and a description of a few words. State only what the passage says.\n" + DATA_RULE
)
"""PRoH, Section 4.1, construction: hyperedges, then the entities in them."""

EXTRACT_USER = "Title:\n{title}\n\nPassage:\n{passage}"

SYNONYM_SYSTEM = (
    "You decide which of the numbered names mean the same thing. Give the groups of two or more "
    "that certainly do, as lists of numbers. Different people, places, years or versions are never "
    "the same. If none are the same, give no group.\n" + DATA_RULE
)
"""PRoH, Section 4.1, confirmation of synonyms."""

SYNONYM_USER = "Names:\n{names}"
