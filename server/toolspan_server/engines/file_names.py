"""File names with variables: ``data/{id}.json``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Self

from ..common.re2_patterns import compiled

_VARIABLE = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class FileNameError(ValueError):
    """A text is no file name with variables."""


@dataclass(frozen=True, slots=True)
class FileName:
    """A name below ``folder``, which has no variable in it; ``parts`` are texts and variables by turns."""

    folder: str
    parts: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """``text`` as a file name. Raises ``FileNameError``."""
        folder, _, _ = text.partition("{")
        folder = folder[: folder.rfind("/") + 1]
        parts = tuple(_VARIABLE.split(text[len(folder) :]))
        if any("{" in part or "}" in part for part in parts[::2]):
            raise FileNameError("a brace has no partner")
        for name in parts[1::2]:
            if not _NAME.match(name):
                raise FileNameError(f"{{{name}}} names no variable: letters, digits and _")
        return cls(folder or ".", parts)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of its variables."""
        return self.parts[1::2]

    def render(self, values: Mapping[str, str], crossing: Collection[str]) -> str | None:
        """The name, relative to ``folder``; ``None`` when a value is no part of a file name.

        Only those of ``crossing`` may hold slashes. No part starts with a dot: neither what leads
        upwards nor what is hidden can be asked for.
        """
        for name in self.variables:
            value = values[name]
            steps = value.split("/") if name in crossing else [value]
            if any(not step or step[0] == "." or re.search(r"[/\\\0]", step) for step in steps):
                return None
        return "".join(values[part] if at % 2 else part for at, part in enumerate(self.parts))

    def match(self, path: str, crossing: Collection[str]) -> dict[str, str] | None:
        """The values that give ``path``, relative to ``folder``.

        RE2 reads the path once, however many variables there are: each takes the most it can, from the first
        one on, and what stands twice has to be the same then.
        """
        pieces = (
            re.escape(part) if not at % 2 else "(.+)" if part in crossing else "([^/]+)"
            for at, part in enumerate(self.parts)
        )
        try:
            found = compiled("".join(pieces), any_character=True).fullmatch(path)
        except UnicodeEncodeError:  # bytes that are no text have no place in a URI
            found = None
        if found is None:
            return None
        pairs = list(zip(self.variables, found.groups(), strict=True))
        values = dict(pairs)
        return values if all(values[name] == value for name, value in pairs) else None
