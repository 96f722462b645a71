"""A graph seen as tables, which SELECTs are written over."""

from jaxkg.kg.relational.build import Relational
from jaxkg.kg.relational.table import NAME, Column, Table

__all__ = ["NAME", "Column", "Relational", "Table"]
