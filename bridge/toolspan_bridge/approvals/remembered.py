"""What a person answered earlier, for the conversation or for good, in the user's state folder.

    {"toolspan_approvals": 1, "answers": [
        {"principal", "config", "address", "tool", "digest", "definition", "configured", "over",
         "conversation", "arguments", "paths", "facts"}]}

An answer holds for the ``principal`` who gave it and for nobody else, and for one tool of one server, known
by a hash of its command or URL, under one config (a hash of the paths of its files). It holds as long as the
tool's definition, and what the config says of the tool and its server (``configured``), stay as they were.
``conversation`` is the id of the one that it holds in, or ``null``. ``over`` is the hash of the definition
that this one was accepted in place of, or ``null``: while a tool differs from what is known of it, only an
answer that was given about that difference holds. ``facts`` is a digest of all the facts, shown or not, about
a call that would carry data outward, or ``""``; such an answer holds in its conversation, for calls with
exactly these or without any.

Answers without a ``principal`` are of before it was known whose they were: they hold for nobody, and are
removed when the next one is kept.
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
from .patterns import CallFiles, Pattern
from .person import PersonAnswer
from .request import Approval, ApprovalRequest

FILE = "approvals.json"
_MARK = "toolspan_approvals"
_MAX_ANSWERS = 1_000
_KEY = ("principal", "config", "address", "tool", "conversation", "arguments", "paths", "facts")
"""What tells answers apart: a later one that is the same in all of these takes the place of the earlier."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a call: the earlier ``approval``; or, where there is one about another definition of
    the tool, how that differs."""

    approval: Approval | None = None
    departure: Departure | None = None


@dataclass(frozen=True, slots=True)
class Origins:
    """Where tools come from: the ``config``, which stands for the paths of its files; ``address`` gives the
    command or URL of a server by its name, and ``configured`` what the config says of a server's tool, and of
    the server."""

    config: str
    address: Callable[[str], str]
    configured: Callable[[str, str], str]


class Remembered:
    """The answers of ``principal`` in the file ``path``, or where ``path`` says once they are needed, for the
    conversation of that id, about tools from ``origins``.

    Raises ``StoreError`` when the file cannot be read or written.
    """

    def __init__(
        self, path: Path | Callable[[], Path], origins: Origins, principal: str, conversation: str
    ) -> None:
        self._path = path
        self._origins = origins
        self._principal = principal
        self._conversation = conversation

    @cached_property
    def _file(self) -> StateFile:
        path = self._path if isinstance(self._path, Path) else self._path()
        return StateFile(path, _MARK, "answers", "the remembered approvals")

    def answer(self, request: ApprovalRequest, files: CallFiles, departure: Departure | None = None) -> Known:
        """The earlier answer about calls as that of ``request``; paths are read as ``files`` says. Of a tool
        with a ``departure``, the one that was given about it."""
        digest = digest_of(definition_of(request.tool))
        configured = self._configured(request)
        changed: Departure | None = None
        for kept in self._file.read():
            if not self._is_about(kept, request, files):
                continue
            if (kept.get("digest"), kept.get("configured")) == (digest, configured):
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
            **self._whose(request),
            "digest": digest_of(definition),
            "definition": definition,
            "configured": self._configured(request),
            "over": None if departure is None else _over(departure),
            "conversation": self._conversation if scope == "conversation" or request.facts else None,
            "facts": _facts(request),
            "arguments": dict(pattern.arguments),
            "paths": None if pattern.paths is None else list(pattern.paths),
        }
        self._add(kept)

    def _is_about(self, kept: Mapping[str, Any], request: ApprovalRequest, files: CallFiles) -> bool:
        if any(kept.get(name) != value for name, value in self._whose(request).items()):
            return False
        if kept.get("conversation") not in (None, self._conversation):
            return False
        if request.facts and kept.get("facts") != _facts(request):
            return False
        pattern = Pattern(arguments=kept.get("arguments") or {}, paths=kept.get("paths"))
        if not pattern.arguments and pattern.paths is None:
            return True
        resolved = request.tool.complete(request.arguments)
        return resolved is not None and pattern.covers(request.server, request.tool.name, resolved, files)

    def _whose(self, request: ApprovalRequest) -> dict[str, str]:
        """Whose answer about which tool it is; hashes stand for what may hold a secret."""
        return {
            "principal": self._principal,
            "config": _hashed(self._origins.config),
            "address": _hashed(self._origins.address(request.server)),
            "tool": request.tool.name,
        }

    def _configured(self, request: ApprovalRequest) -> str:
        return _hashed(self._origins.configured(request.server, request.tool.name))

    def _add(self, kept: Mapping[str, Any]) -> None:
        def key(each: Mapping[str, Any]) -> list[Any]:
            return [each.get(name) for name in _KEY]

        def added(known: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
            others = [each for each in known if each.get("principal") and key(each) != key(kept)]
            return [*others, kept][-_MAX_ANSWERS:]

        self._file.change(added)


def _facts(request: ApprovalRequest) -> str:
    return (request.facts_digest or _hashed("\n".join(request.facts))) if request.facts else ""


def _hashed(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _over(departure: Departure) -> str:
    """What tells the definition that a departure is from; that of no definition is empty."""
    return "" if departure.before is None else digest_of(departure.before)
