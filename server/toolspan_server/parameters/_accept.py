"""Arguments as the tool is to get them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from .._plain import Copier, NotPlain, OverBudget, dotted, refused
from ..errors import InvalidParameters
from ._compile import compile_schema
from ._defined import defined_by
from ._faults import type_name, worded
from ._finish import Finish, finisher

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

MAX_BYTES = 1_000_000
"""Largest arguments of one call, in bytes of JSON (escapes not counted)."""

MAX_VALUES = 10_000
"""Most values in the arguments of one call: each object, array, text, number counts as one."""

MAX_NAME = 1_024
"""Longest parameter name, in characters."""


class Parameters:
    """A tool's parameters: JSON Schema 2020-12, compiled once, when first needed.

    ``schema`` has been found right when the config was read.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema

    @cached_property
    def _validator(self) -> Draft202012Validator:
        return compile_schema(self._schema)

    @cached_property
    def _keeps(self) -> Callable[[str], bool] | None:
        return defined_by(self._schema).keeper()

    @cached_property
    def _finish(self) -> Finish | None:
        return finisher(self._schema)

    def accept(self, arguments: Any) -> dict[str, Any]:
        """A copy of ``arguments`` (a JSON object) as the tool is to get it.

        Parameters that the schema does not define are left out, unless it says anything about
        additional ones; defaults are filled in; ``2.0`` is ``2`` where an integer is due.

        Raises ``InvalidParameters`` with every fault.
        """
        kept = self._kept(_plain(arguments))
        if not self._validator.is_valid(kept):
            raise InvalidParameters(worded(list(self._validator.iter_errors(kept))))
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
    if not isinstance(arguments, Mapping):
        raise InvalidParameters([f"the arguments must be an object (got {type_name(arguments)})"])
    copier = Copier(MAX_VALUES, MAX_BYTES, on_surrogate=refused, max_key=MAX_NAME)
    given = cast("Mapping[str, Any]", arguments)
    try:
        copied = cast("dict[str, Any]", copier.copy(given if isinstance(given, dict) else dict(given)))
    except NotPlain as fault:
        subject = f"'{dotted(fault.path)}'" if fault.path else "the arguments object"
        raise InvalidParameters([f"{subject} {fault.what}"]) from None
    except OverBudget as limit:
        raise InvalidParameters([f"the arguments are larger than the limit of {limit}"]) from None
    return copied
