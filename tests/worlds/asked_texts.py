"""Requests of a single message, and a model that says it louder."""

from pathlib import Path

from jaxkg.adjudicate import Message, Request

ROOT = Path(__file__).parent.parent.parent
"""Where another process finds the package."""


def ask_for(text, **options):
    return Request((Message("user", text),), **options)


def upper(request):
    return request.messages[-1].content.upper()
