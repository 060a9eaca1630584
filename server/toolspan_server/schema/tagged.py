"""Objects whose ``type`` selects the record that they are: a kind's ``implementation``, a source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, cast

from pydantic_core import ValidationError

from ..common.did_you_mean import nearest
from ..problems import Fault, Faulty
from .faults import InvalidRecord, shown
from .records import Record


class Choices(Protocol):
    """The records to choose from, by name."""

    @property
    def names(self) -> Sequence[str]: ...

    def config(self, name: str) -> type[Record]: ...


def chosen(noun: str, base: type[Record], choices: Choices) -> Callable[[Any, Any], Any]:
    """A function that makes the record that ``type`` names in ``choices``; an instance of ``base`` is kept.

    Raises ``Faulty``, which names ``noun`` ("kind"), and ``InvalidRecord`` for data that does not fit the
    record.
    """

    def make(value: Any, info: Any) -> Any:
        if isinstance(value, base):
            return value
        known = f"known {noun.split()[0]}s: {', '.join(choices.names)}"
        if not isinstance(value, Mapping):
            raise Faulty(Fault((), f"must be an object with a 'type', not {shown(value)}", known))
        given = cast("Mapping[str, Any]", value)
        if "type" not in given:
            raise Faulty(Fault((), "'type' is missing", known))
        name = given["type"]
        if not isinstance(name, str) or name not in choices.names:
            raise Faulty(Fault(("type",), f"unknown {noun} {shown(name)}", nearest(str(name), choices.names)))
        model = choices.config(name)
        try:
            return model.model_validate(given, context=info.context)
        except ValidationError as error:
            raise InvalidRecord(model, error) from None

    return make
