"""What a person answered earlier, for the conversation or for good, in the user's state folder.

    {"toolspan_approvals": 1, "answers": [
        {"address", "tool", "digest", "definition", "over", "conversation", "arguments", "paths", "facts"}]}

An answer holds for one tool of one server, known by a hash of its command or URL, as long as the tool's
definition stays as it was. ``conversation`` is the id of the one that it holds in, or ``null``. ``over`` is
the hash of the definition that this one was accepted in place of, or ``null``: while a tool differs from what
is known of it, only an answer that was given about that difference holds. ``facts`` are those that were shown
with a call that would carry data outward; such an answer holds in its conversation, for calls of no others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..files.state_file import StateFile
from .definition import Departure, definition_of, digest_of
from .patterns import Pattern
from .person import PersonAnswer
from .request import Approval, ApprovalRequest

FILE = "approvals.json"
_MARK = "toolspan_approvals"
_MAX_ANSWERS = 1_000
_KEY = ("address", "tool", "conversation", "arguments", "paths", "facts")
"""What tells answers apart: a later one that is the same in all of these takes the place of the earlier."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a call: the earlier ``approval``; or, where there is one about another definition of
    the tool, how that differs."""

    approval: Approval | None = None
    departure: Departure | None = None


class Remembered:
    """The answers in the file ``path``, or where ``path`` says once they are needed, for the conversation of
    that id. ``address`` gives the command or URL of a server by its name: an answer about one server never
    holds for another of the same name.

    Raises ``StoreError`` when the file cannot be read or written.
    """

    def __init__(
        self, path: Path | Callable[[], Path], address: Callable[[str], str], conversation: str = ""
    ) -> None:
        self._path = path
        self._address = address
        self._conversation = conversation

    @cached_property
    def _file(self) -> StateFile:
        path = self._path if isinstance(self._path, Path) else self._path()
        return StateFile(path, _MARK, "answers", "the remembered approvals")

    def answer(self, request: ApprovalRequest, base: Path, departure: Departure | None = None) -> Known:
        """The earlier answer about calls as that of ``request``; relative paths begin at ``base``. Of a tool
        with a ``departure``, the one that was given about it."""
        digest = digest_of(definition_of(request.tool))
        changed: Departure | None = None
        for kept in self._file.read():
            if not self._is_about(kept, request, base):
                continue
            if kept.get("digest") == digest:
                if departure is not None and kept.get("over") != _over(departure):
                    continue
                scope: Any = "conversation" if kept.get("conversation") else "tool"
                scope = "pattern" if kept.get("arguments") or kept.get("paths") else scope
                return Known(Approval(allowed=True, decider="earlier", scope=scope))
            changed = Departure(kept.get("definition"), "you allowed it")
        return Known(departure=changed)

    def keep(
        self, request: ApprovalRequest, answer: PersonAnswer, departure: Departure | None = None
    ) -> None:
        """Remember ``answer`` where its scope is more than the one call."""
        scope = answer.approval.scope
        if not answer.approval.allowed or scope == "once":
            return
        definition = definition_of(request.tool)
        pattern = answer.pattern or Pattern()
        kept = {
            "address": self._known_as(request.server),
            "tool": request.tool.name,
            "digest": digest_of(definition),
            "definition": definition,
            "over": None if departure is None else _over(departure),
            "conversation": self._conversation if scope == "conversation" or request.facts else None,
            "facts": list(request.facts),
            "arguments": dict(pattern.arguments),
            "paths": None if pattern.paths is None else list(pattern.paths),
        }
        self._add(kept)

    def _is_about(self, kept: Mapping[str, Any], request: ApprovalRequest, base: Path) -> bool:
        if (kept.get("address"), kept.get("tool")) != (self._known_as(request.server), request.tool.name):
            return False
        if kept.get("conversation") not in (None, self._conversation):
            return False
        if not set(request.facts) <= set(kept.get("facts") or ()):
            return False
        pattern = Pattern(arguments=kept.get("arguments") or {}, paths=kept.get("paths"))
        return pattern.covers(request.server, request.tool.name, request.arguments, base)

    def _known_as(self, server: str) -> str:
        """A hash of the server's address, which may hold a secret."""
        return sha256(self._address(server).encode("utf-8", "surrogatepass")).hexdigest()

    def _add(self, kept: Mapping[str, Any]) -> None:
        def key(each: Mapping[str, Any]) -> list[Any]:
            return [each.get(name) for name in _KEY]

        def added(known: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
            return [*(each for each in known if key(each) != key(kept)), kept][-_MAX_ANSWERS:]

        self._file.change(added)


def _over(departure: Departure) -> str:
    """What tells the definition that a departure is from; that of no definition is empty."""
    return "" if departure.before is None else digest_of(departure.before)
