"""Graphs that are asked in parts, as options name them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jaxkg.errors import JaxkgError
from jaxkg.experiments.loading import FileOptions, load_graph
from jaxkg.experiments.parts import Parts, settings_made

if TYPE_CHECKING:
    from jaxkg.kg.stores.store import Store

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
            from jaxkg.kg.stores.kept_labels import open_labels

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
            raise JaxkgError(f"{option} {setting}: write it NAME=VALUE, with commas between")
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
