"""File names with variables: ``data/{id}.json``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Self

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
        """The values that give ``path``, relative to ``folder``."""
        pattern, seen = "", set[str]()
        for at, part in enumerate(self.parts):
            if not at % 2:
                pattern += re.escape(part)
            elif part in seen:
                pattern += f"(?P={part})"
            else:
                seen.add(part)
                pattern += f"(?P<{part}>{'.+' if part in crossing else '[^/]+'})"
        found = re.fullmatch(pattern, path, re.DOTALL)
        return None if found is None else found.groupdict()
