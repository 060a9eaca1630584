"""The inputs of a registry entry: fixed values, defaults, what a person is asked for, else ``${VAR}``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from ....errors import UsageError
from ._variables import variable_name

_MOST = 200
_HOLE = re.compile(r"(?<!\$)\{([^{}$]+)\}")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A value that a person may give: of the input ``name``, with what the entry says about it."""

    name: str
    description: str
    choices: Sequence[str] = ()
    placeholder: str = ""


Ask = Callable[[Wanted], str | None]
"""The value that a person gives; ``None`` when there is none to ask, or none is given."""


@dataclass(slots=True)
class Inputs:
    """Fills inputs: with the values ``given`` by name, the entry's own, those that ``ask`` gets for required
    ones, and ``${VAR}`` for secrets and for what nobody gave.

    ``left`` are the variables to be set, each with its description.
    """

    given: Mapping[str, str] = field(default_factory=dict[str, str])
    ask: Ask = lambda _: None
    left: dict[str, str] = field(default_factory=dict[str, str])
    used: set[str] = field(default_factory=set[str])

    def pairs(self, source: Mapping[str, Any], key: str, what: str) -> dict[str, str]:
        """The environment variables or headers under ``key`` that have a value."""
        found: dict[str, str] = {}
        for item in objects(source, key):
            name = item.get("name")
            if not isinstance(name, str) or not name:
                raise UsageError(f"a {what} of the registry entry has no name")
            if (value := self._value(item, name)) is not None:
                found[name] = value
        return found

    def arguments(self, source: Mapping[str, Any], key: str) -> list[str]:
        """The arguments under ``key`` that have a value; a flag and its value are two."""
        found: list[str] = []
        for item in objects(source, key):
            flag = item.get("name")
            hint = _get(item, "valueHint")
            is_named = item.get("type") == "named"
            if is_named and not isinstance(flag, str):
                raise UsageError(f"a named argument in {key} of the registry entry has no name")
            label = str(flag).lstrip("-") if is_named else str(hint or "argument")
            value = self._value(item, label)
            if value is None:
                if is_named and _is_switch(item):
                    found.append(str(flag))
            elif not is_named:
                found.append(value)
            else:
                found += [str(flag), value] if value != "" else [str(flag)]
        return found

    def filled(self, text: str, variables: Sequence[Mapping[str, Any]], label: str) -> str:
        """``text`` with each ``{name}`` that is one of ``variables`` replaced; nothing else is changed."""
        known = {str(item.get("name")): item for item in variables}

        def value(found: re.Match[str]) -> str:
            item = known.get(found[1])
            if item is None:
                return found.group()
            filled = self._value({**item, "isRequired": True}, found[1])
            return "" if filled is None else filled

        return _HOLE.sub(value, _escaped(text))

    def _value(self, item: Mapping[str, Any], name: str) -> str | None:
        """The value of one input; ``None`` where it has none and needs none."""
        if (given := self.given.get(name)) is not None:
            self.used.add(name)
            return given
        fixed = item.get("value")
        if isinstance(fixed, str):
            return self.filled(fixed, objects(item, "variables"), name)
        default = item.get("default")
        secret = _get(item, "isSecret") is True
        if isinstance(default, str | int | float) and not secret:
            return _escaped(str(default))
        if _get(item, "isRequired") is not True:
            return None
        description = str(item.get("description") or "")
        if not secret:
            choices = [str(each) for each in cast("list[Any]", item.get("choices") or [])]
            wanted = Wanted(name, description, choices, str(item.get("placeholder") or ""))
            if (answer := self.ask(wanted)) is not None:
                return _escaped(answer)
        variable = variable_name(name).upper()
        self.left[variable] = description
        return f"${{{variable}}}"


def objects(source: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The objects in the list under ``key``, or in an object by name. Raises ``UsageError``."""
    found: Any = _get(source, key)
    if found is None:
        return []
    if isinstance(found, dict):
        pairs = cast("dict[str, Any]", found).items()
        found = [
            {**cast("dict[str, Any]", item), "name": name} for name, item in pairs if isinstance(item, dict)
        ]
    items = cast("Sequence[Any]", found) if isinstance(found, list) else [None]
    if not all(isinstance(item, dict) for item in items):
        raise UsageError(f"{key} of the registry entry is no list of objects")
    if len(items) > _MOST:
        raise UsageError(f"{key} of the registry entry has more than {_MOST} items")
    return cast("list[Mapping[str, Any]]", items)


def _get(source: Mapping[str, Any], key: str) -> Any:
    """``source[key]``, or under the spelling of the first schemas: ``is_required`` for ``isRequired``."""
    if key in source:
        return source[key]
    return source.get(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower())


def _is_switch(item: Mapping[str, Any]) -> bool:
    """Whether a flag without a value is meant as it stands."""
    return item.get("format") is None and "value" not in item and _get(item, "isRequired") is True


def _escaped(text: str) -> str:
    return text.replace("${", "$${")
