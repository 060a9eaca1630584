"""``internal``: a Python function that works on the server's services."""

from __future__ import annotations

from collections.abc import Iterable

from typing_extensions import override

from .._records import choice, key, text
from ..handlers import handler_problem
from ._base import Environment, Kind, KindConfig
from ._handled import Handled


class Config(KindConfig):
    """``{"type": "internal", "handler": "<name>"}``."""

    type: str = key(choice("internal"), default="internal")
    handler: str = key(text(least=1))

    @override
    def problems(self) -> Iterable[tuple[str, str]]:
        problem = handler_problem("internal", self.handler)
        if problem is not None:
            yield "handler", problem

    @override
    def build(self, environment: Environment) -> Kind:
        return Handled("internal", self.handler)
