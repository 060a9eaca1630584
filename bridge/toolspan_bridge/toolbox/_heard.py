"""What a server told outside of calls, in sentences for the person, until somebody takes them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolspan_server.engines.upstreams import ListedTool

_MOST = 50
_NAMED = 10
_LONGEST_URI = 500


class Heard:
    """The news of ``server``, each once; of too many the oldest are dropped."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._news: deque[str] = deque(maxlen=_MOST)

    def take(self) -> list[str]:
        """The news since the last time."""
        news = list(self._news)
        self._news.clear()
        return news

    def relisted(self, before: Sequence[ListedTool], now: Sequence[ListedTool]) -> None:
        """The server's tools were ``before`` and are ``now``."""
        old, new = ({tool.name: tool for tool in tools} for tools in (before, now))
        changes = {
            "has new tools": [name for name in new if name not in old],
            "has no longer": [name for name in old if name not in new],
            "has changed": [
                name for name in new if name in old and old[name].fingerprint != new[name].fingerprint
            ],
        }
        for what, names in changes.items():
            if names:
                self._add(f"the server {self._server!r} {what}: {_named(names)}")

    def notified(self, method: str, params: Mapping[str, Any]) -> None:
        """The server sent a notification that belongs to no call."""
        uri = params.get("uri")
        if method == "notifications/resources/updated" and isinstance(uri, str):
            changed = f"the resource {uri[:_LONGEST_URI]} of the server {self._server!r} has changed"
            self._add(f"{changed} (name it again to have it read again)")

    def _add(self, text: str) -> None:
        if text not in self._news:
            self._news.append(text)


def _named(names: Iterable[str]) -> str:
    listed = sorted(names)
    more = f" and {len(listed) - _NAMED:,} more" if len(listed) > _NAMED else ""
    return ", ".join(name[:100] for name in listed[:_NAMED]) + more
