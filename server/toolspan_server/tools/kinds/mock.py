"""``mock``: answers as its config says, without any backend."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from reprlib import Repr
from typing import TYPE_CHECKING, Annotated, Any

from typing_extensions import override

from ...calls.context import Context
from ...engines.mock_steps import MockStep
from ...engines.mocks import (
    MockAnswer,
    RuledReplies,
    unknown_names,
    uses_client,
)
from ...parts.environment import Environment
from ...parts.kind import Kind, KindConfig
from ...parts.reach import Reach
from ...problems import Fault, Faulty
from ...schema.constraints import OneOf
from ...schema.keys import DATA, PARTS, Inert
from ...schema.records import key

if TYPE_CHECKING:
    from ...engines.mocks._script import MockScript

_log = logging.getLogger(__name__)
_brief = Repr()
_brief.maxdict = _brief.maxlist = _brief.maxlevel = 20
_brief.maxstring = _brief.maxlong = 200


class Config(RuledReplies, KindConfig):
    """``{"type": "mock", "mock_response": <any JSON value>}``."""

    inert = Inert("it answers as the config says, and starts, reads and sends nothing")

    type: Annotated[str, OneOf(("mock",))] = key(default="mock", inert=DATA)
    steps: tuple[MockStep, ...] = key(
        "Steps before the answer, in this order: progress, log, ask, delay_ms, release, change.",
        default=(),
        inert=PARTS,
    )
    on_decline: MockAnswer | None = key(
        "The answer when the user declines a question or closes it; no further step is taken then.",
        default=None,
        served=True,
        inert=PARTS,
    )

    @override
    def reach(self, tags: Collection[str], environment: Environment) -> Reach:
        del tags, environment
        return "local"

    @property
    @override
    def counts_calls(self) -> bool:
        return self.answers_by_turns

    @override
    def check(self) -> None:
        super().check()
        asked = [name for step in self.steps for name in step.ask or ()]
        faults = [
            Fault(("steps",), f"two questions are named {name!r}", "give one another name")
            for name in sorted({name for name in asked if asked.count(name) > 1})
        ]
        if self.on_decline is not None and not asked:
            faults.append(
                Fault(("on_decline",), "no step asks anything", "add a step with ask, or leave it out")
            )
        faults += unknown_names(self, asked)
        if faults:
            raise Faulty(*faults)

    @override
    def build(self, environment: Environment) -> Kind:
        if self.model_fields_set <= {"type", "mock_response"}:
            return _Mock(self.mock_response)
        from ...engines.mocks._script import MockScript

        script = MockScript(
            self.otherwise,
            steps=self.steps,
            rules=self.rules,
            on_decline=self.on_decline,
            directory=environment.config_dir,
        )
        return _Scripted(script, talks=bool(self.steps) or uses_client(self))


@dataclass(frozen=True, slots=True)
class _Mock:
    response: Any
    talks: bool = False

    async def call(self, arguments: Mapping[str, Any], context: Context) -> Any:
        _log_call(arguments, context)
        return self.response


@dataclass(frozen=True, slots=True)
class _Scripted:
    script: MockScript
    talks: bool

    async def call(self, arguments: Mapping[str, Any], context: Context) -> Any:
        _log_call(arguments, context)
        return await self.script.call(arguments, context)


def _log_call(arguments: Mapping[str, Any], context: Context) -> None:
    if _log.isEnabledFor(logging.DEBUG):
        _log.debug("mock %r called with %s", context.tool_name, _brief.repr(dict(arguments)))
