"""Number types with ranges that several config keys have in common."""

from __future__ import annotations

from typing import Annotated

from .constraints import Limits

Count = Annotated[int, Limits(1)]
Iterations = Annotated[int, Limits(1, 100)]
Milliseconds = Annotated[int, Limits(1, 3_600_000)]
ResultBytes = Annotated[int, Limits(1024, 1024**3)]
Seconds = Annotated[float, Limits(above=0, most=3600)]
Fraction = Annotated[float, Limits(0, 1)]
Temperature = Annotated[float, Limits(0, 2)]
