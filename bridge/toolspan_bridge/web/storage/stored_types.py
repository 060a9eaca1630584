"""The columns of the app's tables: what SQLite cannot hold is made into what it can, as it is bound.

One value that cannot be written fails a whole batch of rows, so that nothing is left to a caller's care: a
test walks all tables of the app and refuses columns of other types. Imports SQLAlchemy.
"""

from __future__ import annotations

import math
from typing import Any

from sqlalchemy import Dialect, Float, Integer, LargeBinary, Text, TypeDecorator
from typing_extensions import override

from toolspan_server.common.json_values import repaired

__all__ = ["STORED_TYPES", "StoredFloat", "StoredInteger", "StoredText"]

_LEAST, _MOST = -(2**63), 2**63 - 1


class StoredText(TypeDecorator[str]):
    r"""Text; half a surrogate pair, which UTF-8 cannot hold, is written as ``\udXXX``."""

    impl = Text
    cache_ok = True

    @override
    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return value if value is None or value.isascii() else repaired(value)


class StoredInteger(TypeDecorator[int]):
    """A whole number of 64 bits; one beyond is the nearest."""

    impl = Integer
    cache_ok = True

    @override
    def process_bind_param(self, value: Any | None, dialect: Dialect) -> int | None:
        return None if value is None else min(max(int(value), _LEAST), _MOST)


class StoredFloat(TypeDecorator[float]):
    """A finite number; another one is 0."""

    impl = Float
    cache_ok = True

    @override
    def process_bind_param(self, value: float | None, dialect: Dialect) -> float | None:
        if value is None:
            return None
        try:
            number = float(value)
        except OverflowError:
            return 0.0
        return number if math.isfinite(number) else 0.0


STORED_TYPES = (StoredText, StoredInteger, StoredFloat, LargeBinary)
"""The types that a column may have."""
