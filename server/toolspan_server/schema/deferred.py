"""Records whose module is imported when there is data for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import ValidationError

from .constraints import Shape
from .faults import InvalidRecord
from .records import Record


class Deferred:
    """Stands in annotations for the record that ``load`` gives: a key that few configs have costs no start.

    if TYPE_CHECKING:
        from .auth import AuthConfig
    else:
        AuthConfig = Deferred.of(__package__, "auth", "AuthConfig")
    """

    def __init__(self, load: Callable[[], type[Record]]) -> None:
        self.load = load

    @classmethod
    def of(cls, package: str, module: str, name: str) -> Deferred:
        """The record called ``name`` in ``module`` of ``package``."""

        def load() -> type[Record]:
            from importlib import import_module

            found: type[Record] = getattr(import_module(f"{package}.{module}"), name)
            return found

        return cls(load)

    @property
    def __pydantic_core_schema__(self) -> Shape:
        function = {"type": "with-info", "function": self._read}
        return {"type": "function-plain", "function": function, "metadata": {"record": self.load}}

    def __or__(self, other: None) -> OrNull:
        return OrNull(self)

    def _read(self, value: Any, info: Any) -> Record:
        """The record of ``value``. Raises ``InvalidRecord`` for data that the record refuses."""
        if isinstance(value, Record):
            return value
        record = self.load()
        try:
            return record.model_validate(value, context=info.context)
        except ValidationError as error:
            raise InvalidRecord(record, error) from None


class OrNull:
    """Stands for a deferred record, or null."""

    def __init__(self, record: Deferred) -> None:
        self.record = record

    @property
    def __pydantic_core_schema__(self) -> Shape:
        return {"type": "nullable", "schema": self.record.__pydantic_core_schema__}


def deferred_record(shape: Mapping[str, Any]) -> type[Record] | None:
    """The record that the core schema ``shape`` defers to; ``None`` for any other schema."""
    load: Callable[[], type[Record]] | None = shape.get("metadata", {}).get("record")
    return None if load is None else load()
