"""What several subcommands load: the graph, a warm compilation cache."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jaxkg.cli.progress import errors

if TYPE_CHECKING:
    from jaxkg.kg import KnowledgeGraph


def load_graph(
    path: Path | None, *, names: Path | None = None, skip_bad: int = 0
) -> KnowledgeGraph:
    """The graph at a path (a file, or a folder made by `kg build`); without one, the demo graph."""
    from jaxkg.kg import demo_graph, read_graph

    if path is None:
        return demo_graph()
    kg = read_graph(path, names=names, skip_bad=skip_bad)
    for message in kg.skipped:
        errors.print(f"skipped: {message}", markup=False, highlight=False)
    return kg


def keep_compiled_programs() -> None:
    """Keep compiled programs between runs: the second `jaxkg ask` need not compile anything."""
    import jax

    from jaxkg.systems.planner_cache import cache_folder

    jax.config.update("jax_compilation_cache_dir", str(cache_folder() / "programs"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
