"""Renders templates where some values may be absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..engines.templates import MissingValue, TemplateTree


def filled(tree: TemplateTree, values: Mapping[str, Any], optional: frozenset[str], limit: int) -> Any:
    """``tree`` rendered with ``values``. An absent one of ``optional`` is ``""``, or the ``default(…)`` in
    the template.

    Raises ``RenderFailure``.
    """
    scope = dict(values)
    while True:
        try:
            return tree.render(scope, limit=limit)
        except MissingValue as missing:
            if len(missing.path) != 1 or missing.path[0] not in optional - scope.keys():
                raise
            scope[str(missing.path[0])] = ""
