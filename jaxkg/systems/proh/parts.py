"""PRoH as the command builds it."""

from __future__ import annotations

from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.kg.hypergraph.store import open_hypergraph
from jaxkg.kg.hypergraph.text import hypergraph_of_text
from jaxkg.systems.parts import Parts
from jaxkg.systems.proh.passages import WHOLE, PassagesQA
from jaxkg.systems.proh.retrieval import RetrievalSettings
from jaxkg.systems.proh.settings import PROH, PROH_L, ProhSettings
from jaxkg.systems.proh.system import ProhQA


def from_parts(parts: Parts) -> ProhQA | PassagesQA:
    """The variant that `variant` names, over the hypergraph named or the facts of the graph.

    Questions that bring passages are asked over these, where no hypergraph is named. Without a
    language model nothing is planned: the settings are those of retrieval alone.

    Raises:
        JaxkgError: no such variant.
    """
    options: dict[str, Any]
    if parts.backend is None:
        encoder = parts.encoder
        options = {"retrieval": parts.settings(RetrievalSettings)}
    else:
        variants = {"proh": PROH, "proh-l": PROH_L}
        if (named := parts.wishes.pop("variant", "proh-l")) not in variants:
            raise JaxkgError(f"the variant of proh is {' or '.join(variants)}, not {named!r}")
        encoder = parts.encoder
        settings = parts.settings(ProhSettings, **vars(variants[named]) | {"repair": parts.repair})
        options = {"backend": parts.backend, "settings": settings}
    if parts.hypergraph is None and parts.passages:
        parts.asked = hypergraph_of_text(parts.passages, longest=WHOLE)
        return PassagesQA(encoder, **options)
    graph = parts.kg if parts.hypergraph is None else open_hypergraph(parts.hypergraph)
    built = ProhQA.build(graph, encoder, **options)
    parts.asked = built.graph
    return built
