"""Benchmarks by name, read from the folder that `JAXKG_DATA` names.

| name | graph | test questions | training questions |
|---|---|---|---|
| `metaqa-1`, `-2`, `-3` | `metaqa/kb.txt` | `metaqa/N-hop/qa_test.txt` | `qa_dev.txt` of all hops |
| `pq-2h`, `pq-3h`, `pql-2h` | `pathquestion/` | a tenth, split by (subject, path) | eight tenths |
| `webqsp` | `freebase_webqsp_cwq/kg_pooled.tsv` | `webqsp_test.jsonl` | `..._train_paths.jsonl` |
| `cwq` | the same | `cwq_test.jsonl` | `question_graphs/cwq_train.jsonl`, `webqsp_train.jsonl` |
| `grailqa` | the same | `question_graphs/grailqa_dev_5763.jsonl`, see `within` | its others |
| `musique`, `hotpotqa` | each question's own passages | `multihop_text/NAME_200.json` | none |

The official MetaQA training questions are not needed: its dev questions are learnt from.
`jaxkg datasets` prints where each comes from, the layout expected, and which files are there.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from jaxkg.errors import JaxkgError
from jaxkg.records import Question

if TYPE_CHECKING:
    from jaxkg.kg import KnowledgeGraph

POOLED, GRAPHS = "freebase_webqsp_cwq", "question_graphs"
_FREEBASE = re.compile(r"\w+(\.\w+)+", re.ASCII)
"""A name of one of Freebase's relations: words with dots between."""
FAMILIES: dict[str, tuple[str | None, dict[str, dict[str, str]]]] = {
    "metaqa": (
        "metaqa/kb.txt",
        {
            f"metaqa-{hop}": {part: f"metaqa/{hop}-hop/qa_{part}.txt" for part in ("dev", "test")}
            for hop in (1, 2, 3)
        },
    ),
    "pq-2h": ("pathquestion/2H-kb.txt", {"pq-2h": {"all": "pathquestion/PQ-2H.txt"}}),
    "pq-3h": ("pathquestion/3H-kb.txt", {"pq-3h": {"all": "pathquestion/PQ-3H.txt"}}),
    "pql-2h": ("pathquestion/PQL2-KB.txt", {"pql-2h": {"all": "pathquestion/PQL-2H.txt"}}),
    "webqsp": (
        f"{POOLED}/kg_pooled.tsv",
        {
            "webqsp": {
                "train": f"{POOLED}/webqsp_train_paths.jsonl",
                "graphs": f"{GRAPHS}/webqsp_train.jsonl",
                "validation": f"{POOLED}/webqsp_validation_paths.jsonl",
                "test": f"{POOLED}/webqsp_test.jsonl",
            },
            "cwq": {
                "train": f"{GRAPHS}/cwq_train.jsonl",
                "dev": f"{GRAPHS}/cwq_dev.jsonl",
                "test": f"{POOLED}/cwq_test.jsonl",
            },
            "grailqa": dict.fromkeys(("others", "test"), f"{GRAPHS}/grailqa_dev_5763.jsonl"),
        },
    ),
    **{
        name: (None, {name: {"test": f"multihop_text/{name}_200.json"}})
        for name in ("musique", "hotpotqa")
    },
}
"""Of each family its graph, None where questions bring passages instead; and of each question set
in it the file of each part."""
NAMES = tuple(name for _, sets in FAMILIES.values() for name in sets)

