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
from ._costs import MAX_STEPS, MAX_VISITS, Costs
from ._piecewise_check import MAX_FOUND, TOO_LARGE, Search
from ._simple_values import Fits, certain_fit

if TYPE_CHECKING:
    from jsonschema_rs import Validator


class Check:
    """What is wrong with values by ``schema``, a checked JSON Schema 2020-12; compiled when first needed.

    That is with the first value for which the check without a compiler is inconclusive. ``visits`` is how
    much an estimate of a check's cost may look at: more for values that are checked beside the event loop.
    """

    def __init__(
        self, schema: Mapping[str, Any], names: ValueNames = ARGUMENTS, visits: int = MAX_VISITS
    ) -> None:
        self._schema = schema
        self._names = names
        self._visits = visits

    @cached_property
    def _fits(self) -> Fits | None:
        return certain_fit(self._schema)

    @cached_property
    def _validator(self) -> Validator:
        return compile_schema(self._schema)

    @cached_property
    def _costs(self) -> Costs:
        return Costs(self._schema, self._visits)

    @cached_property
    def _is_bounded(self) -> bool:
        return self._costs.is_bounded()

    def compile(self) -> None:
        """Compile the schema now. Raises what ``compile_schema`` raises."""
        _ = self._validator

    def faults(self, value: Any) -> list[str]:
        """Each fault in words, at most ``MAX_FAULTS`` and that there are more; none when ``value`` is valid.

        A value that would take too long to check is at fault for that.
        """
        if self._fits is not None:
            if self._fits(value):
                return []
            self._fits = None
        validator = self._validator
        if not self._is_bounded and self._costs.too_many(value):
            return [f"{self._names.whole} would take more than the limit of {MAX_STEPS:,} steps to check"]
        if validator.is_valid(value):
            return []
        if self._costs.most_faults(self._schema, value) <= MAX_FOUND:
            return fault_messages(validator.iter_errors(value), self._names)
        if not self._costs.has_pieces():
            return [f"{self._names.whole} must fit the schema, {TOO_LARGE}"]
        return first_faults(Search(self._schema, self._costs, self._names).faults(value))
