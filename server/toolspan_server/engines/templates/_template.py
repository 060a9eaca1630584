"""One text."""

from __future__ import annotations

from typing import Any, Self

from ._errors import Path
from ._parse import Expression, parse
from ._render import (
    MAX_OUTPUT,
    Budget,
    Scope,
    rendered,
)


class Template:
    """A text that was read once, to be filled in many times. ``parts`` are its texts and expressions."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[str | Expression, ...]) -> None:
        self.parts = parts

    @classmethod
    def parse(cls, text: str) -> Self:
        """``text`` as a template. Raises ``TemplateError``."""
        return cls(parse(text))

    @property
    def references(self) -> set[Path]:
        """The paths that it uses: ``("days", 0, "temperature")``."""
        return {part.path for part in self.parts if isinstance(part, Expression) and part.path}

    @property
    def static(self) -> bool:
        """Whether it is the same text for all data."""
        return not any(isinstance(part, Expression) for part in self.parts)

    def render(self, scope: Scope, *, limit: int = MAX_OUTPUT) -> Any:
        """Its value over ``scope``: any JSON value when it is one ``{{ }}`` and nothing else, else a text.

        Raises ``MissingValue`` for a value that is not there, ``RenderFailure`` for one that a filter does
        not take and for a text of more than ``limit`` characters.
        """
        return rendered(self.parts, scope, Budget(limit))
