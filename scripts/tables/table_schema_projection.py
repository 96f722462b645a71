"""How often the relations that a question needs are among those that a model is told.

The schema is told as typed relations, `(city)-[in state]->(state)`, at most 40 of them and 600
tokens as estimated (`jaxkg.kg.typed_schema`). Needed are the relations of a gold relation path; of
several paths, those of any one. Questions whose topic, or whose gold relations, the graph has not
are counted apart: no plan could hold. A minute for all but MetaQA's and the pool's reading.

    python scripts/tables/table_schema_projection.py --limit 300
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from jaxkg.kg import KnowledgeGraph, Linker, find_topics, read_graph
from jaxkg.kg.link.topics import masked_texts
from jaxkg.kg.typed_schema import TypedSchema
from jaxkg.records import Question
from jaxkg.text.best import encoder_kept
from jaxkg.words import TOPIC_WORD

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.measure import share
from lib.own import GRAPHS, questions_of, unpacked
from lib.record import Record, arguments
from lib.sets import sets

SETS = (
    ("webqsp", "webqsp", "test"),
    ("webqsp", "cwq", "test"),
    ("metaqa", "metaqa-1", "test"),
    ("metaqa", "metaqa-2", "test"),
    ("metaqa", "metaqa-3", "test"),
)
_STEP = re.compile(r"p\((.+?)\)")


def own_questions() -> Iterator[tuple[KnowledgeGraph, list[Question]]]:
    """Own graphs and the questions of their `choose` halves whose gold is one relation path."""
    for folder in sorted(file.parent for file in unpacked(GRAPHS).glob("*/choose.jsonl")):
        asked = []
        for record in questions_of(folder):
            if found := _STEP.fullmatch(str(record.get("gold", ""))):
                topic, *path = (part.strip(" '\"") for part in found[1].split(","))
                ways = tuple(re.sub(r"^-", "^", relation) for relation in path)
                asked.append(Question(record["id"], record["question"], (topic,), paths=(ways,)))
        if asked:
            yield read_graph(next(folder.glob("facts.*"))), asked


def projected(
    kg: KnowledgeGraph, questions: Sequence[Question], encoder, options
) -> list[tuple[bool, int, int]]:
    """Of each question that can be planned: whether it has what it needs; relations, tokens."""
    known, schema = set(kg.relations), TypedSchema(kg)
    topics = find_topics(Linker(kg), questions)
    texts = masked_texts(questions, topics)
    rows = []
    for question, some, text in zip(questions, topics, texts):
        paths = [{relation.lstrip("^") for relation in path} for path in question.paths]
        paths = [path for path in paths if path <= known]
        if not paths or not some.entities:
            continue
        found = schema.projected(
            text.replace(TOPIC_WORD, " "), some.entities, encoder, most=options.most
        )
        told = {kg.relations[relation] for relation in found}
        tokens = sum(-(-(len(schema.line(relation)) + 1) // 4) for relation in found)
        rows.append((any(path <= told for path in paths), len(found), tokens))
    return rows


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("--limit", type=int, default=300, help="questions of a set, drawn")
    parser.add_argument("--most", type=int, default=40, help="relations of a projection")
    parser.add_argument("--encoder", default="minilm")
    options = parser.parse_args(argv)
    record, encoder = Record(__file__, options), encoder_kept(options.encoder)
    table = record.table("questions", "asked", "can be planned", "needed ones there", "tokens")

    def add(name: str, asked: int, rows: list[tuple[bool, int, int]]) -> None:
        there, _, tokens = np.array(rows, float).T
        table.add(name, asked, len(rows), share(there), f"{tokens.mean():.0f}")
        print(name, len(rows), there.mean(), tokens.mean(), tokens.max(), flush=True)

    worlds = {family: sets(family, options.data) for family, _, _ in SETS}
    for family, name, part in SETS:
        every = worlds[family].questions(name, part)
        rng = np.random.default_rng(options.seed)
        drawn = rng.permutation(len(every))[: options.limit].tolist()
        asked = [every[place] for place in drawn]
        add(f"{name}, {part}", len(asked), projected(worlds[family].kg, asked, encoder, options))
    own, rows = 0, []
    for kg, asked in own_questions():
        own += len(asked)
        rows += projected(kg, asked, encoder, options)
    add("own graphs, choose", own, rows)
    record.save()


if __name__ == "__main__":
    main()
