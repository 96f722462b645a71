"""What is said of a fact: roles, weights, dates, sources, whatever the format they come from.

A fact that something is said about stays a fact, and has a node beside it, a statement:

    Keanu Reeves  acted in  The Matrix
    _:acted_in_7  subject    Keanu Reeves
    _:acted_in_7  predicate  acted in
    _:acted_in_7  object     The Matrix
    _:acted_in_7  role       Neo

RDF's statements about statements, Wikidata's qualifiers and the properties of relations in property
graphs are all kept so. A statement is a blank node and is shown as what it states.
"""

from __future__ import annotations

from typing import Final

SUBJECT: Final = "subject"
PREDICATE: Final = "predicate"
OBJECT: Final = "object"
"""What leads from a statement to the fact that it is about: its ends, and its relation as an entity
called by the relation's name."""
