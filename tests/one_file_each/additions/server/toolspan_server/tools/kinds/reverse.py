"""``reverse``: gives a text backwards, once or several times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from typing_extensions import override

from ...calls.context import Context
from ...parts.environment import Environment
from ...parts.kind import Kind, KindConfig
from ...schema.constraints import OneOf
from ...schema.records import key


class Config(KindConfig):
    """``{"type": "reverse", "argument": "<the parameter with the text>"}``."""

    type: Annotated[str, OneOf(("reverse",))] = key(default="reverse")
    argument: str = key("The parameter whose text is reversed.", least=1)
    times: int = key("How many times the text is given.", least=1, most=3, default=1)

    @override
    def misfits(self, parameters: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        if self.argument not in parameters.get("properties", {}):
            yield "argument", f"the tool has no parameter {self.argument!r}"

    @override
    def build(self, environment: Environment) -> Kind:
        return _Reverse(self.argument, self.times)


@dataclass(frozen=True, slots=True)
class _Reverse:
    argument: str
    times: int
    talks: bool = False

    async def call(self, arguments: Mapping[str, Any], context: Context) -> Any:
        return str(arguments[self.argument])[::-1] * self.times
