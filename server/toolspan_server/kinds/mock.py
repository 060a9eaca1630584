"""``mock``: answers with what the config says."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import Repr
from typing import Any

from typing_extensions import override

from .._records import ANYTHING, choice, key
from ..context import Context
from ._base import Environment, Kind, KindConfig

_log = logging.getLogger(__name__)
_brief = Repr()
_brief.maxdict = _brief.maxlist = _brief.maxlevel = 20
_brief.maxstring = _brief.maxlong = 200


class Config(KindConfig):
    """``{"type": "mock", "mock_response": <any JSON value>}``."""

    type: str = key(choice("mock"), default="mock")
    mock_response: Any = key(ANYTHING, default=None)

    @override
    def build(self, environment: Environment) -> Kind:
        return _Mock(self.mock_response)


@dataclass(frozen=True, slots=True)
class _Mock:
    response: Any
    talks: bool = False

    async def call(self, arguments: Mapping[str, Any], context: Context) -> Any:
        _log.info("mock %r called with %s", context.tool_name, _brief.repr(dict(arguments)))
        return self.response
