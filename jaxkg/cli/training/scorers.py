"""`jaxkg train ranked`, `jaxkg train guided` and `jaxkg train kge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from jaxkg.cli.blocks import spread
from jaxkg.cli.training.planner import (
    FitOptions,
    TrainingOptions,
    config_from,
    trained_into,
    training,
)
from jaxkg.errors import JaxkgError
from jaxkg.experiments.loading import load_graph

Encoder = Annotated[
    str, typer.Option(help="Text encoder: minilm, or hashing, which requires no weights.")
]


@training.command("ranked")
@spread
def ranked(
    given: TrainingOptions,
    encoder: Encoder = "minilm",
    by: Annotated[
        Literal["paths", "steps"],
        typer.Option(
            help="paths: rank whole paths. steps: read the question token by token (MiniLM) and "
            "build a path for each topic step by step, for questions of several topics and more "
            "hops.",
        ),
    ] = "paths",
    hops: Annotated[
        int | None,
        typer.Option(
            min=1, max=4, help="Length of the longest path (default: 2; 4 with --by steps)."
        ),
    ] = None,
    either_way: Annotated[
        bool, typer.Option(help="Treat the relation paths in the question file as undirected.")
    ] = False,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Number of epochs (default: 10; 5 with --by steps).")
    ] = None,
) -> None:
    """Learn to rank relation paths by their texts, for `--system ranked --set model=FOLDER`.

    The right paths are those in the question file (or in its gold subgraphs); without them, all
    paths from topics to answers.
    """
    from jaxkg.learn.ranker.fit import fit_ranker
    from jaxkg.learn.ranker.train import RankerConfig
    from jaxkg.text.best import encoder_kept

    if by == "steps":
        _steps(given, encoder, hops, epochs)
        return
    config = config_from(RankerConfig, given.settings, epochs=epochs or RankerConfig().epochs)
    with given.learning("ranker.json") as (taught, found, how):
        made = fit_ranker(
            *taught,
            encoder_kept(encoder),
            hops=hops or 2,
            directed=found.directed and not either_way,
            config=config,
            training=how,
        )
    made.save(given.output)
    about = made.about
    print(
        f"{given.output}: a ranker of the paths along {len(made.relations)} relations, "
        f"up to {made.hops} hops"
    )
    print(f"trained on {about['with_paths']:,} of {about['questions']:,} questions")


def _steps(given: TrainingOptions, encoder: str, hops: int | None, epochs: int | None) -> None:
    from jaxkg.learn.ranker.step_training import StepConfig, fit_steps
    from jaxkg.text.best import encoder_kept
    from jaxkg.text.states import TokenReader

    config = config_from(StepConfig, given.settings, epochs=epochs or StepConfig().epochs)
    texts = encoder_kept(encoder)
    with given.learning("steps.json", evidence=True) as (taught, _, how):
        made = fit_steps(
            *taught,
            TokenReader.open(texts.name),
            texts,
            hops=hops or 4,
            config=config,
            training=how,
        )
    made.save(given.output)
    about = made.about
    left = about["questions"] - about["with_paths"]
    print(
        f"{given.output}: a reader of paths along {len(made.relations)} relations, "
        f"up to {made.hops} hops, step by step"
    )
    print(
        f"trained on {about['with_paths']:,} questions with {about['branches']:,} topics; left out "
        f"{left:,}, for which no relation path of up to {made.hops} steps is known"
    )


@training.command("guided")
@spread
def guided(
    given: TrainingOptions,
    encoder: Encoder = "minilm",
    embeddings: Annotated[
        Path | None,
        typer.Option(
            help="Folder of `jaxkg train kge --model transe`, whose vectors are used beside the "
            "texts.",
        ),
    ] = None,
    hops: Annotated[int, typer.Option(min=1, max=4, help="Length of the longest path.")] = 3,
    epochs: Annotated[int | None, typer.Option(min=1, help="Maximum number of epochs.")] = None,
) -> None:
    """Learn which edges a question takes, for `--system guided --set model=FOLDER`."""
    from jaxkg.learn.edges.fit import fit_edge_scorer
    from jaxkg.learn.edges.model import graph_vectors
    from jaxkg.learn.edges.train import EdgeConfig
    from jaxkg.learn.embeddings.fit import TrainedEmbeddings
    from jaxkg.score.edges import EdgeSizes
    from jaxkg.text.best import encoder_kept

    config = config_from(EdgeConfig, given.settings, epochs=epochs)
    with given.learning("edges.json") as (taught, _, how):
        vectors = embeddings and graph_vectors(taught[0], TrainedEmbeddings.open(embeddings))
        texts = encoder_kept(encoder)
        made = fit_edge_scorer(
            *taught,
            texts,
            graph=vectors,
            sizes=EdgeSizes(
                text=texts.dimension,
                question=texts.dimension,
                graph=0 if vectors is None else vectors[0].shape[1],
                hops=hops,
            ),
            config=config,
            training=how,
        )
    made.save(given.output)
    about = made.about
    print(f"{given.output}: a scorer of edges, up to {hops} hops")
    print(f"trained on {about['learned_from']:,} of {about['questions']:,} questions")
    if about["held_out_f1"] is not None:
        print(f"F1 of its search on held-out questions {about['held_out_f1']:.4f}")


@training.command("kge")
@spread
def kge(
    fit: FitOptions,
    validation: Annotated[Path, typer.Option(help="File of facts to choose the best epoch by.")],
    test: Annotated[
        Path | None, typer.Option(help="File of facts to rank once at the end.")
    ] = None,
    model: Annotated[
        str, typer.Option(help="Model: transe, distmult, complex or rotate.")
    ] = "complex",
    loss: Annotated[
        str | None,
        typer.Option(
            help="Loss: margin, logistic, self-adversarial or one-vs-all (default: one-vs-all for "
            "distmult and complex, otherwise self-adversarial).",
        ),
    ] = None,
    dimension: Annotated[int, typer.Option(min=2, help="Size of an entity's vector.")] = 256,
    epochs: Annotated[int, typer.Option(min=1, help="Maximum number of epochs.")] = 100,
    learning_rate: Annotated[float, typer.Option(min=0, help="Adagrad learning rate.")] = 0.1,
    n3: Annotated[float, typer.Option(min=0, help="Weight of the nuclear 3-norm.")] = 0.0,
) -> None:
    """Train knowledge-graph embeddings, stopping when validation facts rank no better."""
    import numpy as np

    from jaxkg.evaluate.metrics.ranking import link_prediction
    from jaxkg.kg import read_graph
    from jaxkg.learn.embeddings.fit import fit_embeddings, rows_of
    from jaxkg.learn.embeddings.ranking import rank_links
    from jaxkg.learn.embeddings.train import LOSSES, EmbeddingConfig
    from jaxkg.score.embeddings import MODELS

    for what, value, known in (("model", model, MODELS), ("loss", loss, (None, *LOSSES))):
        if value not in known:
            raise JaxkgError(
                f"the {what} must be one of {', '.join(filter(None, known))}, not {value!r}"
            )
    products = model in ("distmult", "complex")
    config = config_from(
        EmbeddingConfig,
        fit.settings,
        model=model,
        loss=loss or ("one-vs-all" if products else "self-adversarial"),
        dimension=dimension,
        epochs=epochs,
        learning_rate=learning_rate,
        n3=n3,
    )
    graph = load_graph(fit.kg)
    parts = [rows_of(graph, read_graph(path)) for path in (validation, test) if path is not None]
    for path, (_, missing) in zip((validation, test), parts):
        if missing:
            print(f"{path}: {missing:,} facts left out, the training graph lacks their names")
    with trained_into(fit.output, "embeddings.json", fit.fresh) as (_, show):
        made = fit_embeddings(
            fit.output,
            np.asarray(graph.triples),
            parts[0][0],
            entities=graph.entity_ids.tolist(),
            relations=graph.relations,
            config=config,
            seed=fit.seed,
            on_progress=show,
        )
    best = made.about["best"]
    print(f"{fit.output}: {config.model} of {graph.num_entities:,} entities, epoch {best} kept")
    if test is not None:
        known = np.concatenate([graph.triples, *(rows for rows, _ in parts)])
        counts = rank_links(config.model, made.embeddings, parts[1][0], known, norm=config.norm)
        for name, value in link_prediction(*counts).items():
            if name.endswith("_realistic"):
                print(f"  {name} {value.value:.4f} ({value.low:.4f} to {value.high:.4f})")
