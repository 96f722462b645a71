"""LOAD: knowledge graphs and questions on the host, as names and numpy arrays.

`read_graph` takes the graph a user already has, `save_graph` and `open_graph` keep it in a form
that opens at once, `KnowledgeGraph` is what every later stage reads. Nothing here touches a device.
"""

from jaxkg.kg.builtin import demo_graph, demo_questions, demo_training_questions
from jaxkg.kg.files.formats import FORMATS
from jaxkg.kg.files.read import read_graph
from jaxkg.kg.files.store import open_graph, save_graph
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.link.linker import Linker
from jaxkg.kg.link.topics import Topics, entity_rows, find_topics
from jaxkg.kg.names import AliasTable, NameTable
from jaxkg.kg.questions.read import read_questions, split_questions, write_questions

__all__ = [
    "FORMATS",
    "AliasTable",
    "KnowledgeGraph",
    "Linker",
    "NameTable",
    "Topics",
    "demo_graph",
    "demo_questions",
    "demo_training_questions",
    "entity_rows",
    "find_topics",
    "open_graph",
    "read_graph",
    "read_questions",
    "save_graph",
    "split_questions",
    "write_questions",
]
