"""Question sets as their authors offer them: CWQ, WebQSP, GrailQA, SimpleQuestions, LC-QuAD, QALD.

Topics and answers are the ids of the set's own graph; prefixes of Freebase are cut off. The paths
of a question are those from its topics to what is asked for, along the triple patterns of its
query, whatever else the query says. A question that counts, or that is answered by yes or no, has
none; nor has one whose query names no entity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.kg.questions.formats import Triple, numbered, shortest_paths
from jaxkg.records import Question

_TOKEN = re.compile(
    r"<[^<>\s]*>|\"(?:[^\"\\]|\\.)*\"(?:@[\w-]+|\^\^[^\s,;)]+)?|\?\w+|[\w-]*:[\w.\-/%]*[\w\-/%]|\w+|\S"
)
_PREFIX = re.compile(r"prefix\s+([\w-]*:)\s*<([^<>]*)>", re.IGNORECASE)
_FREEBASE = re.compile(r"(?:https?://rdf\.freebase\.com/ns/|www\.freebase\.com/)")
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_NO_TOPIC = re.compile(r"\"|\?|https?://www\.w3\.org/")


def official(path: Path, lines: Sequence[str]) -> Iterator[Question]:
    """Questions of a file in one of these formats.

    Raises:
        JaxkgError: it is in none of them, or a question lacks what its format promises.
    """
    first = next(line for line in lines if line.strip())
    if first.startswith("www.freebase.com/"):
        yield from _simple(path, lines)
        return
    raw = read_json("\n".join(lines), str(path))
    rows = next((raw[key] for key in ("Questions", "questions") if key in raw), None) if isinstance(
        raw, Mapping
    ) else raw  # fmt: skip
    if not isinstance(rows, list):
        raise JaxkgError(f"{path}: no list of questions in it")
    for number, row in enumerate(rows, 1):
        try:
            yield _question(row, f"{path.stem}-{number}".lower())
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise JaxkgError(
                f"{path}: question {number} is not as CWQ, WebQSP, GrailQA, LC-QuAD or QALD have "
                f"them ({type(error).__name__}: {error})"
            ) from error


def is_official(path: Path, lines: Sequence[str]) -> bool:
    """Whether a file looks like one of these."""
    head = "".join(lines[:200])[:20_000]
    if path.suffix == ".json":
        told = (
            '"Parses"', '"graph_query"', '"sparql"', '"sparql_query"', '"sparql_wikidata"',
            '"compositionality_type"',
        )  # fmt: skip
        return any(key in head for key in told)
    return head.startswith("www.freebase.com/")


def _question(row: Mapping[str, Any], number: str) -> Question:
    if "Parses" in row:
        return _webqsp(row)
    if "graph_query" in row:
        return _grailqa(row)
    if "ID" in row:  # CWQ
        answers = tuple(dict.fromkeys(one["answer_id"] for one in row.get("answers", ())))
        return _by_sparql(row["ID"], row["question"], row["sparql"], answers)
    if isinstance(row.get("question"), list):  # QALD
        texts = {one["language"]: one["string"] for one in row["question"]}
        text = texts.get("en") or next(iter(texts.values()))
        return _by_sparql(str(row["id"]), text, row["query"].get("sparql", ""), _bindings(row))
    text = row.get("corrected_question") or row.get("question") or row["NNQT_question"]
    query = row.get("sparql_query") or row["sparql_wikidata"]
    key = row.get("_id") or row.get("uid") or number
    return _by_sparql(str(key), text.strip("{} "), query, None)


def _bindings(row: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Answers of QALD: what the first result set binds, or yes or no."""
    if not row.get("answers"):
        return None
    first = row["answers"][0]
    if "boolean" in first:
        return ("yes" if first["boolean"] else "no",)
    bound = first.get("results", {}).get("bindings", ())
    return tuple(dict.fromkeys(_bare(value["value"]) for one in bound for value in one.values()))


def _by_sparql(id: str, text: str, query: str, answers: tuple[str, ...] | None) -> Question:
    wanted, triples = patterns(query)
    topics = _topics(triples)
    paths = (path for topic in topics for path in shortest_paths(triples, topic, wanted))
    return Question(id, text.strip(), topics, answers, tuple(dict.fromkeys(paths)))


def _topics(triples: Sequence[Triple]) -> tuple[str, ...]:
    """Entities of triple patterns; what something is of is a type, and no topic."""
    nodes = (
        node
        for head, relation, tail in triples
        for node in (head, *([] if relation in (_TYPE, "type.object.type") else [tail]))
    )
    return tuple(dict.fromkeys(node for node in nodes if not _NO_TOPIC.match(node)))


