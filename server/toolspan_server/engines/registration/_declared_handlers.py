"""The names of handlers that modules declare."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class DeclaredHandlers:
    """The (kind, name) of every handler that was found; ``is_all`` unless a module may register others."""

    names: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    is_all: bool = True

    def may_have(self, kind: str, name: str) -> bool:
        """Whether the handler ``name`` of ``kind`` is there, or may be."""
        return (kind, name) in self.names or not self.is_all
