"""Conversations in forms that others read: a function each, from a log to a text."""

from __future__ import annotations

from collections.abc import Callable

from ..log import Log
from .markdown import markdown
from .one_file import one_file
from .openai_messages import openai_messages

__all__ = ["EXPORTS"]

EXPORTS: dict[str, Callable[[Log], str]] = {
    "json": one_file,
    "markdown": markdown,
    "openai": openai_messages,
}
"""By name: one file of JSON, to go on with anywhere; Markdown; Chat Completions messages."""
