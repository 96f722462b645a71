"""What several subcommands load: the graph, a warm compilation cache."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jaxkg.experiments.progress import errors

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

    from jaxkg.cache import cache_for

    if (folder := cache_for("programs")) is None:
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def make_room(share: float = 0.4) -> bool:
    """Forget compiled programs where they fill the process; they are loaded again from disk.

    Every compiled program maps memory, and Linux lets a process map so many regions and no more:
    a command that asks many systems of many graphs would end in the compiler's abort.

    Args:
        share: of the regions allowed, from which on there is no room.

    Returns:
        Whether there was none.
    """
    mapped, most = Path("/proc/self/maps"), Path("/proc/sys/vm/max_map_count")
    if not (mapped.exists() and most.exists()):
        return False
    with mapped.open("rb") as regions:
        if sum(1 for _ in regions) <= share * int(most.read_text()):
            return False
    import jax

    jax.clear_caches()
    return True
