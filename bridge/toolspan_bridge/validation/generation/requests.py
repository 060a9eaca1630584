"""What a person wants of a tool: the arguments of one call, and how each is said."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...providers.wire.json_types import is_list, is_object
from ..expectations.arguments.comparing import ABSENT, FORMS
from .choices import Choices
from .english import label_of, listed, words_of
from .optional import content_of, says_nothing, small_extra
from .problems import NotGenerated
from .schemas import check_arguments
from .subjects import Subject
from .values import value_for

_MOST_SAID = 6
"""How many arguments a query says."""

_LONGEST = 200
_LOOSE = frozenset(
    words_of("city location place town query q search question keyword keywords topic term phrase")
)
"""What a model may put in words of its own around the value: Paris, France."""

_CALCULATED = frozenset(("expression", "formula", "calculation", "equation"))


@dataclass(frozen=True, slots=True)
class Said:
    """An argument: its ``name``, how it is called (``label``), its ``value``, and that in ``words``."""

    name: str
    label: str
    value: Any
    words: str

    @property
    def expected(self) -> Any:
        """What the suite expects of the argument."""
        last = (words_of(self.name) or [""])[-1]
        if isinstance(self.value, str) and last in _CALCULATED:
            return {"text": self.value}
        if isinstance(self.value, str) and last in _LOOSE and not self.value.startswith("SELECT"):
            return {"contains": self.value}
        return {"equals": self.value} if _looks_like_a_form(self.value) else self.value


@dataclass(frozen=True, slots=True)
class Request:
    """One call that a person wants of ``tool``."""

    tool: Subject
    said: tuple[Said, ...]

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the call."""
        return {each.name: each.value for each in self.said}

    @property
    def expected(self) -> dict[str, Any]:
        """The call as a suite expects it."""
        arguments = {each.name: each.expected for each in self.said}
        return {"tool": self.tool.name} | ({"arguments": arguments} if arguments else {})


def request_of(
    tool: Subject, choices: Choices, *, but: Sequence[Request] = (), extra: bool = False
) -> Request:
    """A request for ``tool``, with other values than those of ``but``, and with an optional argument of few
    values where ``extra`` asks for it. Raises ``NotGenerated``."""
    arguments = _of_examples(tool, choices, but) or _made(tool, choices, but)
    if says_nothing(tool, arguments):
        arguments |= content_of(tool, choices, arguments)
    elif extra:
        arguments |= small_extra(tool, choices, arguments)
    check_arguments(arguments, tool.schema)
    if len(arguments) > _MOST_SAID:
        raise NotGenerated(f"it needs {len(arguments)} arguments, which no one says in a sentence")
    return Request(tool, tuple(_said(tool, name, value) for name, value in arguments.items()))


def _of_examples(tool: Subject, choices: Choices, but: Sequence[Request]) -> dict[str, Any] | None:
    """The arguments of one of the tool's own examples that is no failure."""
    used = [each.arguments for each in but]
    for example in choices.of("example").shuffled(tool.examples):
        arguments = example.get("arguments")
        if not is_object(arguments) or "error" in example or dict(arguments) in used:
            continue
        try:
            check_arguments(arguments, tool.schema)
            ordered = {
                name: arguments[name] for name in (*tool.required, *sorted(arguments)) if name in arguments
            }
            for name, value in ordered.items():
                _said(tool, name, value)
        except NotGenerated:
            continue
        return ordered
    return None


def _made(tool: Subject, choices: Choices, but: Sequence[Request]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name in tool.required:
        others = [each.arguments[name] for each in but if name in each.arguments]
        alike = [value for value in made.values() if not isinstance(value, bool)]
        mine = choices.of(name)
        try:
            made[name] = value_for(tool.parameter(name), mine, [*others, *alike])
        except NotGenerated:
            made[name] = value_for(tool.parameter(name), mine)
    if but and made in [each.arguments for each in but]:
        raise NotGenerated("there is only one way to call it")
    return made


def _said(tool: Subject, name: str, value: Any) -> Said:
    words = said_in_words(value, name)
    if len(words) > _LONGEST or "\n" in words:
        raise NotGenerated(f"{name!r} is too long to be said in a sentence")
    return Said(name, label_of(name), value, words)


def said_in_words(value: Any, name: str) -> str:
    """``value`` as a part of a sentence. Raises ``NotGenerated`` for what cannot be said."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value:g}" if abs(value) < 1e6 else json.dumps(value)
    if isinstance(value, str) and value.strip():
        return _text(value.strip(), name)
    if is_list(value) and value:
        return listed([said_in_words(each, name) for each in value])
    if is_object(value) and value:
        return f"({', '.join(f'{label_of(key)}: {said_in_words(part, key)}' for key, part in value.items())})"
    raise NotGenerated(f"there is no way to say {value!r} for {name!r} in a sentence")


def _text(text: str, name: str) -> str:
    words = text.split()
    calculated = bool({"expression", "formula", "calculation"} & set(words_of(name)))
    plain = len(words) == 1 and "/" not in text and text[-1].isalnum()
    if calculated or plain or all(word[:1].isupper() or word[:1].isdigit() for word in words):
        return text
    return f"'{text}'" if '"' in text else f'"{text}"'


def _looks_like_a_form(value: Any) -> bool:
    if is_object(value):
        is_form = len(value) == 1 and next(iter(value)) in (*FORMS, ABSENT)
        return is_form or any(map(_looks_like_a_form, value.values()))
    return is_list(value) and any(map(_looks_like_a_form, value))


def values_said(request: Mapping[str, Any] | Any) -> list[str]:
    """The texts and numbers of arguments that a query must contain."""
    if isinstance(request, bool) or request is None:
        return []
    if is_object(request):
        return [each for part in request.values() for each in values_said(part)]
    if is_list(request):
        return [each for part in request for each in values_said(part)]
    return [request.strip() if isinstance(request, str) else said_in_words(request, "")]