_SHA256 = {
    file: told
    for told, file in map(
        str.split,
        """\
f0d1bc0a5220078b800f9d3645fb95712352f9e7f49f3dd9582ec1eba93920c9  metaqa/kb.txt
3c68fa73a14d9b9616e49f08e2d8b65e024af417708306874fe4d398634620d3  metaqa/1-hop/qa_dev.txt
a713ae6b4a7cdccfdda57ac99092f4114a1f8b0c4ba51b4466a15496a4ff6fbd  metaqa/2-hop/qa_dev.txt
c638b99f97db93112f7a9ceec47675066cc9efc93b7ecd43e22c54ab531741d9  metaqa/3-hop/qa_dev.txt
c57e9c2c4c05e5eec4503460042c09bfa3e80ea1a5ecaf361c92dd81d6c7bece  metaqa/1-hop/qa_test.txt
b1c4f1ad77f34a27e0e5a13c08b436c6f4c9a49dccd8d43639a569ee5cd906a1  metaqa/2-hop/qa_test.txt
f4c2a801f864e80e809655a20b4b8c9904f4a2885a7f23850b2fabd8d38a6540  metaqa/3-hop/qa_test.txt
1e8d8e7f950d7d0fe949b377b065b569c5b84d87273ec1600331f5ba985145d7  pathquestion/2H-kb.txt
27eb687c67086eb684a43f524cc9560f76f52161e1a038b6be45ff2a24c50374  pathquestion/3H-kb.txt
86f4a060a6d8a3d496671e6cfa73bf15b7f71422e9b49eefebc3f8fbe3618aef  pathquestion/PQ-2H.txt
e0c5da286a830111e18122ad14ac195dc6bf90d42e2ec5c0c96522b51f16c69f  pathquestion/PQ-3H.txt
b9d5d35905d7f5515a342707099d1fefb9eb8add9ef7811f8d04a02f66d1e89e  pathquestion/PQL-2H.txt
33962cedf418d2e02382a88496b0fd4b3f567ce07418e6cbb7a7dc830a0fcb7a  pathquestion/PQL2-KB.txt
91abcd161f5948a8701f14b01a6eb982ef675d432c3b0d917e5659bf24748180  freebase_webqsp_cwq/kg_pooled.tsv
f1dc988c5c468a14b85493f65a503f426c74aca69f07ff7e06ca38c30ed50603  freebase_webqsp_cwq/cwq_test.jsonl
0b7f4596d3842d95eb47b42d7996cdcac8206c1d2f84318f1e7dde87b5be3bf8  question_graphs/cwq_train.jsonl
e898192772a1be5ce9fc24a99f708f4c0a32a3de44e3334e7c6261a8ec58aa10  question_graphs/grailqa_dev_5763.jsonl
7d942120e9cc53cf472a16323fb47f86465480381b04b8547d607ec506e112e1  question_graphs/webqsp_train.jsonl
94d3f5a92646b49617ae3e05403e9b0ddc1194e950bd11648eca8650f5a0fee6  question_graphs/kg_train_subgraphs.tsv
b2fba499c1b09f95f3c0b25371cf2c379e463695b11005f5d3360fae75f6c33a  freebase_webqsp_cwq/mid2name.tsv
6bcfa53fad2318c5464eede3ca9765d24aa9c0c167175184628a663013b68a0f  freebase_webqsp_cwq/webqsp_test.jsonl
5a3daa8c3cae86c33efa90ef1e4adb7c4a006aefb7a0ab5072b793b35c52f6cc  freebase_webqsp_cwq/webqsp_train_paths.jsonl
e8093b7f15f7c48da8f93af89d9a341f19e746843b3f8c7aeeb0e0bbb9039c0b  multihop_text/musique_200.json
eb0a6df12bee02c4a43c81846ed4871ba133f2578947adb9b8882e793bb9a7e0  multihop_text/hotpotqa_200.json
""".splitlines(),  # noqa: E501
    )
}
"""The files that published numbers of this project were measured on."""

