"""Training steps a second of TransE, beside PyKEEN where it is installed.

    python scripts/bench/bench_kge.py --dimension 256 --batch-size 512 --negatives 64

Both corrupt heads and tails at random, use the margin loss and Adagrad, and have the same
dimension, batch and number of corruptions. PyKEEN's optimiser moves the whole table at every step;
here only the rows of the batch move, which is the same update. A minute.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import jax
import numpy as np

from jaxkg.kg import read_graph
from jaxkg.learn.embeddings.train import EmbeddingConfig, epoch_batches, init_state, run_steps

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments, numbers
from lib.seconds import Laps, best_seconds
from lib.sets import LINKS, training_facts


def jaxkg_steps(triples: np.ndarray, sizes: tuple[int, int], config: EmbeddingConfig, steps: int):
    state = init_state(config, *sizes, seed=0)
    batches = epoch_batches(triples, config.batch_size, seed=0, epoch=0)[:steps]
    state, losses = run_steps(config, state, batches)  # compiles
    jax.block_until_ready(losses)
    run = functools.partial(run_steps, config, state, batches)
    return len(batches) / best_seconds(run, repeats=1, warm=False)


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
        laps = Laps()
        loop.train(
            factory, num_epochs=epochs, batch_size=config.batch_size, use_tqdm=False,
            use_tqdm_batch=False, continue_training=epochs > 1,
        )  # fmt: skip
        seconds.append(laps.lap())
    return -(-len(used) // config.batch_size) / seconds[1]


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, seed=False)
    parser.add_argument("--set", default="FB15k-237", choices=LINKS)
    numbers(parser, dimension=256, batch_size=512, negatives=64, steps=100)
    options = parser.parse_args(argv)
    graph = read_graph(training_facts(options.data, options.set), format="tsv")
    sizes = graph.num_entities, graph.num_relations
    config = EmbeddingConfig(
        model="transe", loss="margin", dimension=options.dimension, norm=1,
        batch_size=options.batch_size, negatives=options.negatives,
    )  # fmt: skip
    record = Record(__file__, options)
    record.note(
        f"TransE on {options.set}, D {config.dimension}, batch {config.batch_size}, "
        f"{config.negatives} corruptions"
    )
    table = record.table("", "steps/s", "ratio")
    ours = jaxkg_steps(graph.triples, sizes, config, options.steps)
    table.add("jaxkg", ours, 1.0)
    try:
        theirs = pykeen_steps(graph.triples, sizes, config, options.steps)
        table.add("PyKEEN", theirs, theirs / ours)
    except ModuleNotFoundError as error:
        record.note(f"PyKEEN not measured: {error.name} is not installed")
    record.save()


if __name__ == "__main__":
    main()
