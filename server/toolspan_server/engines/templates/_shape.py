"""A key of a config whose texts are templates."""

from __future__ import annotations

from typing import Any

from ...schema.records import Shape, checked
from ._errors import TemplateError
from ._tree import compiled


def templated(shape: Shape) -> Shape:
    """A value of ``shape`` in which every text is a template; a fault in one is reported at its place.

    The value stays as it is written; ``compiled`` makes it one to fill in.
    """
    return checked(shape, _checked)


def _checked(value: Any) -> Any:
    from ...problems import Fault, Faulty

    try:
        compiled(value)
    except TemplateError as error:
        raise Faulty(Fault(error.path, str(error))) from None
    return value
