"""Questions as a form of MCP's elicitation, and the answers in it.

A form is one object of plain fields (MCP 2026-07-28, client/elicitation): the question number ``n`` is the
field ``qn``, and ``qn_other`` is for an answer that is none of its options.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_LONGEST_ANSWER = 4_000
_OTHER = "Another answer, instead of the options"


def form_of(questions: Sequence[Mapping[str, Any]]) -> tuple[str, dict[str, Any]]:
    """The message and the schema of the form. Each option is a text or ``{"label", "description"?}``."""
    properties: dict[str, Any] = {}
    lines: list[str] = []
    for number, question in enumerate(questions, 1):
        lines += _lines(question, number if len(questions) > 1 else None)
        name, title = f"q{number}", question.get("header") or question["question"]
        field: dict[str, Any] = {"title": title, "description": question["question"]}
        labels = [_label(each) for each in question["options"]]
        if not labels:
            properties[name] = {"type": "string", **field, "maxLength": _LONGEST_ANSWER}
            continue
        if question.get("multiSelect"):
            items = {"type": "string", "enum": labels}
            properties[name] = {"type": "array", **field, "items": items}
        else:
            properties[name] = {"type": "string", **field, "enum": labels}
        other = {"type": "string", "title": _OTHER, "maxLength": _LONGEST_ANSWER}
        properties[f"{name}_other"] = other
    return "\n".join(lines), {"type": "object", "properties": properties}


def answers_of(questions: Sequence[Mapping[str, Any]], content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """``[{"question", "answer"}]`` from the ``content`` of an accepted form."""
    return [
        {"question": question["question"], "answer": _answer(question, f"q{number}", content)}
        for number, question in enumerate(questions, 1)
    ]


def _answer(question: Mapping[str, Any], name: str, content: Mapping[str, Any]) -> Any:
    chosen: Any = content.get(name)
    other = content.get(f"{name}_other")
    own = other.strip() if isinstance(other, str) else ""
    if question.get("multiSelect"):
        several: list[Any] = chosen or []
        return [*several, *([own] if own else [])] or None
    return own or chosen or None


def _lines(question: Mapping[str, Any], number: int | None) -> list[str]:
    lines = [question["question"] if number is None else f"{number}. {question['question']}"]
    options: list[str | dict[str, Any]] = question["options"]
    for option in options:
        if not isinstance(option, str) and option.get("description"):
            lines.append(f"   {option['label']}: {option['description']}")
    return lines


def _label(option: Any) -> str:
    label: str = option if isinstance(option, str) else option["label"]
    return label
