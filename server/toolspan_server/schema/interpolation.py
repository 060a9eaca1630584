"""``${VAR}`` in a config's string values.

``${VAR}`` is the variable's value; unset or empty is a fault. ``${VAR:-default}`` takes the default
then. ``$${`` stands for a literal ``${``. ``${env:VAR}``, as other MCP clients write it, is
``${VAR}``. Keys are never changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from ..problems import Fault, Path, cut
from .variables import substituted

_CONVERTIBLE = re.compile(r"[-+]?[0-9]{1,18}(?:\.[0-9]{1,18})?\Z|true\Z|false\Z")
_SHOWN = 30
_MALFORMED = "write ${NAME} or ${NAME:-default}, and $${ where a literal ${ is meant"


class FromVariable(str):
    """A string at ``path`` that came from a variable and can be read as a number or boolean."""

    path: Path = ()

    @property
    def spelled(self) -> int | float | bool:
        """The number or boolean that the string spells."""
        if self in ("true", "false"):
            return self == "true"
        return float(self) if "." in self else int(self)


def from_variable(value: Any, info: Any) -> Any:
    """The number or boolean that a variable spells, else the data; ``info.context`` records the path."""
    if not isinstance(value, FromVariable):
        return value
    noted: set[Path] | None = info.context
    if noted is not None:
        noted.add(value.path)
    return value.spelled


@dataclass(frozen=True, slots=True)
class Used:
    """A use of the variable ``name``: its ``value`` is in the string at ``path``."""

    path: Path
    name: str
    value: str


@dataclass(slots=True)
class Interpolated:
    """The outcome of interpolating one file's data.

    ``written`` has each changed text, as in the file and as it is now.
    """

    faults: list[Fault] = field(default_factory=list[Fault])
    written: dict[Path, tuple[str, str]] = field(default_factory=dict[Path, "tuple[str, str]"])
    used: list[Used] = field(default_factory=list[Used])


def interpolate(
    data: Any, environ: Mapping[str, str], is_served: Callable[[Path], bool] = lambda _: False
) -> Interpolated:
    """Replace every reference in ``data``, in place, by its value in ``environ``.

    ``is_served`` returns whether the text at a path is meant for clients: it always stays text then.
    """
    outcome = Interpolated()
    if isinstance(data, dict | list):
        _Interpolator(environ, outcome, is_served).within(cast("dict[str, Any] | list[Any]", data), [])
    return outcome


@dataclass(slots=True)
class _Interpolator:
    environ: Mapping[str, str]
    outcome: Interpolated
    is_served: Callable[[Path], bool]

    def within(self, container: dict[str, Any] | list[Any], path: list[str | int]) -> None:
        items: Any = container.items() if isinstance(container, dict) else enumerate(container)
        for key, value in items:
            if isinstance(value, str):
                if "${" in value:
                    cast("Any", container)[key] = self._replaced(value, (*path, key))
            elif isinstance(value, dict | list):
                path.append(key)
                self.within(cast("dict[str, Any] | list[Any]", value), path)
                path.pop()

    def _replaced(self, text: str, path: Path) -> str:
        failures: list[Fault] = []
        used: list[Used] = []

        def value(name: str, default: str | None) -> str:
            found = self.environ.get(name, "")
            if found:
                used.append(Used(path, name, found))
                return found
            if default is None:
                state = "empty" if name in self.environ else "not set"
                hint = f"set {name}, or write ${{{name}:-default}}"
                failures.append(Fault(path, f"environment variable {name} is {state}", hint))
            return default or ""

        def malformed(at: int) -> str:
            message = f"{cut(text[at : at + 2 * _SHOWN], _SHOWN)!r} names no variable"
            failures.append(Fault(path, message, _MALFORMED))
            return ""

        result = substituted(text, value, malformed, escapes=True)
        self.outcome.faults.extend(failures)
        if failures:
            return text
        self.outcome.written[path] = (text, result)
        self.outcome.used.extend(used)
        if self.is_served(path) or not _CONVERTIBLE.match(result):
            return result
        convertible = FromVariable(result)
        convertible.path = path
        return convertible


def names_of(outcomes: Sequence[Interpolated]) -> dict[str, str]:
    """Each value that came from a variable, mapped to the reference in the file."""
    uses = [use for outcome in outcomes for use in outcome.used]
    return {use.value: f"${{{use.name}}}" for use in uses if use.value not in ("true", "false")}
