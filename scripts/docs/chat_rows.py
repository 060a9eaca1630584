"""What each provider of Chat Completions takes, for docs/reference/formats.md, from its row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolspan_bridge.messages.chat_traits import ChatTraits
from toolspan_bridge.providers.compatible.row import Row
from toolspan_bridge.providers.compatible.rows import row_names, row_of

from .recordings import recorded_by_provider

HEADS = (
    "provider",
    "reasoning sent back",
    "effort",
    "caching",
    "images of results",
    "ids of calls",
    "order",
    "schema of the answer",
    "forced calls",
    "proof",
)
ABOUT = """\
What a request by Chat Completions holds for each provider. Reasoning goes back with the turns of calls: with
others too where it says "all turns", and as a blank in the turns of other models where it says "never
missing". A schema of the answer that goes nowhere else stands in the system prompt, and so it does beside
tools where that is not marked.
"""


def rows() -> Iterator[Sequence[str]]:
    """A line for each provider, and one for each group of its models that differs."""
    for name in row_names():
        row = row_of(name)
        if "openai" in (row.format, row.other):
            yield from _lines(name, row)


def _lines(name: str, row: Row) -> Iterator[Sequence[str]]:
    proof = recorded_by_provider(name)
    yield (f"`{name}`", *_cells(row.chat), proof)
    for pattern, traits in row.chat_of:
        yield (f"`{name}`, models `{pattern}`", *_cells(traits), proof)


def _cells(chat: ChatTraits) -> Iterator[str]:
    yield _echo(chat)
    yield _effort(chat)
    yield "`prompt_cache_key`" if chat.cache_key else "by itself"
    yield "in a message after it" if chat.user_after_tool else "in the result"
    yield "up to 40 characters" if chat.call_ids == "any" else "nine letters and digits"
    yield "any" if chat.user_after_tool else "no user after a result"
    yield _structured(chat)
    yield "yes" if chat.forces_calls else "–"


def _echo(chat: ChatTraits) -> str:
    fields = [f"`{field}`" for field in chat.echoed]
    fields += ["`extra_content`"] if chat.echoes_call_state else []
    more = ["all turns"] if chat.echoes_text_turns else []
    more += ["never missing"] if chat.demanded else []
    return ", ".join(fields) + (f" ({', '.join(more)})" if more else "") if fields else "–"


def _effort(chat: ChatTraits) -> str:
    values = ", ".join(chat.efforts)
    match chat.effort:
        case "":
            return "–"
        case "thinking":
            return "`thinking` on or off" + (f", `reasoning_effort`: {values}" if values else "")
        case "reasoning":
            return f"`reasoning.effort`: {values}"
        case "reasoning_effort":
            return f"`reasoning_effort`: {values}"


def _structured(chat: ChatTraits) -> str:
    if not chat.structured:
        return "in words"
    return f"`{chat.structured}`" + (", beside tools too" if chat.structured_with_tools else "")