_WHERE = """\
The benchmarks are not part of jaxkg: get them where their authors offer them, lay them out as
below in one folder, and name that folder by JAXKG_DATA.

metaqa: films, one to three hops (Zhang et al., AAAI 2018; CC BY 3.0)
  from   https://github.com/yuyuz/MetaQA, the "vanilla" text
  graph  a line is head|relation|tail; lines that come twice count once
  asked  a line is `question with [topic]<TAB>answer|answer`
  kept   N-hop/vanilla/qa_dev.txt and qa_test.txt, without the folder vanilla

pathquestion: PQ and PQL, subsets of Freebase (Zhou et al., COLING 2018; no licence stated)
  from   https://github.com/zmtkeke/IRN, folder PathQuestion
  graph  a line is head<TAB>relation<TAB>tail
  asked  a line is question<TAB>answer(set)<TAB>head#relation#...#<end>#answer; there is no official
         split, so it is split here by (subject, path) with seed 0

freebase_webqsp_cwq: WebQSP and CWQ test questions over one pooled graph (Freebase is CC BY)
  from   no download: pooled from the Freebase triples that published systems left in their
         result files, joined on the official question ids (SubgraphRAG's labelled evidence,
         GNN-RAG, PoG, AoG and GraSP on GitHub). Do not compare with numbers on full Freebase.
  graph  kg_pooled.tsv, a line is head<TAB>relation<TAB>tail, further columns are left alone;
         mid2name.tsv, a line is mid<TAB>name
  asked  JSON lines {"id", "question", "q_entity": [...], "a_entity": [...], "gold_paths": [...]};
         for training {"id", "question", "linked": [{"concept"}], "answer": [...]}

question_graphs: CWQ and WebQSP training questions with their gold query subgraphs
  from   no download: the official questions, joined with the subgraphs that liyuanfang/mhqg,
         jordane95/BART4KBQG and RUCKBReasoning/DSM on GitHub keep of their SPARQL
  graph  kg_train_subgraphs.tsv, the union of the gold subgraphs; it is pooled with kg_pooled.tsv
         to train on, and is no part of the graph that test questions are asked of
  asked  JSON lines {"id", "question", "topics", "answers", "triples": [[head, relation, tail]]}
         CWQ was made from WebQSP's questions, test ones too: what learnt from it tells nothing of
         WebQSP's test questions
         grailqa_dev_5763.jsonl: GrailQA v1.0 dev (CC BY-SA 4.0), its graph queries as "nodes" and
         "edges"; those are asked whose topics and some answer kg_pooled.tsv has, the others are
         learnt from. The graph was pooled for other questions and often lacks the facts between;
         the shipped weights of `reader` learnt from GrailQA dev

multihop_text: MuSiQue (CC BY 4.0) and HotpotQA (CC BY-SA 4.0), 200 questions of each
  from   https://github.com/StonyBrookNLP/musique, https://hotpotqa.github.io; their files whole
         are read by --questions FILE just as well
  graph  none: --system proh asks each question over its own passages; one hypergraph of all is
         made by `jaxkg hypergraph build FILE --format questions` and asked by --hypergraph
  asked  a JSON list (or JSON lines) as their authors have it
"""


@dataclasses.dataclass(frozen=True)
class Dataset:
    """A benchmark: graph (None is the demo graph, or none where the questions bring passages).

    With its display names, and the files and questions of one part.

    Attributes:
        directed: False where gold paths leave the direction of relations open.
        unknown: files that are not those of `jaxkg datasets`, byte by byte.
        evidence: triples behind the questions, to be pooled with the graph.
    """

    graph: str | Path | None
    files: tuple[Path, ...]
    questions: tuple[Question, ...]
    names: Path | None = None
    directed: bool = True
    unknown: tuple[Path, ...] = ()
    evidence: Path | None = None

    @property
    def hashed(self) -> list[Path]:
        """The files whose hashes say what was worked on."""
        graph = None if self.graph is None else Path(self.graph)
        return [*self.files, *([graph] if graph is not None and graph.is_file() else [])]

    @property
    def passages(self) -> tuple[tuple[str, str], ...]:
        """(title, text) of all that the questions bring, where they are asked over that."""
        from jaxkg.kg.questions.passages import distinct_passages

        return () if self.graph is not None else distinct_passages(self.questions)


