"""A form, field after field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolspan_server.common.visible import visible_line

from ....client import Elicitation, Elicited, FormField
from ....client.fields import form_faults
from ..choices import print_choices
from ..output import compact, print_coloured, print_note, print_sentence
from ..questions.one_question import read_key, read_line

_KINDS = {
    "text": "",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "yes or no",
    "choice": "one by its number",
    "choices": "numbers, with commas",
}
_FORMATS = {
    "email": "an email address",
    "uri": "a URI",
    "date": "2026-07-28",
    "date-time": "2026-07-28T12:00:00Z",
}
_MARGIN = "  "
_WARNING = "What you write goes to that server. Never give it passwords, keys or card numbers."
_WIDTH = 200


async def filled_in(question: Elicitation) -> Elicited:
    """The person's answer to a form. Raises ``EOFError`` and ``KeyboardInterrupt``."""
    print_sentence(f"{question.tool} of the server {question.server!r} asks:", "yellow")
    for line in question.message.splitlines():
        print_sentence(_MARGIN + line, None)
    print_sentence(_MARGIN + _WARNING, "red")
    if not await _wants_to_answer():
        return Elicited("decline")
    content: dict[str, Any] = {}
    while True:
        for field in question.fields:
            await _fill(field, content)
        faults = form_faults(question.schema, content)
        for fault in faults:
            print_note(fault)
        if faults:
            continue
        key = await _sends(content)
        if key != "e":
            return Elicited("accept", content) if key == "s" else Elicited("decline")


async def _wants_to_answer() -> bool:
    print_choices({"a": "answer", "d": "decline", "Ctrl+D": "leave it"})
    return await read_key("answer? ", "aydn") in ("a", "y")


async def _sends(content: dict[str, Any]) -> str:
    """``s`` to send, ``e`` to edit, ``d`` to decline."""
    for name, value in content.items():
        print_coloured([(f"{_MARGIN}{name}: {compact(value, _WIDTH)}", None)])
    print_choices({"s": "send", "e": "edit", "d": "decline"})
    key = await read_key("send? ", "syedn")
    return {"y": "s", "n": "d"}.get(key, key)


async def _fill(field: FormField, content: dict[str, Any]) -> None:
    """Have ``field`` filled in; one that is not required may stay empty, and then has no value."""
    print_coloured(_described(field))
    before = content.pop(field.name, field.default)
    label = visible_line(field.title or field.name)[:_WIDTH]
    text = await read_line(f"{label}: ", field.written(before), _check(field))
    if text.strip() or (field.required and field.kind == "text"):
        content[field.name] = field.read(text)
    elif field.required and field.kind == "choices":
        content[field.name] = []


def _check(field: FormField) -> Callable[[str], str]:
    def fault(text: str) -> str:
        if not text.strip() and not field.required:
            return ""
        try:
            field.read(text)
        except ValueError as error:
            return visible_line(str(error))
        return ""

    return fault


def _described(field: FormField) -> list[tuple[str, str | None]]:
    wanted = _KINDS[field.kind] or _FORMATS.get(str(field.schema.get("format")), "")
    notes = ", ".join(filter(None, (wanted, "needed" if field.required else "may stay empty")))
    name = f"{field.title} ({field.name})" if field.title and field.title != field.name else field.name
    lines: list[tuple[str, str | None]] = [(f"{_MARGIN}{compact(name, _WIDTH)}: {notes}", "cyan")]
    if field.description:
        lines.append((f"{_MARGIN}{compact(field.description, 2 * _WIDTH)}", None))
    for number, choice in enumerate(field.choices, start=1):
        lines.append((f"{_MARGIN}  {number} {compact(choice.title, _WIDTH)}", None))
    return lines
