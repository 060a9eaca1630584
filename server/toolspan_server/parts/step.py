"""What a step of the executor must offer so that a tool's config can ask for it."""

from __future__ import annotations

from typing import ClassVar, Self

from ..common.module_sources import source_of
from ..schema.records import Record
from .discovery import Parts

_DECLARATIONS = (b"\nclass Config(", b"\nConfig = ")


class StepConfig(Record):
    """What a tool says for one step, under the key that is called like the step's module.

    The first paragraph of its docstring describes the key.
    """

    talks: ClassVar[bool] = False
    """Whether the step may say something to the client, or ask it something."""

    @classmethod
    def of(cls, tool: Record) -> Self:
        """What the config ``tool`` of a tool, which has the step's key, says under it."""
        said: Self = getattr(tool, cls.__module__.rpartition(".")[2])
        return said

    @classmethod
    def about(cls) -> str:
        """What the key of a tool is for."""
        return " ".join((cls.__doc__ or "").partition("\n\n")[0].split())


class Steps(Parts[StepConfig]):
    """The steps, by name."""

    def own_keys(self) -> dict[str, type[StepConfig]]:
        """The steps whose modules declare the key of a tool that asks for them. Only these are imported."""
        return {name: self.config(name) for name in self.names if self._has_config(name)}

    def _has_config(self, name: str) -> bool:
        source = source_of(f"{self.package}.{name}")
        if source is None:
            return hasattr(self.module(name), "Config")
        return any(declaration in source for declaration in _DECLARATIONS)


STEPS = Steps("toolspan_server.tools.executor.steps")
"""Every step around a tool's kind.

A step whose name is a key of a tool is there for tools that have the key; any other decides for itself."""
