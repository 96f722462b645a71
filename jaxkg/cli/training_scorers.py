"""`jaxkg train ranked`, `jaxkg train guided` and `jaxkg train kge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jaxkg.cli import options
from jaxkg.cli.training import training
from jaxkg.errors import JaxkgError
from jaxkg.experiments.datasets import material
from jaxkg.experiments.loading import keep_compiled_programs, load_graph
from jaxkg.experiments.parts import encoder_kept
from jaxkg.experiments.progress import progress_bars

Questions = Annotated[
    list[Path] | None, typer.Option(help="Questions with answers; may be given several times.")
]
Encoder = Annotated[str, typer.Option(help="Of texts: minilm, or hashing, which needs no weights.")]


@training.command("ranked")
def ranked(
    output: Annotated[Path, typer.Option("-o", "--output", help="New folder for the ranker.")],
    questions: Questions = None,
    dataset: options.DatasetName = None,
    kg: options.Graph = None,
    names: options.Names = None,
    encoder: Encoder = "minilm",
    hops: Annotated[int, typer.Option(min=1, max=3, help="Longest path.")] = 2,
    either_way: Annotated[
        bool, typer.Option(help="The questions' own paths leave the direction of relations open.")
    ] = False,
    epochs: Annotated[int, typer.Option(min=1, help="Epochs at most.")] = 10,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
) -> None:
    """Learn to rank relation paths by their texts, for `--system ranked --set model=FOLDER`."""
    from jaxkg.learn.ranker.fit import fit_ranker
    from jaxkg.learn.ranker.train import RankerConfig
    from jaxkg.tensors import tensor_graph

    keep_compiled_programs()
    found = material(dataset, kg, names, questions, part="train")
    graph = load_graph(found.graph, names=found.names)
    with progress_bars() as show:
        made = fit_ranker(
            graph,
            tensor_graph(graph),
            found.questions,
            encoder_kept(encoder),
            hops=hops,
            directed=found.directed and not either_way,
            config=RankerConfig(epochs=epochs),
            seed=seed,
            on_progress=show,
        )
    made.save(output)
    about = made.about
    print(
        f"{output}: a ranker of the paths along {len(graph.relations)} relations, up to {hops} hops"
    )
    print(f"trained on {about['with_paths']:,} of {about['questions']:,} questions")


@training.command("guided")
def guided(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the scorer; resumed from there.")
    ],
    questions: Questions = None,
    dataset: options.DatasetName = None,
    kg: options.Graph = None,
    names: options.Names = None,
    encoder: Encoder = "minilm",
    hops: Annotated[int, typer.Option(min=1, max=4, help="Longest path.")] = 3,
    epochs: Annotated[int | None, typer.Option(min=1, help="Epochs at most.")] = None,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
) -> None:
    """Learn which edges a question takes, for `--system guided --set model=FOLDER`."""
    from jaxkg.learn.edges.fit import fit_edge_scorer
    from jaxkg.learn.edges.train import EdgeConfig
    from jaxkg.learn.folder import TRAINING
    from jaxkg.tensors import tensor_graph

    keep_compiled_programs()
    found = material(dataset, kg, names, questions, part="train")
    graph = load_graph(found.graph, names=found.names)
    with progress_bars() as show:
        made = fit_edge_scorer(
            graph,
            tensor_graph(graph),
            found.questions,
            encoder_kept(encoder),
            config=EdgeConfig() if epochs is None else EdgeConfig(epochs=epochs),
            hops=hops,
            folder=output / TRAINING,
            seed=seed,
            on_progress=show,
        )
    made.save(output)
    about = made.about
    print(f"{output}: a scorer of edges, up to {hops} hops")
    print(f"trained on {about['learned_from']:,} of {about['questions']:,} questions")
    print(f"F1 of its search on held-out questions {about['held_out_f1']:.4f}")


@training.command("kge")
def kge(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the embeddings; resumed from there.")
    ],
    validation: Annotated[Path, typer.Option(help="Facts that choose the epoch.")],
    kg: options.Graph = None,
    test: Annotated[Path | None, typer.Option(help="Facts to rank once at the end.")] = None,
    model: Annotated[str, typer.Option(help="transe, distmult, complex or rotate.")] = "complex",
    loss: Annotated[
        str | None, typer.Option(help="margin, logistic, self-adversarial or one-vs-all.")
    ] = None,
    dimension: Annotated[int, typer.Option(min=2, help="Floats of an entity.")] = 256,
    epochs: Annotated[int, typer.Option(min=1, help="Epochs at most.")] = 100,
    learning_rate: Annotated[float, typer.Option(min=0, help="Of Adagrad.")] = 0.1,
    n3: Annotated[float, typer.Option(min=0, help="Weight of the nuclear 3-norm.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Of weights, order and corruptions.")] = 0,
) -> None:
    """Train knowledge-graph embeddings, stopping when validation facts rank no better."""
    import numpy as np

    from jaxkg.evaluate.metrics.ranking import link_prediction
    from jaxkg.kg import read_graph
    from jaxkg.learn.embeddings.fit import fit_embeddings, rows_of
    from jaxkg.learn.embeddings.losses import LOSSES
    from jaxkg.learn.embeddings.ranking import rank_links
    from jaxkg.learn.embeddings.train import EmbeddingConfig
    from jaxkg.score.embeddings import MODELS

    if model not in MODELS:
        raise JaxkgError(f"the model is one of {', '.join(MODELS)}, not {model!r}")
    products = model in ("distmult", "complex")
    wanted = loss or ("one-vs-all" if products else "self-adversarial")
    if wanted not in LOSSES:
        raise JaxkgError(f"the loss is one of {', '.join(LOSSES)}, not {wanted!r}")
    keep_compiled_programs()
    graph = load_graph(kg)
    parts = [rows_of(graph, read_graph(path)) for path in (validation, test) if path is not None]
    for path, (_, missing) in zip((validation, test), parts):
        if missing:
            print(f"{path}: {missing:,} facts left out, the training graph lacks their names")
    config = EmbeddingConfig(
        model=model,
        loss=wanted,
        dimension=dimension,
        epochs=epochs,
        learning_rate=learning_rate,
        n3=n3,
    )
    with progress_bars() as show:
        made = fit_embeddings(
            output,
            np.asarray(graph.triples),
            parts[0][0],
            entities=graph.entity_ids.tolist(),
            relations=graph.relations,
            config=config,
            seed=seed,
            on_progress=show,
        )
    print(f"{output}: {model} of {graph.num_entities:,} entities, epoch {made.about['best']} kept")
    if test is not None:
        known = np.concatenate([graph.triples, *(rows for rows, _ in parts)])
        counts = rank_links(config.model, made.embeddings, parts[1][0], known, norm=config.norm)
        for name, value in link_prediction(*counts).items():
            if name.endswith("_realistic"):
                print(f"  {name} {value.value:.4f} ({value.low:.4f} to {value.high:.4f})")
