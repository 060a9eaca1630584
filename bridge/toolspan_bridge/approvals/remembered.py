"""What a person answered earlier, for the conversation or for good, in the user's state folder.

    {"toolspan_approvals": 1, "answers": [
        {"address", "tool", "digest", "definition", "conversation", "arguments", "paths"}]}

An answer holds for one tool of one server, known by a hash of its command or URL, as long as the tool's
definition stays as it was. ``conversation`` is the id of the one that it holds in, or ``null``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from .._files import replace_file
from ..errors import StoreError
from .definition import definition_of, digest_of
from .patterns import Pattern
from .person import PersonAnswer
from .request import Approval, ApprovalRequest

FILE = "approvals.json"
_MARK = "toolspan_approvals"
_MAX_BYTES = 16 * 1024 * 1024
_MAX_ANSWERS = 1_000
_LOCK_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a call: the earlier ``approval``; or the definition that the tool had when there was
    one, ``changed``, where it is another now."""

    approval: Approval | None = None
    changed: Mapping[str, Any] | None = None


class Remembered:
    """The answers in the file ``path``, for the conversation of that id. ``address`` gives the command or URL
    of a server by its name: an answer about one server never holds for another of the same name.

    Raises ``StoreError`` when the file cannot be read or written.
    """

    def __init__(self, path: Path, address: Callable[[str], str], conversation: str = "") -> None:
        self._path = path
        self._address = address
        self._conversation = conversation

    def answer(self, request: ApprovalRequest, base: Path) -> Known:
        """The earlier answer about calls as that of ``request``; relative paths begin at ``base``."""
        digest = digest_of(definition_of(request.tool))
        changed: Mapping[str, Any] | None = None
        for kept in self._read():
            if not self._is_about(kept, request, base):
                continue
            if kept.get("digest") == digest:
                scope: Any = "conversation" if kept.get("conversation") else "tool"
                scope = "pattern" if kept.get("arguments") or kept.get("paths") else scope
                return Known(Approval(allowed=True, decider="earlier", scope=scope))
            changed = kept.get("definition")
        return Known(changed=changed)

    def keep(self, request: ApprovalRequest, answer: PersonAnswer) -> None:
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
            "conversation": self._conversation if scope == "conversation" else None,
            "arguments": dict(pattern.arguments),
            "paths": None if pattern.paths is None else list(pattern.paths),
        }
        self._add(kept)

    def _is_about(self, kept: Mapping[str, Any], request: ApprovalRequest, base: Path) -> bool:
        if (kept.get("address"), kept.get("tool")) != (self._known_as(request.server), request.tool.name):
            return False
        if kept.get("conversation") not in (None, self._conversation):
            return False
        pattern = Pattern(arguments=kept.get("arguments") or {}, paths=kept.get("paths"))
        return pattern.covers(request.server, request.tool.name, request.arguments, base)

    def _known_as(self, server: str) -> str:
        """A hash of the server's address, which may hold a secret."""
        return sha256(self._address(server).encode("utf-8", "surrogatepass")).hexdigest()

    def _read(self) -> list[dict[str, Any]]:
        try:
            with self._path.open("rb") as file:
                data = file.read(_MAX_BYTES + 1)
            whole: Any = json.loads(data) if len(data) <= _MAX_BYTES else None
        except FileNotFoundError:
            return []
        except (OSError, ValueError, RecursionError) as error:
            raise self._unusable(f"cannot be read: {error}") from None
        if not isinstance(whole, dict) or cast("dict[str, Any]", whole).get(_MARK) != 1:
            raise self._unusable("holds something else")
        answers: Any = cast("dict[str, Any]", whole).get("answers")
        return [each for each in cast("list[Any]", answers or []) if isinstance(each, dict)]

    def _add(self, kept: Mapping[str, Any]) -> None:
        from filelock import FileLock, Timeout

        def key(each: Mapping[str, Any]) -> list[Any]:
            return [each.get(name) for name in ("address", "tool", "conversation", "arguments", "paths")]

        try:
            with FileLock(self._path.with_suffix(".lock"), timeout=_LOCK_SECONDS):
                others = [each for each in self._read() if key(each) != key(kept)]
                whole = {_MARK: 1, "answers": [*others, kept][-_MAX_ANSWERS:]}
                replace_file(self._path, json.dumps(whole, indent=1).encode())
        except Timeout:
            raise self._unusable("is locked by another process") from None
        except OSError as error:
            raise self._unusable(f"cannot be written: {error.strerror or error}") from None

    def _unusable(self, why: str) -> StoreError:
        return StoreError(f"the remembered approvals in {self._path}: the file {why} (correct or remove it)")
