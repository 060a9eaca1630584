"""``{json: {path: $.total, is: 6.75}}``: the answer is JSON, and what the JSONPath finds in it fits."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from typing_extensions import override

from ....providers.wire.json_types import is_object
from ..arguments import check_expected, fits, told

_FENCE = "```"


@dataclass(frozen=True, slots=True)
class JsonRule:
    """A value at ``path`` fits ``wanted``, which is written as an argument's is."""

    path: str
    wanted: Any

    def holds(self, text: str) -> bool:
        """Whether ``text``, or the one code fence in it, is such JSON."""
        import jsonpath

        try:
            value = json.loads(_json_of(text))
            found = _compiled(self.path).findall(value)
        except (ValueError, RecursionError, jsonpath.JSONPathError):
            return False
        return any(fits(self.wanted, each) for each in found)

    @property
    def data(self) -> dict[str, Any]:
        """The rule as a suite's file has it."""
        return {"json": {"path": self.path, "is": self.wanted}}

    @override
    def __str__(self) -> str:
        return f"have at {self.path} what was {told(self.wanted)}"


def json_value(operand: object) -> JsonRule:
    """The rule of ``{json: operand}``. Raises ``ValueError``."""
    if not is_object(operand) or set(operand) != {"path", "is"} or not isinstance(operand["path"], str):
        raise ValueError(f"json needs {{path: JSONPath, is: value}}, not {operand!r}")
    _compiled(operand["path"])
    check_expected(operand["is"])
    return JsonRule(operand["path"], operand["is"])


def _json_of(text: str) -> str:
    parts = text.split(_FENCE)
    return parts[1].partition("\n")[2] if len(parts) == 3 else text


@lru_cache(maxsize=256)
def _compiled(path: str) -> Any:
    import jsonpath

    try:
        compiled: Any = jsonpath.JSONPathEnvironment(strict=True).compile(path)
    except (jsonpath.JSONPathError, RecursionError) as error:
        reason = str(error.args[0]).splitlines()[0] if error.args else "it cannot be read"
        raise ValueError(f"{path!r} is no JSONPath (RFC 9535): {reason}") from None
    if "?" in path:
        raise ValueError(f"{path!r} has a filter, which is not taken here")
    return compiled
