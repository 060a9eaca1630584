"""Arguments as the tool is to get them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, cast

from ...common.json_values import (
    JsonSanitizer,
    NotJson,
    OverBudget,
    dotted,
    is_small,
    refused,
)
from ...errors import InvalidParameters
from ...schema.json_schema_faults import type_name
from ._check import Check
from ._defined_names import defined_by
from ._normalise import Finish, finisher

MAX_BYTES = 1_000_000
"""Largest arguments of one call, in bytes of JSON (escapes not counted)."""

MAX_VALUES = 10_000
"""Most values in the arguments of one call: each object, array, text, number counts as one."""

MAX_NAME = 1_024
"""Longest parameter name, in characters."""


class Parameters:
    """A tool's parameters: JSON Schema 2020-12, compiled once, when first needed.

    ``schema`` has been found right when the config was read. Without ``fill_defaults`` the tool gets only
    what the caller gives.
    """

    def __init__(self, schema: Mapping[str, Any], *, fill_defaults: bool = True) -> None:
        self._schema = schema
        self._fill_defaults = fill_defaults

    @cached_property
    def _check(self) -> Check:
        return Check(self._schema)

    @cached_property
    def _keeps(self) -> Callable[[str], bool] | None:
        return defined_by(self._schema).keeper()

    @cached_property
    def _finish(self) -> Finish | None:
        return finisher(self._schema, fill_defaults=self._fill_defaults)

    def accept(self, arguments: Any) -> dict[str, Any]:
        """A copy of ``arguments`` (a JSON object) as the tool is to get it.

        Parameters that the schema does not define are left out, unless it says anything about
        additional ones; defaults are filled in, if any are to be; ``2.0`` is ``2`` where the schema wants
        an integer.

        Raises ``InvalidParameters`` with each fault, of many the first.
        """
        kept = self._kept(_plain(arguments))
        if faults := self._check.faults(kept):
            raise InvalidParameters(faults)
        if self._finish is None:
            return kept
        try:
            return cast("dict[str, Any]", self._finish(kept))
        except RecursionError:
            raise InvalidParameters(["the defaults of the tool's schema contain themselves"]) from None

    def _kept(self, arguments: dict[str, Any]) -> dict[str, Any]:
        keeps = self._keeps
        if keeps is None or all(map(keeps, arguments)):
            return arguments
        return {name: value for name, value in arguments.items() if keeps(name)}


def _plain(arguments: Any) -> dict[str, Any]:
    if is_small(arguments):
        return dict(arguments)
    if not isinstance(arguments, Mapping):
        raise InvalidParameters([f"the arguments must be an object (got {type_name(arguments)})"])
    sanitizer = JsonSanitizer(MAX_VALUES, MAX_BYTES, on_surrogate=refused, max_key=MAX_NAME)
    given = cast("Mapping[str, Any]", arguments)
    try:
        copied = cast("dict[str, Any]", sanitizer.copy(given if isinstance(given, dict) else dict(given)))
    except NotJson as fault:
        subject = f"'{dotted(fault.path)}'" if fault.path else "the arguments object"
        raise InvalidParameters([f"{subject} {fault.what}"]) from None
    except OverBudget as limit:
        raise InvalidParameters([f"the arguments are larger than the limit of {limit}"]) from None
    return copied
