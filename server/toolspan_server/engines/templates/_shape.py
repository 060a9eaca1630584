"""A key of a config whose texts are templates."""

from __future__ import annotations

from typing import Any

from ._errors import TemplateError
from ._tree import compiled


def check_templates(value: Any) -> Any:
    """``value``, in which every text is a template. Raises ``Faulty``, with the place of what is wrong.

    The value stays as it is written; ``compiled`` makes it one to fill in.
    """
    from ...problems import Fault, Faulty

    try:
        compiled(value)
    except TemplateError as error:
        raise Faulty(Fault(error.path, str(error))) from None
    return value
