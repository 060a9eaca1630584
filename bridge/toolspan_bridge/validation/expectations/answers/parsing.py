"""The rules of an ``answer``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from ....providers.wire.json_types import is_object
from .json_value import JsonRule, json_value
from .number import NumberRule, number
from .text import TextRule, containing, matching

AnswerRule = TextRule | NumberRule | JsonRule
"""A rule: whether it ``holds`` of a text; as a string it is what the text does, ``contain 'Paris'``."""

_FORMS: Mapping[str, Callable[[object], AnswerRule]] = MappingProxyType(
    {"contains": containing, "matches": matching, "number": number, "json": json_value}
)


def parse_answer_rules(value: Any) -> tuple[AnswerRule, ...]:
    """The alternatives of an ``answer``: a text, a form, or a list of these.

    Raises ``ValueError``.
    """
    entries = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else (value,)
    if not entries:
        raise ValueError("at least one alternative is needed")
    return tuple(_rule(entry) for entry in entries)


def _rule(value: Any) -> AnswerRule:
    if isinstance(value, TextRule | NumberRule | JsonRule):
        return value
    if isinstance(value, str):
        return containing(value)
    if is_object(value) and len(value) == 1:
        ((name, operand),) = value.items()
        if name in _FORMS:
            return _FORMS[name](operand)
    raise ValueError(
        f"a string, {{contains: …}}, {{matches: …}}, {{number: …}}, {{json: …}} or a list of these is "
        f"needed, not {value!r} (put a number in quotes)"
    )
