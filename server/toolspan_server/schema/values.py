"""Numbers and booleans of a config: exact types within their ranges, or spelled by a variable."""

from __future__ import annotations

from typing import Any

from ..problems import Path
from .interpolation import FromVariable
from .records import Shape, converted


def _from_variable(value: Any, info: Any) -> Any:
    """What ``${VAR}`` gave as text becomes the number or boolean that it spells; nothing else does."""
    if not isinstance(value, FromVariable):
        return value
    noted: set[Path] | None = info.context
    if noted is not None:
        noted.add(value.path)
    return value.spelled


def integer(least: int, most: int | None = None) -> Shape:
    """An integer of ``least`` to ``most``."""
    return _or_reference({"type": "int", "ge": least, **({} if most is None else {"le": most})})


def _or_reference(shape: Shape) -> Shape:
    """In the published schema, a reference may stand where a number or boolean is wanted."""
    return converted({**shape, "strict": True}, _from_variable, reference=True)


FLAG = _or_reference({"type": "bool"})
COUNT = integer(1)
ITERATIONS = integer(1, 100)
MILLISECONDS = integer(1, 3_600_000)
RESULT_BYTES = integer(1024, 1024**3)
SECONDS = _or_reference({"type": "float", "gt": 0, "le": 3600})
FRACTION = _or_reference({"type": "float", "ge": 0, "le": 1})
TEMPERATURE = _or_reference({"type": "float", "ge": 0, "le": 2})
