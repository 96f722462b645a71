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
    typer.Option(
        help=f"{HELP}. By default the planner where --planner names one, else the reader."
    ),
]
Graph = Annotated[
    Path | None, typer.Option("--kg", help="Graph file or folder; the demo graph without.")
]
AnyGraph = Annotated[
    str | None, typer.Option("--kg", help="Graph file or folder; the demo graph without.")
]
GraphOrStore = Annotated[
    str | None,
    typer.Option(
        "--kg",
        help="Graph file or folder; mapped:FOLDER, a saved graph that is not read whole; "
        "sparql:URL, an endpoint. The demo graph without.",
    ),
]
EndpointGraph = Annotated[
    str | None, typer.Option("--graph", help="IRI of the named graph at --kg sparql:URL.")
]
Language = Annotated[
    str,
    typer.Option(
        "--language", help="Of the labels that are shown, where there are several, as en or de."
    ),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Refuse a table's rows that have more or fewer cells."),
]
LabelProperty = Annotated[
    str | None,
    typer.Option(
        "--label-property",
        help="IRI of what gives labels at --kg sparql:URL; rdfs:label and skos:prefLabel.",
    ),
]
Endpoint = Annotated[
    str | None,
    typer.Option(
        "--endpoint",
        help="How --kg sparql:URL is asked: timeout=60,batch=100,page=10000,requests=2000,"
        "pause=0,keep=true.",
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option("--labels", help="What `kg labels` kept of --kg sparql:URL, to be searched."),
]
Around = Annotated[
    str | None,
    typer.Option(
        "--reach",
        help="How far to look around topics in a store: hops=3,fan=2000,facts=50000; "
        "whole=200000: a graph of so many facts is fetched whole.",
    ),
]
Names = Annotated[Path | None, typer.Option("--names", help="Display names, id<TAB>name a line.")]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Of the graph file, where its name and beginning do not tell: one of `jaxkg formats`.",
        metavar="F",
    ),
]
MappingFile = Annotated[
    Path | None,
    typer.Option(
        "--mapping",
        help="What relations mean, as `jaxkg kg describe` writes it; default: NAME.graph.toml "
        "beside the data.",
    ),
]
Encoding = Annotated[str, typer.Option("--encoding", help="Of text files, as utf-8 or cp1252.")]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        help="Which columns are what: head=NAME,relation=NAME,tail=NAME, by name or number from 1.",
    ),
]
Hypergraph = Annotated[
    Path | None, typer.Option("--hypergraph", help="Folder of a hypergraph, for --system proh.")
]
PlannerFolder = Annotated[
    Path | None,
    typer.Option(
        "--planner",
        help="Folder of a trained planner; --system planner without it makes one, which is kept.",
    ),
]
PlanMode = Annotated[
    Mode | None,
    typer.Option(
        "--mode",
        help="A planner answers with its best plan or all good ones; best, or union where a "
        "model judges.",
        show_default=False,
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        min=0,
        max=1,
        help="Least confidence to answer at all: 0.15 of a planner, a reader's weights say it.",
        show_default=False,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting of the system, NAME=VALUE; may be given several times."),
]
Devices = Annotated[
    str,
    typer.Option(
        "--devices",
        metavar="N|NxM",
        help="4: questions over four devices, each with the whole graph. 1x4: a graph too large "
        f"for one is divided over four ({DIVIDED}). 2x4: both.",
    ),
]

Link = Annotated[
    bool, typer.Option("--link", help="Hide given topics; link them from the bare text.")
]

DatasetName = Annotated[
    str | None,
    typer.Option("--dataset", help=f"Graph and questions of a benchmark: {', '.join(DATASETS)}."),
]

LLM = Annotated[
    str | None,
    typer.Option(
        "--llm",
        envvar="JAXKG_LLM_MODEL",
        help="Language model to ask: its name at the endpoint, or local:FOLDER; none asks none.",
    ),
]
Judge = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="MODEL",
        help="Language model that judges answers (G-E, `generation` in the report), named and "
        "asked as that of --llm. One call for each answered question; off without. Scores of "
        "different judges are not comparable. Budgets hold for each model.",
    ),
]
BaseURL = Annotated[
    str | None,
    typer.Option("--base-url", help="OpenAI-protocol endpoint; else OPENAI_BASE_URL."),
]
ShowPrompts = Annotated[
    bool, typer.Option("--show-prompts", help="Print what is sent and what comes back (stderr).")
]
TopK = Annotated[
    int, typer.Option("--top-k", min=1, help="Groups of paths the model judges at most.")
]
Repair = Annotated[
    bool, typer.Option("--repair", help="Allow one more call for a reply that cannot be read.")
]
BudgetCalls = Annotated[
    int | None, typer.Option("--budget-calls", min=0, help="Calls to pay for in this run at most.")
]
BudgetTokens = Annotated[
    int | None, typer.Option("--budget-tokens", min=0, help="Tokens to pay for at most.")
]
BudgetPrice = Annotated[
    float | None, typer.Option("--budget-price", min=0, help="Price to pay at most.")
]
QuestionCalls = Annotated[
    int | None, typer.Option("--question-calls", min=0, help="Calls for one question at most.")
]
Replies = Annotated[
    Path | None,
    typer.Option("--replies", help="File that keeps every reply; one in the user's cache without."),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Keep no replies, read none.")]
Replay = Annotated[bool, typer.Option("--replay", help="Answer from kept replies alone.")]
Concurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
        min=1,
        help="Requests to the model at a time. Default: what a server on this machine has slots "
        "for, else 16.",
        show_default=False,
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--seconds",
        min=0.1,
        help="Seconds of one question, which is stopped then. Default: no limit, of `mcp` 60.",
    ),
]
Timeout = Annotated[
    float, typer.Option("--timeout", min=0.1, help="Seconds of silence of the model.")
]
Context = Annotated[
    int | None,
    typer.Option(
        "--context",
        min=512,
        help="Tokens that prompt and reply share. Default: what the server says, 4,096 where one "
        "on this machine does not.",
        show_default=False,
    ),
]
PromptTokens = Annotated[
    int, typer.Option("--prompt-tokens", min=1, help="Tokens of the paths that a prompt shows.")
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        min=1,
        help="Longest reply. Default: each prompt's own, 16 to 320.",
        show_default=False,
    ),
]
ModelSeed = Annotated[
    int | None, typer.Option("--llm-seed", help="Of the model's sampling.", show_default=False)
]
ExtraBody = Annotated[
    str | None,
    typer.Option(
        "--extra-body",
        metavar="FILE|JSON",
        help='Further fields of every request, as {"num_ctx": 8192} or {"enable_thinking": false}.',
    ),
]
Why = Annotated[bool, typer.Option("--why", help="Ask the model for its reasons too.")]
