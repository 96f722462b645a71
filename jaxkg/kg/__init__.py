"""LOAD: knowledge graphs and questions on the host, as names and numpy arrays.

`read_graph` takes the graph a user already has, `save_graph` and `open_graph` keep it in a form
that opens at once, `KnowledgeGraph` is what every later stage reads. Nothing here touches a device.
"""

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.names import AliasTable, NameTable
from jaxkg.kg.read import FORMATS, read_graph
from jaxkg.kg.store import open_graph, save_graph

__all__ = [
    "FORMATS",
    "AliasTable",
    "KnowledgeGraph",
    "NameTable",
    "open_graph",
    "read_graph",
    "save_graph",
]
