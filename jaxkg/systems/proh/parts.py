"""PRoH as the command builds it."""

from __future__ import annotations

from jaxkg.errors import JaxkgError
from jaxkg.kg.hypergraph.store import open_hypergraph
from jaxkg.systems.parts import Parts
from jaxkg.systems.proh.retrieval import RetrievalSettings
from jaxkg.systems.proh.settings import PROH, PROH_L, ProhSettings
from jaxkg.systems.proh.system import ProhQA


def from_parts(parts: Parts) -> ProhQA:
    """The variant that `variant` names, over the hypergraph named or the facts of the graph.

    Without a language model nothing is planned: the settings are those of retrieval alone.

    Raises:
        JaxkgError: no such variant.
    """
    graph = parts.kg if parts.hypergraph is None else open_hypergraph(parts.hypergraph)
    if parts.backend is None:
        encoder = parts.encoder
        built = ProhQA.build(graph, encoder, retrieval=parts.settings(RetrievalSettings))
    else:
        variants = {"proh": PROH, "proh-l": PROH_L}
        if (named := parts.wishes.pop("variant", "proh-l")) not in variants:
            raise JaxkgError(f"the variant of proh is {' or '.join(variants)}, not {named!r}")
        encoder = parts.encoder
        settings = parts.settings(ProhSettings, **vars(variants[named]))
        built = ProhQA.build(graph, encoder, backend=parts.backend, settings=settings)
    parts.asked = built.graph
    return built
