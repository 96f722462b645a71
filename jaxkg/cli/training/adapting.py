"""`jaxkg adapt`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jaxkg.cli import options
from jaxkg.cli.training.planner import Questions
from jaxkg.cli.training.scorers import Encoder
from jaxkg.errors import JaxkgError


def adapt(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the weights.")],
    kg: options.Graph = None,
    names: options.Names = None,
    questions: Questions = None,
    encoder: Encoder = "minilm",
    made: Annotated[
        int,
        typer.Option(
            min=0,
            help="Questions to make of the graph and learn from as well; next to no help on seven "
            "graphs tried (303 right of 345 by them alone, 301 without).",
        ),
    ] = 0,
    seed: Annotated[int, typer.Option(help="Of the questions made.")] = 0,
) -> None:
    """Adapt the reader to a graph by 12 or more own questions with answers; 20 to 100 are good.

    Learns from --questions and from what `jaxkg ask --right` kept. Each quarter of them is held
    out once and asked before and after; weights that answer no better are not written (exit code
    1). Expect little: on three graphs that the reader knows well without, 304 right and 5 wrong of
    345, as many as with what is shipped.

    Example: jaxkg adapt --kg team.csv --questions own.jsonl -o M, then
    jaxkg ask "who leads it?" --kg team.csv --set weights=M
    """
    from jaxkg.experiments.loading import load_graph
    from jaxkg.experiments.parts import encoder_kept
    from jaxkg.kg import read_questions
    from jaxkg.storage import regular_file, writing
    from jaxkg.systems.reader.corrections import kept_corrections
    from jaxkg.systems.reader.system import Reader
    from jaxkg.systems.reader.training.adapt import LEAST, adapt_reader, better, marked
    from jaxkg.systems.reader.training.maker import Asked
    from jaxkg.systems.reader.training.own_world import own_questions
    from jaxkg.systems.reader.weights import ADAPTED

    graph = load_graph(kg, names=names)
    texts_of = encoder_kept(encoder)
    reader = Reader.build(graph, texts_of)
    given = [one for file in questions or () for one in read_questions(file)]
    asked = [Asked(q.text, frozenset(q.answers)) for q in given if q.answers is not None]
    if len(asked) < len(given):
        print(f"left out {len(given) - len(asked):,} questions without `answers`")
    told, texts = kept_corrections(graph), {one.text for one in asked}
    by_them = Reader.build(graph, texts_of, corrections=told) if told else reader
    for one in told:
        read = by_them.understand(one.question)
        if one.question not in texts and read.said is not None:
            asked.append(Asked(one.question, frozenset(read.readings[0].answers)))
    if len(asked) < LEAST:
        raise JaxkgError(
            f"{len(asked)} questions with answers (--questions FILE) and corrections (`jaxkg ask "
            f"--right`) are too few to tell what helps; {LEAST} will do, 20 to 100 are better"
        )
    output.mkdir(parents=True, exist_ok=True)
    if other := [file.name for file in output.iterdir() if file.name != ADAPTED]:
        raise JaxkgError(f"{output}: holds other files, such as {other[0]}; name another folder")
    regular_file(output / ADAPTED)
    from_graph = own_questions(reader.readings, made, seed) if made else []
    own = marked(reader, asked)
    weights, before, after = adapt_reader(reader, own, marked(reader, from_graph))
    for when, (right, wrong) in (("before", before), ("after", after)):
        rest = len(own) - right - wrong
        print(f"{when:<7} {right:>4} right {wrong:>4} wrong {rest:>4} withheld, when held out")
    if not better(after, before):
        print("no better than the shipped weights: nothing is written")
        raise typer.Exit(1)
    with writing(output / ADAPTED) as file:
        weights.save(file)
    print(f"{output}: weights {weights.version}, for --set weights={output}")