def dataset(name: str, part: Literal["train", "test"] = "test") -> Dataset:
    """A part of a benchmark; files that are not the known ones are told on standard error.

    A family that shares its training questions (metaqa) is a name for them.

    Raises:
        JaxkgError: no such benchmark, or its files are not where `JAXKG_DATA` says.
    """
    from jaxkg.experiments.progress import errors
    from jaxkg.kg import read_graph, read_questions, split_questions

    family = [each for each in NAMES if concerns(name, each)]
    if part == "train" and len({_files(each, part) for each in family}) == 1:
        name = family[0]
    if name not in NAMES:
        raise JaxkgError(f"no dataset is called {name!r}; there are {', '.join(NAMES)}")
    if not (root := os.environ.get("JAXKG_DATA")):
        raise JaxkgError(
            f"--dataset {name} is read from the folder of benchmark data: name it by JAXKG_DATA; "
            "`jaxkg datasets` says where to get it"
        )
    graph, names, files = _files(name, part)
    if not files:
        raise JaxkgError(f"--dataset {name} has no questions to train on")
    evidence = _evidence(name, part)
    needed = [file for file in (graph, names, evidence, *files) if file]
    absent = [file for file in needed if not (Path(root) / file).is_file()]
    if absent:
        raise JaxkgError(
            f"--dataset {name}: {root} has no {' and no '.join(absent)}; `jaxkg datasets` says "
            "where to get it"
        )
    paths = [Path(root) / file for file in files]
    if name.startswith("pq"):
        training, _, test = split_questions(read_questions(paths[0]), seed=0)
        questions = training if part == "train" else test
    else:
        questions = [question for path in paths for question in read_questions(path)]
    if name == "grailqa" and graph is not None:
        path = Path(root) / graph
        asked, others = within(well_formed(path, read_graph(path)), questions)
        questions = others if part == "train" else asked
    unknown = [file for file in needed if not _known(Path(root), file)]
    if unknown:
        errors.print(
            f"{name}: {', '.join(unknown)}: other content than published numbers of jaxkg are of"
        )
    return Dataset(
        None if graph is None else Path(root) / graph,
        tuple(paths),
        tuple(questions),
        None if names is None else Path(root) / names,
        directed=name not in ("webqsp", "cwq", "grailqa"),
        evidence=None if evidence is None else Path(root) / evidence,
        unknown=tuple(Path(root) / file for file in unknown),
    )


def well_formed(path: str | Path, kg: KnowledgeGraph) -> KnowledgeGraph:
    """A benchmark's graph without relations that are halves of names: errors of its pooling.

    Only the pooled graph has such: `Jr.,people.person.gender` beside `people.person.gender`. How
    many facts are left out stands in the graph's `skipped`. Any other graph stays as it is.

    >>> from jaxkg.kg import KnowledgeGraph
    >>> kg = KnowledgeGraph.from_triples([("a", "film.film.of", "b"), ("a", "Jr.,film.of", "c")])
    >>> kg = well_formed("freebase_webqsp_cwq/kg_pooled.tsv", kg)
    >>> kg.relations, kg.skipped
    (('film.film.of',), ('1 fact of 1 relation that is no name of Freebase',))
    """
    if Path(path).parts[-2:] != (POOLED, "kg_pooled.tsv"):
        return kg
    broken = {row for row, name in enumerate(kg.relations) if not _FREEBASE.fullmatch(name)}
    facts = [kg.triple(row) for row, code in enumerate(kg.triples[:, 1].tolist()) if code in broken]
    several = "are no names" if len(broken) > 1 else "is no name"
    told = (
        f"{len(facts):,} fact{'s' * (len(facts) > 1)} of {len(broken):,} "
        f"relation{'s' * (len(broken) > 1)} that {several} of Freebase"
    )
    skipped = (*kg.skipped, told) if broken else kg.skipped
    return dataclasses.replace(kg.remove(facts), skipped=skipped)


def within(
    kg: KnowledgeGraph, questions: Sequence[Question]
) -> tuple[list[Question], list[Question]]:
    """The questions whose topics and some answer a graph has, and the others.

    >>> from jaxkg.kg import KnowledgeGraph
    >>> kg = KnowledgeGraph.from_triples([("Alien", "by", "Scott")])
    >>> asked = [Question(end, "by whom?", ("Alien",), (end,)) for end in ("Scott", "Mann")]
    >>> [[question.id for question in some] for some in within(kg, asked)]
    [['Scott'], ['Mann']]
    """
    there = set(kg.entity_ids)
    asked, others = [], []
    for question in questions:
        has = question.topics and there.issuperset(question.topics)
        known = has and not there.isdisjoint(question.answers or ())
        (asked if known else others).append(question)
    return asked, others


def kinds(given: Dataset) -> dict[str, str]:
    """What kind of question each is, by id: the set's own word for it, else its hops.

    Hops are of the shortest gold relation path; a question without one has no kind.
    """
    found = {
        question.id: f"{hops} hop{'s' * (hops > 1)}"
        for question in given.questions
        if question.paths and (hops := min(map(len, question.paths)))
    }
    given_kinds = {q.id: q.passages.kind for q in given.questions if q.passages is not None}
    found |= {id: kind for id, kind in given_kinds.items() if kind}
    for file in (file for file in given.files if file.suffix == ".jsonl"):
        for line in file.read_text("utf-8").splitlines():
            if '"compositionality_type"' in line and (row := json.loads(line)).get("id"):
                found[row["id"]] = row["compositionality_type"]
    return found


