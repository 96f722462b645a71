"""What several subcommands load: the graph, a warm compilation cache.

Graphs that are asked in parts, as options name them.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jaxkg.errors import JaxkgError
from jaxkg.experiments.progress import note
from jaxkg.settings import settings_made
from jaxkg.systems.parts import Parts

if TYPE_CHECKING:
    from jaxkg.kg import KnowledgeGraph
    from jaxkg.kg.stores.store import Store


_SMALL = 200_000
"""Facts up to which it takes no time to see what a graph is about."""


@dataclasses.dataclass(frozen=True)
class FileOptions:
    """How a graph file is to be read, as options say it.

    Attributes:
        names: file of display names.
        format, encoding: see `jaxkg.kg.read_graph`.
        columns: "head=NAME,relation=NAME,tail=NAME"; a number counts columns from 1.
        skip_bad: malformed lines to tolerate.
        provenance: keep file and line of every triple.
        mapping: what relations mean.
        language, strict: see `jaxkg.kg.read_graph`.
    """

    names: Path | None = None
    format: str | None = None
    encoding: str = "utf-8"
    columns: str | None = None
    skip_bad: int = 0
    provenance: bool = False
    mapping: Path | None = None
    language: str = "en"
    strict: bool = False


def load_graph(
    path: str | Path | None,
    options: FileOptions = FileOptions(),
    *,
    names: Path | None = None,
    show: Callable[[str, int, int], None] | None = None,
    left_out: Counter[str] | None = None,
) -> KnowledgeGraph:
    """The graph at a path (a file, or a folder made by `kg build`); without one, the demo graph.

    How a header was read, and what was skipped, is told on standard error.

    Args:
        left_out: takes what was not taken, by reason.

    Raises:
        JaxkgError: see `read_graph`; or options for the reading of a file without one.
    """
    from jaxkg.experiments.datasets import well_formed
    from jaxkg.kg import demo_graph, read_graph
    from jaxkg.kg.files.array_folder import CARD
    from jaxkg.kg.mapping import understood
    from jaxkg.kg.typed_schema import with_id_classes

    if names is not None:
        options = dataclasses.replace(options, names=names)
    if path is None:
        of_file = (options.format, options.encoding, options.columns, options.mapping)
        if of_file != (None, "utf-8", None, None) or options.strict:
            raise JaxkgError(
                "--format, --encoding, --columns and --mapping say how to read a graph: --kg FILE"
            )
        return demo_graph()
    kg = read_graph(
        path,
        names=options.names,
        format=options.format,
        encoding=options.encoding,
        columns=None if options.columns is None else columns_from(options.columns),
        skip_bad=options.skip_bad,
        lines=options.provenance,
        on_reading=note,
        mapping=options.mapping,
        language=options.language,
        strict=options.strict,
        left_out=left_out,
        on_progress=show and (lambda done, total: show("read", done, total)),
    )
    kg = well_formed(path, kg)
    if not Path(path, CARD).is_file():
        for line in understood(kg) if kg.num_triples <= _SMALL else ():
            note(line)
    for message in kg.skipped:
        note(f"skipped: {message}")
    kg, classes = with_id_classes(kg)
    if classes:
        note(f"ids say what things are: {', '.join(classes)}")
    return kg


def pooled(first: KnowledgeGraph, *others: KnowledgeGraph) -> KnowledgeGraph:
    """One graph of the facts of several, entities being the same where their ids are.

    >>> from jaxkg.kg import KnowledgeGraph
    >>> graphs = [KnowledgeGraph.from_triples([("a", "r", end)]) for end in "bc"]
    >>> pooled(*graphs).num_triples
    2
    """
    from jaxkg.kg import KnowledgeGraph

    graphs = (first, *others)
    triples = (graph.triple(row) for graph in graphs for row in range(graph.num_triples))
    names = {
        id: name
        for graph in reversed(graphs)
        for id, name in zip(graph.entity_ids, graph.entity_names)
        if id != name
    }
    return KnowledgeGraph.from_triples(triples, names=names)


def columns_from(text: str) -> tuple[int | str, int | str, int | str]:
    """Head, relation and tail columns as an option says them.

    Raises:
        JaxkgError: they are not all told.

    >>> columns_from("head=source,relation=type,tail=target"), columns_from("2,3,4")
    (('source', 'type', 'target'), (1, 2, 3))
    """
    parts = [part.strip() for part in text.split(",")]
    named = dict(part.split("=", 1) for part in parts if "=" in part)
    if named.keys() == {"head", "relation", "tail"} and len(parts) == 3:
        parts = [named["head"], named["relation"], named["tail"]]
    elif named or len(parts) != 3 or "" in parts:
        raise JaxkgError(f"--columns {text}: write it head=NAME,relation=NAME,tail=NAME")
    if "0" in parts:
        raise JaxkgError(f"--columns {text}: columns are counted from 1")
    head, relation, tail = (int(part) - 1 if part.isdecimal() else part for part in parts)
    return head, relation, tail


def keep_compiled_programs() -> None:
    """Keep compiled programs between runs: the second `jaxkg ask` need not compile anything."""
    from jaxkg.cache import cache_for

    if (folder := cache_for("programs")) is None:
        return
    wanted = {
        "jax_compilation_cache_dir": str(folder),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    if "jax" in sys.modules:
        import jax

        for name, value in wanted.items():
            jax.config.update(name, value)
        return
    # Read once JAX is imported, which a short question may do without.
    os.environ.update({name.upper(): str(value) for name, value in wanted.items()})


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


T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class StoreOptions:
    """How a store is to be asked, as options say it.

    Attributes:
        graph: IRI of the named graph at an endpoint.
        language: of labels; those without one serve too.
        label_property: IRI of what gives labels.
        endpoint: further settings of an endpoint, NAME=VALUE with commas between.
        reach: how far to look around topics, likewise.
        labels: folder of its names, see `kg labels`.
    """

    graph: str | None = None
    language: str = "en"
    label_property: str | None = None
    endpoint: str | None = None
    reach: str | None = None
    labels: str | Path | None = None


MAPPED_FROM = 2_000_000
"""Facts of a saved graph with an index from which on it is not read whole."""


def load_store(where: str | None, options: StoreOptions) -> Store | None:
    """The store at `mapped:FOLDER` or `sparql:URL`, or of a large saved graph with an index.

    Returns:
        None for what is read whole.

    Raises:
        JaxkgError: there is none, or the options do not fit.
    """
    kind, _, rest = (where or "").partition(":")
    if kind == "sparql":
        from jaxkg.kg.stores.endpoint import Endpoint, EndpointSettings
        from jaxkg.kg.stores.patterns import Patterns
        from jaxkg.kg.stores.sparql import SparqlStore

        settings = settings_of(EndpointSettings, options.endpoint, "--endpoint")
        named = Patterns(options.graph, options.language.lower())
        if options.label_property:
            named = dataclasses.replace(named, labels=(options.label_property,), aliases=())
        store = SparqlStore(Endpoint(rest, settings), named)
        if options.labels is not None:
            from jaxkg.kg.stores.sparql import open_labels

            store.labels = open_labels(store, options.labels)
        return store
    given = dataclasses.replace(options, reach=None)
    if given != StoreOptions():
        raise JaxkgError(
            "--graph, --language, --label-property, --endpoint and --labels are of --kg sparql:URL"
        )
    from jaxkg.kg.stores.arrays import facts_of, has_index
    from jaxkg.kg.stores.changed import open_store

    if kind == "mapped":
        return open_store(rest)
    if where is not None and has_index(where) and facts_of(where) >= MAPPED_FROM:
        return open_store(where)
    return None


def settings_of(kind: type[T], text: str | None, option: str) -> T:
    """Settings as an option writes them, NAME=VALUE with commas between.

    Raises:
        JaxkgError: one is unknown, or of the wrong kind.

    >>> from jaxkg.kg.stores.around import Reach
    >>> settings_of(Reach, "hops=2,fan=100", "--reach").fan
    100
    """
    wishes: dict[str, str] = {}
    for setting in filter(None, (text or "").split(",")):
        name, equals, value = setting.partition("=")
        if not equals:
            raise JaxkgError(f"{option} {setting}: write it NAME=VALUE, separated by commas")
        wishes[name.strip().replace("-", "_")] = value.strip()
    return settings_made(kind, wishes)


def parts_of(
    kg: str | Path | None,
    reading: FileOptions,
    stores: StoreOptions | None,
    show: Callable[[str, int, int], None],
    **options: Any,
) -> Parts:
    """Parts of a graph that is read, or of a store; `options` are further fields of `Parts`.

    Raises:
        JaxkgError: see `load_graph` and `load_store`; or a store where a graph is read whole.
    """
    from jaxkg.kg.stores.around import Reach

    store = None if stores is None else load_store(None if kg is None else str(kg), stores)
    if store is None:
        if str(kg).startswith(("sparql:", "mapped:")):
            raise JaxkgError(f"--kg {kg}: a store is asked by ask, chat, eval, serve and mcp alone")
        return Parts(load_graph(kg, reading, show=show), show, **options)
    assert stores is not None
    reach = settings_of(Reach, stores.reach, "--reach")
    return Parts(store.schema, show, store=store, reach=reach, **options)
