"""What models do not take of a request, learned from the provider's own words and remembered for each model.

A refused setting is left out of the body, wherever it is: at the top, within the settings of a format
(``generationConfig``), or beside the schema of every tool. A limit of tokens goes on under its other name;
one that the request did not ask for is lowered to what the context has room for. The choice of a service
(``service_tier``) stays, since without it the answer would have another price; only a word for the standard
service is left out, as a provider that refuses that has no other.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, TypeGuard

from ...errors import ContextOverflowError, ProviderError
from ...formats.shared.settings import USUAL_TIERS
from .json_types import is_list

MAX_ROUNDS = 4
"""How many settings of one request may turn out not to be taken."""

_NEEDED = frozenset(
    {
        "contents",
        "input",
        "instructions",
        "messages",
        "model",
        "system",
        "systeminstruction",
        "toolconfig",
        "tools",
    }
)
_OTHER_NAMES = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_STREAM = "stream"


class Adjustments:
    """The settings that ``provider`` refused, for each model, as long as the provider is in use."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._refused: defaultdict[str, dict[str, str]] = defaultdict(dict)

    def rounds(self, model: str, *, limited: bool = False) -> Rounds:
        """The attempts to have one request to ``model`` taken. ``limited``: it asks for a limit of tokens."""
        return Rounds(self._provider, model, self._refused[model], limited=limited)


class Rounds:
    """The attempts of one request. ``refused`` has a note on each setting that was refused; ``notes`` are
    those on what is left out of this one, and on what is newly sent under another name, for people to read.
    """

    def __init__(self, provider: str, model: str, refused: dict[str, str], *, limited: bool = False) -> None:
        self._limited = limited
        self._room: int | None = None
        self._new: tuple[str, ...] = ()
        self._left_out: tuple[str, ...] = ()
        self._provider = provider
        self._model = model
        self._refused = refused
        self._body: dict[str, Any] = {}
        self._left = MAX_ROUNDS

    @property
    def whole(self) -> bool:
        """Whether the model's answer cannot be streamed."""
        return _STREAM in self._refused

    @property
    def notes(self) -> tuple[str, ...]:
        """What is left out, by name."""
        whole = (self._refused[_STREAM],) if self.whole else ()
        return tuple(dict.fromkeys((*whole, *self._left_out, *self._new)))

    def applied(self, body: dict[str, Any]) -> dict[str, Any]:
        """``body`` as the model takes it, as far as that is known."""
        refused = list(self._refused)
        there = [name for name in refused if any(_places(body, name))]
        self._left_out = tuple(self._refused[name] for name in there if not _other_name(body, name, refused))
        for name in refused:
            _change(body, name, refused)
        for name in _OTHER_NAMES if self._room else ():
            if name in body:
                body[name] = self._room
        self._body = body
        return body

    def cured(self, error: ProviderError) -> bool:
        """Whether to send the request again, changed: ``error`` names a setting that can be left out."""
        if isinstance(error, ContextOverflowError):
            return self._makes_room(error)
        name = error.parameter
        if error.fault != "parameter" or not name or name in self._refused or not self._left:
            return False
        places = list(_places(self._body, name))
        if (name != _STREAM and not places) or any(_chooses_service(*place) for place in places):
            return False
        self._left -= 1
        self._refused[name] = f"{self._note(name)}: {error.message}"
        self._new = (*self._new, self._refused[name])
        return True

    def _makes_room(self, error: ContextOverflowError) -> bool:
        """Whether the request fits its context with a lower limit than the one that was added to it."""
        counted, most = error.counted_tokens, error.maximum_tokens
        added = not self._limited and any(name in self._body for name in _OTHER_NAMES)
        if not added or self._room or not error.answer_tokens or counted is None or most is None:
            return False
        self._room = max(0, most - counted)
        return self._room > 0

    def _note(self, name: str) -> str:
        if name == _STREAM:
            return f"{self._provider} does not stream {self._model} with tools, its answers come whole"
        other = _other_name(self._body, name, [*self._refused])
        what = f"is sent as {other!r}" if other else "is left out"
        return f"{self._provider} does not take {name!r} for {self._model}, it {what}"


def _change(body: dict[str, Any], name: str, refused: list[str]) -> None:
    other = _other_name(body, name, refused)
    for holder, key in list(_places(body, name)):
        value = holder.pop(key)
        if other:
            holder[other] = value
    for key in [key for key, value in body.items() if value == {} and _plain(key) not in _NEEDED]:
        del body[key]


def _other_name(body: dict[str, Any], name: str, refused: list[str]) -> str:
    other = _OTHER_NAMES.get(name, "")
    return other if "messages" in body and other and other not in refused else ""


def _places(body: dict[str, Any], name: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Where ``body`` has the setting ``name``: each as the object that holds it and its key there."""
    leaf = _plain(re.split(r"[.\[]", name)[-1]) if "[" not in name else ""
    if not leaf:
        return
    for key, value in body.items():
        if _plain(key) in _NEEDED:
            continue
        if _plain(key) == leaf:
            yield body, key
        elif _is_object(value):
            yield from _within(value, leaf)
    yield from _of_tools(body.get("tools"), leaf)


def _within(settings: dict[str, Any], leaf: str) -> Iterator[tuple[dict[str, Any], str]]:
    for key, value in settings.items():
        if _plain(key) == leaf:
            yield settings, key
        elif _is_object(value) and _plain(key) not in ("schema", "jsonschema", "responsejsonschema"):
            yield from _within(value, leaf)


def _of_tools(tools: Any, leaf: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The setting beside each tool's schema, never within it."""
    for tool in tools if is_list(tools) else ():
        for holder in (tool, tool.get("function"), tool.get("toolSpec")) if _is_object(tool) else ():
            if _is_object(holder):
                yield from ((holder, key) for key in holder if _plain(key) == leaf and key in _TOOL_SETTINGS)


_TOOL_SETTINGS = frozenset(
    {
        "allowed_callers",
        "cache_control",
        "defer_loading",
        "eager_input_streaming",
        "output_schema",
        "strict",
    }
)


def _chooses_service(holder: dict[str, Any], key: str) -> bool:
    chosen = holder[key].get("type") if _is_object(holder[key]) else holder[key]
    return _plain(key) == "servicetier" and chosen not in USUAL_TIERS


def _plain(key: str) -> str:
    """A key without the differences between spellings: ``maxTokens`` is ``max_tokens``."""
    return key.replace("_", "").lower()


def _is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)
