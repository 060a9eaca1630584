"""Numbers and booleans of a config: exact types within their ranges, or spelled by a variable."""

from __future__ import annotations

from typing import Annotated

from .constraints import Limits
from .interpolation import from_variable
from .records import Shape, converted


def integer(least: int, most: int | None = None) -> Shape:
    """An integer of ``least`` to ``most``."""
    return _or_reference({"type": "int", "ge": least, **({} if most is None else {"le": most})})


def _or_reference(shape: Shape) -> Shape:
    """In the published schema, a reference may stand where a number or boolean is wanted."""
    return converted({**shape, "strict": True}, from_variable, reference=True)


FLAG = _or_reference({"type": "bool"})
COUNT = integer(1)
ITERATIONS = integer(1, 100)
MILLISECONDS = integer(1, 3_600_000)
RESULT_BYTES = integer(1024, 1024**3)
SECONDS = _or_reference({"type": "float", "gt": 0, "le": 3600})
FRACTION = _or_reference({"type": "float", "ge": 0, "le": 1})
TEMPERATURE = _or_reference({"type": "float", "ge": 0, "le": 2})

Count = Annotated[int, Limits(1)]
Iterations = Annotated[int, Limits(1, 100)]
Milliseconds = Annotated[int, Limits(1, 3_600_000)]
ResultBytes = Annotated[int, Limits(1024, 1024**3)]
Seconds = Annotated[float, Limits(above=0, most=3600)]
Fraction = Annotated[float, Limits(0, 1)]
Temperature = Annotated[float, Limits(0, 2)]
