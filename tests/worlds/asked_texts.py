"""Requests of a single message, a form to reply in, and a model that says it louder."""

from pathlib import Path

from pydantic import BaseModel

from jaxkg.adjudicate import Message, Request

ROOT = Path(__file__).parent.parent.parent
"""Where another process finds the package."""


class Chosen(BaseModel):
    """A reply of numbers."""

    indices: list[int]


def ask_for(text, **options):
    return Request((Message("user", text),), **options)


def upper(request):
    return request.messages[-1].content.upper()
