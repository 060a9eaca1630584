"""Made-up tools for long lists."""

from __future__ import annotations

from collections.abc import Sequence

from .choices import Choices
from .english import sentence, words_of
from .subjects import Subject

_VERBS = ["archive", "rename", "approve", "duplicate", "share", "review", "tag", "restore"]
_THINGS = words_of(
    "invoice subscription coupon shipment warehouse supplier warranty playlist podcast recipe reservation "
    "appointment prescription vaccine greenhouse tractor orchard beehive vessel container lighthouse tide "
    "marathon tournament league referee medal telescope satellite asteroid laboratory specimen fossil "
    "museum exhibit sculpture orchestra rehearsal violin costume theatre lease mortgage plumber scaffold"
)


def distractors(number: int, tools: Sequence[Subject], choices: Choices) -> list[Subject]:
    """``number`` tools that have nothing to do with ``tools``, by name."""
    about = {word for tool in tools for word in tool.words}
    free = [thing for thing in _THINGS if thing not in about]
    named = [(verb, thing) for thing in free for verb in _VERBS]
    chosen = choices.of("others").shuffled(named)[:number]
    return sorted((_tool(*each) for each in chosen), key=lambda tool: tool.name)


def _tool(verb: str, thing: str) -> Subject:
    key = f"{thing}_id"
    schema = {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}
    article = "an" if thing[0] in "aeiou" else "a"
    return Subject(f"{verb}_{thing}", f"{sentence(verb)} {article} {thing}", schema)
