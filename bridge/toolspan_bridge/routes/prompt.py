"""The prompt of a rule: a template whose placeholders are filled for one question."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from toolspan_server.config import (
    PLACEHOLDER,
    PREVIOUS_MESSAGES,
    RAG_CONTEXT,
    USER_MESSAGE,
)

from ..errors import UsageError
from ..messages import Assistant, Message, User

MOST_MESSAGES = 20
MOST_CHARACTERS = 20_000
_PLACEHOLDER = re.compile(PLACEHOLDER)
_USER_LINE = re.compile(r"(?:user|question|message|query)?\s*:?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PromptValues:
    """What fills a prompt beside the message itself: ``profile`` by name, the passages of documents, and the
    conversation so far."""

    profile: Mapping[str, str] = field(default_factory=dict[str, str])
    rag_context: str = ""
    previous_messages: str = ""


NOTHING = PromptValues()


def placeholders(prompt: str) -> frozenset[str]:
    """The names in ``prompt``."""
    return frozenset(found.group(1) for found in _PLACEHOLDER.finditer(prompt))


def system_text(prompt: str, values: PromptValues = NOTHING) -> str:
    """The system prompt in a rule's ``prompt`` template.

    The message itself is the user's turn, so the line that only introduces ``{{user_message}}`` is left out;
    within a sentence the placeholder becomes “the user's message”. Raises ``UsageError`` for a name that is
    not in the profile.
    """
    lines = (_line(line, values) for line in prompt.splitlines())
    kept = "\n".join(line for line in lines if line is not None)
    return re.sub(r"\n{3,}", "\n\n", kept).strip()


def previous_text(messages: Sequence[Message]) -> str:
    """What was said in ``messages``: the last 20 texts, at most 20,000 characters, as ``User: …`` a line."""
    said = [
        f"{'User' if isinstance(message, User) else 'Assistant'}: {message.text}"
        for message in messages
        if isinstance(message, User | Assistant) and message.text
    ]
    return "\n".join(said[-MOST_MESSAGES:])[-MOST_CHARACTERS:]


def _line(line: str, values: PromptValues) -> str | None:
    names = placeholders(line)
    if USER_MESSAGE in names and _USER_LINE.fullmatch(_PLACEHOLDER.sub("", line).strip()):
        return None
    known = {
        **values.profile,
        USER_MESSAGE: "the user's message",
        RAG_CONTEXT: values.rag_context,
        PREVIOUS_MESSAGES: values.previous_messages,
    }
    if missing := sorted(names - known.keys()):
        name = missing[0]
        raise UsageError(
            f"the route's prompt wants {{{{{name}}}}}, which the profile lacks: give --profile {name}=…, or "
            f"set profile.{name} in the config"
        )
    return _PLACEHOLDER.sub(lambda found: known[found.group(1)], line)