def benchmarks(text: str) -> list[str]:
    """Names with commas between; `metaqa` stands for all that begin so, likewise `pq`.

    Raises:
        JaxkgError: there is no such benchmark, or one comes twice.

    >>> benchmarks("metaqa, pq-3h")
    ['metaqa-1', 'metaqa-2', 'metaqa-3', 'pq-3h']
    """
    found: list[str] = []
    for word in filter(None, map(str.strip, text.split(","))):
        some = [name for name in NAMES if concerns(word, name)]
        if not some:
            raise JaxkgError(f"no dataset is called {word!r}; there are {', '.join(NAMES)}")
        found += some
    if len(set(found)) < len(found):
        raise JaxkgError(f"--dataset {text}: one comes twice")
    return found


def concerns(word: str, name: str) -> bool:
    """Whether a word means a benchmark: its name, or that of its family."""
    return name == word or name.startswith(f"{word}-")


def datasets() -> None:
    """Show where each benchmark comes from, its expected layout, and which files exist.

    A file is marked if it differs from the one that published numbers were measured on.
    """
    root = os.environ.get("JAXKG_DATA")
    print(_WHERE)
    print(f"JAXKG_DATA is {root or 'not set'}")
    for name in NAMES:
        print(f"\n{name}")
        for file in dict.fromkeys((*_listed(name, "test"), *_listed(name, "train"))):
            print(f"  {_state(root, file):13s} {file}")


def _listed(name: str, part: Literal["train", "test"]) -> list[str]:
    graph, names, files = _files(name, part)
    return [file for file in (graph, names, *files, _evidence(name, part)) if file]


def _evidence(name: str, part: Literal["train", "test"]) -> str | None:
    """Triples to be pooled with the graph."""
    return f"{GRAPHS}/kg_train_subgraphs.tsv" if (name, part) == ("cwq", "train") else None


def _files(
    name: str, part: Literal["train", "test"]
) -> tuple[str | None, str | None, tuple[str, ...]]:
    """Graph, names and question files, within the folder of benchmark data."""
    graph, sets = next(family for family in FAMILIES.values() if name in family[1])
    parts = sets[name]
    names = f"{POOLED}/mid2name.tsv" if (graph or "").startswith(POOLED) else None
    if name == "cwq" and part == "train":
        return graph, names, (parts["train"], sets["webqsp"]["graphs"])
    if "dev" in parts and part == "train":
        return graph, names, tuple(each["dev"] for each in sets.values())
    found = next((parts[some] for some in (part, "all", "others") if some in parts), None)
    return graph, names, () if found is None else (found,)


def _known(root: Path, file: str) -> bool:
    from jaxkg.evaluate.runs.runs import sha256

    return sha256(root / file) == _SHA256[file]


def _state(root: str | None, file: str) -> str:
    if root is None or not (Path(root) / file).is_file():
        return "absent"
    return "there" if _known(Path(root), file) else "other content"


def material(
    name: str | None,
    kg: str | Path | None,
    names: Path | None,
    questions: Sequence[Path] | None,
    *,
    part: Literal["train", "test"],
) -> Dataset:
    """What a subcommand works on: a benchmark by name, or the user's own graph and questions.

    Without any of them it is the demo graph with its own questions.

    Raises:
        JaxkgError: both are given, or a graph without questions.
    """
    from jaxkg.kg import demo_questions, demo_training_questions, read_questions

    if name is not None:
        if kg is not None or names is not None or questions:
            raise JaxkgError("--dataset brings its graph and questions; give it or your own")
        return dataset(name, part)
    if not questions and kg is None and names is None:
        asked = demo_training_questions() if part == "train" else demo_questions()
        return Dataset(None, (), tuple(asked))
    if not questions:
        raise JaxkgError("no questions: give --questions FILE or --dataset NAME")
    asked = [question for path in questions for question in read_questions(path)]
    return Dataset(kg, tuple(questions), tuple(asked), names)
