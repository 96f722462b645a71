"""Printing as a mixin: an answer is text for a terminal and HTML for a notebook by itself."""

from __future__ import annotations

from jaxkg.show.render import html, text
from jaxkg.show.shown import Shown


class Printed:
    """Gives whatever is `Shown` its `str()` and its picture in a notebook."""

    def __str__(self: Shown) -> str:
        return text(self)

    def _repr_html_(self: Shown) -> str:
        return html(self)