def patterns(query: str) -> tuple[tuple[str, ...], list[Triple]]:
    """What a SPARQL query asks for, and its triple patterns; FILTERs and the rest are passed over.

    >>> patterns("PREFIX ns: <http://rdf.freebase.com/ns/> SELECT ?x { ns:m.1 ns:film.by ?x . }")
    (('?x',), [('m.1', 'film.by', '?x')])

    Returns:
        Variables (none of a count, or of yes and no); (head, relation, tail), variables with `?`.
    """
    prefixes = dict(_PREFIX.findall(query))
    head, _, body = _PREFIX.sub(" ", query).partition("{")
    counts = re.search(r"\bcount\b|\bask\b", head, re.IGNORECASE)
    wanted = () if counts else tuple(re.findall(r"\?\w+", head))[:1]
    found: list[Triple] = []
    terms: list[str] = []
    depth = 0
    for token in _TOKEN.findall(body):
        if token in "()":
            depth += 1 if token == "(" else -1
            terms = []
        elif depth > 0:
            continue
        elif token in ".;,{}":
            if len(terms) == 3:
                found.append((terms[0], terms[1], terms[2]))
            terms = terms[: {";": 1, ",": 2}.get(token, 0)]
        elif token == "a" and len(terms) == 1:
            terms.append(_TYPE)
        elif token[0] in '<"?' or ":" in token:
            terms.append(_term(token, prefixes))
        else:  # a keyword
            terms = []
    if len(terms) == 3:
        found.append((terms[0], terms[1], terms[2]))
    return wanted, found


def _term(token: str, prefixes: Mapping[str, str]) -> str:
    if token[0] in '"?':
        return token
    if token[0] == "<":
        return _bare(token[1:-1])
    name, _, rest = token.partition(":")
    return _bare(prefixes.get(f"{name}:", f"{name}:") + rest)


def _bare(iri: str) -> str:
    """An id without the prefix of Freebase."""
    cut = _FREEBASE.sub("", iri)
    return cut.replace("/", ".").lstrip(".") if iri.startswith("www.freebase.com/") else cut


def _webqsp(row: Mapping[str, Any]) -> Question:
    parses = row["Parses"]
    chains = (tuple(one.get("InferentialChain") or ()) for one in parses)
    answers = (one["AnswerArgument"] for parse in parses[:1] for one in parse["Answers"])
    topics = (one.get("TopicEntityMid") for one in parses[:1])
    return Question(
        row["QuestionId"],
        row.get("RawQuestion") or row["ProcessedQuestion"],
        tuple(filter(None, topics)),
        tuple(dict.fromkeys(answers)),
        tuple(dict.fromkeys(filter(None, chains))),
    )


def _grailqa(row: Mapping[str, Any]) -> Question:
    nodes = {node["nid"]: node for node in row["graph_query"]["nodes"]}
    name = {
        nid: node["id"] if node["node_type"] == "entity" else f"?{nid}"
        for nid, node in nodes.items()
    }
    triples = [
        (name[edge["start"]], edge["relation"], name[edge["end"]])
        for edge in row["graph_query"]["edges"]
    ]
    counts = row.get("function", "none") == "count"
    wanted = [name[nid] for nid, node in nodes.items() if node.get("question_node")]
    topics = _topics(triples)
    paths = [] if counts else [p for t in topics for p in shortest_paths(triples, t, wanted)]
    answers = (one["answer_argument"] for one in row.get("answer") or ())
    return Question(
        str(row["qid"]),
        row["question"],
        topics,
        tuple(dict.fromkeys(answers)) if "answer" in row else None,
        tuple(dict.fromkeys(paths)),
    )


def opened_queries(path: Path, lines: Sequence[str]) -> Iterator[Question]:
    """GrailQA's graph queries a line, `nodes` and `edges` at the top, told by display names.

    Raises:
        JaxkgError: a question lacks what this promises.
    """
    for number, line in numbered(lines):
        raw = read_json(line, f"{path}:{number}")
        try:
            names = {node["nid"]: node["friendly_name"] for node in raw["nodes"]}
            nodes = [{**n, "id": names[n["nid"]]} for n in raw["nodes"]]
            edges = [
                {"start": start, "relation": relation, "end": end}
                for start, relation, _, end in raw["edges"]
            ]
            counts = any(node["function"] == "count" for node in nodes)
            yield _grailqa(
                {
                    "qid": raw["id"],
                    "question": raw["question"],
                    "graph_query": {"nodes": nodes, "edges": edges},
                    "function": "count" if counts else "none",
                    "answer": [{"answer_argument": answer} for answer in raw["answers"]],
                }
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise JaxkgError(
                f"{path}:{number}: no graph query as GrailQA has them "
                f"({type(error).__name__}: {error})"
            ) from error


def _simple(path: Path, lines: Sequence[str]) -> Iterator[Question]:
    """SimpleQuestions: subject, relation, object, question, parted by tabs."""
    for number, line in numbered(lines):
        cells = line.rstrip("\n").split("\t")
        if len(cells) != 4:
            raise JaxkgError(
                f"{path}, line {number}: {len(cells)} cells; SimpleQuestions has subject, "
                "relation, object and question, parted by tabs"
            )
        topic, relation, answer = map(_bare, cells[:3])
        yield Question(
            f"{path.stem}-{number}".lower(), cells[3].strip(), (topic,), (answer,), ((relation,),)
        )
