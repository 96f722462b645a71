"""Training steps a second of TransE, beside PyKEEN where it is installed.

    python scripts/bench_kge.py --dimension 256 --batch-size 512 --negatives 64

Both corrupt heads and tails at random, use the margin loss and Adagrad, and have the same
dimension, batch and number of corruptions. PyKEEN's optimiser moves the whole table at every step;
here only the rows of the batch move, which is the same update.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import jax
import numpy as np

from jaxkg.kg import read_graph
from jaxkg.learn.embeddings.train import EmbeddingConfig, epoch_batches, init_state, run_steps


def jaxkg_steps(triples: np.ndarray, sizes: tuple[int, int], config: EmbeddingConfig, steps: int):
    state = init_state(config, *sizes, seed=0)
    batches = epoch_batches(triples, config.batch_size, seed=0, epoch=0)[:steps]
    state, losses = run_steps(config, state, batches)  # compiles
    jax.block_until_ready(losses)
    begin = time.perf_counter()
    _, losses = run_steps(config, state, batches)
    jax.block_until_ready(losses)
    return len(batches) / (time.perf_counter() - begin)


def pykeen_steps(triples: np.ndarray, sizes: tuple[int, int], config: EmbeddingConfig, steps: int):
    import torch  # pyright: ignore[reportMissingImports]
    from pykeen.models import TransE  # pyright: ignore[reportMissingImports]
    from pykeen.training import SLCWATrainingLoop  # pyright: ignore[reportMissingImports]
    from pykeen.triples import CoreTriplesFactory  # pyright: ignore[reportMissingImports]

    torch.manual_seed(0)
    used = torch.as_tensor(triples[: steps * config.batch_size].astype(np.int64))
    factory = CoreTriplesFactory(used, num_entities=sizes[0], num_relations=sizes[1])
    model = TransE(
        triples_factory=factory,
        embedding_dim=config.dimension,
        scoring_fct_norm=config.norm,
        loss="marginranking",
        loss_kwargs={"margin": config.gamma},
        random_seed=0,
    )
    loop = SLCWATrainingLoop(
        model=model,
        triples_factory=factory,
        optimizer=torch.optim.Adagrad(model.parameters(), lr=config.learning_rate),
        negative_sampler_kwargs={"num_negs_per_pos": config.negatives},
    )
    seconds = []
    for epochs in (1, 2):  # the second call goes on for one epoch
        begin = time.perf_counter()
        loop.train(
            factory, num_epochs=epochs, batch_size=config.batch_size, use_tqdm=False,
            use_tqdm_batch=False, continue_training=epochs > 1,
        )  # fmt: skip
        seconds.append(time.perf_counter() - begin)
    return -(-len(used) // config.batch_size) / seconds[1]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--set", default="FB15k-237", choices=("UMLS", "FB15k-237", "WN18RR"))
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--negatives", type=int, default=64)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--data", type=Path, default=os.environ.get("JAXKG_DATA", "../shared/data"))
    options = parser.parse_args(argv)
    folder = Path(options.data) / "kge" / options.set
    train = next(p for p in (folder / "train.txt", folder / "train.txt.gz") if p.exists())
    graph = read_graph(train, format="tsv")
    sizes = graph.num_entities, graph.num_relations
    config = EmbeddingConfig(
        model="transe", loss="margin", dimension=options.dimension, norm=1,
        batch_size=options.batch_size, negatives=options.negatives,
    )  # fmt: skip
    print(f"device {jax.devices()[0]}, jax {jax.__version__}, {os.cpu_count()} cores; TransE on "
          f"{options.set}, D {config.dimension}, batch {config.batch_size}, "
          f"{config.negatives} corruptions")  # fmt: skip
    ours = jaxkg_steps(graph.triples, sizes, config, options.steps)
    print(f"jaxkg   {ours:8.1f} steps/s")
    try:
        theirs = pykeen_steps(graph.triples, sizes, config, options.steps)
    except ModuleNotFoundError as error:
        print(f"PyKEEN  not measured: {error.name} is not installed")
        return
    print(f"PyKEEN  {theirs:8.1f} steps/s\nratio   {ours / theirs:8.2f}")


if __name__ == "__main__":
    main()
