"""The interface of steps' config keys: how a tool's config asks for a step of the executor."""

from __future__ import annotations

from typing import ClassVar, Self

from ..common.modules.sources import source_of
from ..schema.keys import Inert
from ..schema.records import Record
from .discovery import Parts

_DECLARATIONS = (b"\nclass Config(", b"\nConfig = ")


class StepConfig(Record):
    """The value of the key of a tool that is named like the step's module.

    The first paragraph of its docstring is the key's description.
    """

    talks: ClassVar[bool] = False
    """Whether the step may report or ask something to the client."""

    inert: ClassVar[Inert | None] = None
    """Why the step may be used in a folder that nobody trusts; without it, its key is left out there."""

    @classmethod
    def of(cls, tool: Record) -> Self:
        """The value of the step's key in ``tool``, the config of a tool that has it."""
        value: Self = getattr(tool, cls.__module__.rpartition(".")[2])
        return value

    @classmethod
    def about(cls) -> str:
        """The description of the key."""
        return " ".join((cls.__doc__ or "").partition("\n\n")[0].split())


class Steps(Parts[StepConfig]):
    """The steps, by name."""

    def own_keys(self) -> dict[str, type[StepConfig]]:
        """The steps whose modules declare their key of a tool. Only these are imported."""
        return {name: self.config(name) for name in self.names if self._has_config(name)}

    def _has_config(self, name: str) -> bool:
        source = source_of(f"{self.package}.{name}")
        if source is None:
            return hasattr(self.module(name), "Config")
        return any(declaration in source for declaration in _DECLARATIONS)


STEPS = Steps("toolspan_server.tools.executor.steps")
"""Every step around a tool's kind.

A step that is named like a key of a tool applies to tools with that key; any other decides by itself.
"""
