"""Values held to a schema, in bounded time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...schema.json_schema_faults import (
    ARGUMENTS,
    ValueNames,
    fault_messages,
    first_faults,
)
from ._compile import compile_schema
from ._costs import MAX_STEPS, Costs, count
from ._piecewise_check import MAX_FOUND, Search
from ._simple_values import Fits, certain_fit

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator


class Check:
    """What is wrong with values by ``schema``, a checked JSON Schema 2020-12; compiled when first needed.

    That is with the first value for which the check without a compiler is inconclusive.
    """

    def __init__(self, schema: Mapping[str, Any], names: ValueNames = ARGUMENTS) -> None:
        self._schema = schema
        self._names = names

    @cached_property
    def _fits(self) -> Fits | None:
        return certain_fit(self._schema)

    @cached_property
    def _validator(self) -> Draft202012Validator:
        return compile_schema(self._schema)

    @cached_property
    def _costs(self) -> Costs:
        return Costs(self._schema)

    @cached_property
    def _is_bounded(self) -> bool:
        return self._costs.is_bounded()

    def faults(self, value: Any) -> list[str]:
        """Each fault in words, at most ``MAX_FAULTS`` and that there are more; none when ``value`` is valid.

        A value that would take too long to check is at fault for that.
        """
        if self._fits is not None:
            if self._fits(value):
                return []
            self._fits = None
        if not self._is_bounded and self._costs.too_many(value):
            return [f"{self._names.whole} would take more than the limit of {MAX_STEPS:,} steps to check"]
        if self._validator.is_valid(value):
            return []
        if self._costs.weight(self._schema) * count(value) <= MAX_FOUND:
            return fault_messages(self._validator.iter_errors(value), self._names)
        return first_faults(Search(self._schema, self._costs, self._names).faults(value))
