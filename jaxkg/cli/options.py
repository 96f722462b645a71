"""Options that several subcommands share, each stated once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from jaxkg.experiments.datasets import NAMES as DATASETS
from jaxkg.experiments.registry import DIVIDED, HELP

Mode = Literal["best", "union"]

System = Annotated[
    str | None,
    typer.Option(help=f"{HELP} (default: planner if --planner is given, otherwise reader)."),
]
Graph = Annotated[
    Path | None, typer.Option("--kg", help="Graph file or folder (default: demo graph).")
]
AnyGraph = Annotated[
    str | None, typer.Option("--kg", help="Graph file or folder (default: demo graph).")
]
GraphOrStore = Annotated[
    str | None,
    typer.Option(
        "--kg",
        help="Graph file or folder (default: demo graph); mapped:FOLDER for a saved graph that is "
        "read in parts; sparql:URL for an endpoint.",
    ),
]
EndpointGraph = Annotated[
    str | None, typer.Option("--graph", help="IRI of the named graph at --kg sparql:URL.")
]
Language = Annotated[
    str,
    typer.Option("--language", help="Language of labels if there are several, such as en or de."),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Refuse rows of a table that have more or fewer cells.")
]
LabelProperty = Annotated[
    str | None,
    typer.Option(
        "--label-property",
        help="IRI of the property that gives labels at --kg sparql:URL (default: rdfs:label and "
        "skos:prefLabel).",
    ),
]
Endpoint = Annotated[
    str | None,
    typer.Option(
        "--endpoint",
        help="Settings of the requests to --kg sparql:URL (default: "
        "timeout=60,batch=200,page=10000,requests=5000,pause=0,keep=24).",
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        help="Folder of names that `jaxkg kg labels` saved; misspelt names are found in it.",
    ),
]
Around = Annotated[
    str | None,
    typer.Option(
        "--reach",
        help="How far a store is searched around the topics (default: "
        "hops=3,fan=2000,facts=50000). A graph of at most whole=200000 facts is fetched whole.",
    ),
]
Names = Annotated[
    Path | None, typer.Option("--names", help="File of display names, a line each: id<TAB>name.")
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Format of the graph file, one of `jaxkg formats` (default: recognised by name and "
        "content).",
        metavar="F",
    ),
]
MappingFile = Annotated[
    Path | None,
    typer.Option(
        "--mapping",
        help="File that describes things and relations, as `jaxkg kg describe` writes it "
        "(default: NAME.graph.toml beside the data).",
    ),
]
Encoding = Annotated[
    str, typer.Option("--encoding", help="Encoding of text files, such as utf-8 or cp1252.")
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        help="Columns of a file of triples: head=NAME,relation=NAME,tail=NAME. A column is given "
        "by its name or its number, from 1.",
    ),
]
Hypergraph = Annotated[
    Path | None,
    typer.Option("--hypergraph", help="Folder of a hypergraph; requires --system proh."),
]
PlannerFolder = Annotated[
    Path | None,
    typer.Option(
        "--planner",
        help="Folder of a trained planner (default: one is made from the relation labels and "
        "saved).",
    ),
]
PlannerSeed = Annotated[
    int, typer.Option("--seed", help="Random seed of a planner that is made on first use.")
]
PlanMode = Annotated[
    Mode | None,
    typer.Option(
        "--mode",
        help="Answer with the planner's best plan, or with the union of all good plans (default: "
        "best; union with --llm).",
        show_default=False,
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        min=0,
        max=1,
        help="Lowest confidence that is answered (default: 0.15 for planners, calibrated for the "
        "reader).",
        show_default=False,
    ),
]
Today = Annotated[
    str | None,
    typer.Option(
        "--today",
        help="Date of today, such as 2015-03-01, for the reader (default: the machine's date).",
        show_default=False,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Setting of the system, NAME=VALUE; may be repeated."),
]
Devices = Annotated[
    str,
    typer.Option(
        "--devices",
        metavar="N|NxM",
        help="How to use several devices. 4: share the questions among four, each with the whole "
        f"graph. 1x4: divide a graph that is too large for one among four ({DIVIDED} only). "
        "2x4: do both.",
    ),
]

Link = Annotated[
    bool, typer.Option("--link", help="Ignore given topics and link them from the text.")
]

DatasetName = Annotated[
    str | None,
    typer.Option(
        "--dataset", help=f"Benchmark that gives graph and questions: {', '.join(DATASETS)}."
    ),
]

LLM = Annotated[
    str | None,
    typer.Option(
        "--llm",
        envvar="JAXKG_LLM_MODEL",
        help="Language model: its name at the endpoint, or local:FOLDER or local:FILE.gguf "
        "(default: no model is asked).",
    ),
]
Judge = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="MODEL",
        help="Language model that grades answers (G-E, `generation` in the report); give it as "
        "for --llm (default: answers are not graded). It takes one call per answered question. "
        "Scores of different judges are not comparable. Budgets apply to each model.",
    ),
]
BaseURL = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        help=("Address of an endpoint that speaks the OpenAI protocol (default: OPENAI_BASE_URL)."),
    ),
]
ShowPrompts = Annotated[
    bool, typer.Option("--show-prompts", help="Print each prompt and each reply to standard error.")
]
TopK = Annotated[
    int,
    typer.Option(
        "--top-k",
        min=1,
        help="Largest number of groups of paths in a prompt. Requires --set judge=paths.",
    ),
]
AskModel = Annotated[
    Literal["unsure", "always", "never"],
    typer.Option(
        "--ask-model",
        help="When to ask the model which reading of a question is meant. unsure: if the system "
        "withholds its answer or is not certain of it. The reader lets the model write a query "
        "instead, unless it is always asked.",
    ),
]
Repair = Annotated[
    bool, typer.Option("--repair", help="Allow one more call if a reply cannot be parsed.")
]
BudgetCalls = Annotated[
    int | None,
    typer.Option("--budget-calls", min=0, help="Limit on calls to the model in this run."),
]
BudgetTokens = Annotated[
    int | None, typer.Option("--budget-tokens", min=0, help="Limit on tokens in this run.")
]
BudgetPrice = Annotated[
    float | None, typer.Option("--budget-price", min=0, help="Limit on the price of this run.")
]
QuestionCalls = Annotated[
    int | None, typer.Option("--question-calls", min=0, help="Limit on calls for one question.")
]
Replies = Annotated[
    Path | None,
    typer.Option(
        "--replies",
        help="File in which replies are saved (default: a file in the user's cache); with --replay "
        "also an archive of one, under gzip.",
    ),
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Neither save replies nor use saved ones.")
]
Replay = Annotated[bool, typer.Option("--replay", help="Use saved replies only; call no model.")]
Concurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
        min=1,
        help="Requests to the model at a time (default: the slots of a server on this machine, "
        "otherwise 16).",
        show_default=False,
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--seconds",
        min=0.1,
        help="Time limit of one question in seconds (default: none; for `jaxkg mcp` 60).",
    ),
]
Timeout = Annotated[
    float,
    typer.Option(
        "--timeout",
        min=0.1,
        help="Seconds to wait for the next data from the model before a request fails.",
    ),
]
Context = Annotated[
    int | None,
    typer.Option(
        "--context",
        min=512,
        help="Context size in tokens, shared by prompt and reply (default: what the server "
        "reports; 4,096 if a server on this machine reports none).",
        show_default=False,
    ),
]
PromptTokens = Annotated[
    int, typer.Option("--prompt-tokens", min=1, help="Limit on tokens of the paths in a prompt.")
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        min=1,
        help="Limit on tokens of a reply (default: 16 to 320, depending on the prompt).",
        show_default=False,
    ),
]
ModelSeed = Annotated[
    int | None,
    typer.Option("--llm-seed", help="Random seed of the model's sampling.", show_default=False),
]
ExtraBody = Annotated[
    str | None,
    typer.Option(
        "--extra-body",
        metavar="FILE|JSON",
        help=(
            'Further fields of each request, such as {"num_ctx": 8192} or {"enable_thinking":'
            " false}."
        ),
    ),
]
Why = Annotated[bool, typer.Option("--why", help="Ask the model for its reasons as well.")]
