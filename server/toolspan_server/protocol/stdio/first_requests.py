"""A client's first requests on stdio, answered before there is an event loop.

``initialize`` and the first ``tools/list`` of plain tools need nothing that waits. The event loop and what
runs on it (some half of a start) are imported after that, while the client reads the answer.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, NoReturn

from typing_extensions import override

from ...common.lines import Lines, Overlong
from ...config import Config
from ...live.served_tool import ServedTool
from ...live.views import View
from ...tools.registry import Registry
from ..fast_path import FastPath
from ..messages import jsonrpc
from .client_era import ClientEra, Message, plain_answer
from .pipes import Pipes

_PATIENCE_S = 0.5
"""How many seconds a client may be silent before the event loop starts, which also watches the files."""


class ConfiguredView(View):
    """The server before it runs: what its config says. ``registry`` has the tools of ``config``."""

    def __init__(self, config: Config, registry: Registry) -> None:
        super().__init__()
        self._config = config
        self._registry = registry

    @property
    @override
    def config(self) -> Config:
        return self._config

    @property
    @override
    def registry(self) -> Registry:
        return self._registry

    @property
    @override
    def version(self) -> int:
        return 0

    @property
    @override
    def name(self) -> str:
        return self._config.name

    @property
    @override
    def is_settled(self) -> bool:
        return True

    @override
    def _run(self, served: ServedTool, arguments: Any, context: Any, meta: Any) -> NoReturn:
        raise RuntimeError(f"tool {served.tool.name!r} is called before the event loop runs")


@dataclass
class FirstRequests:
    """The input read before the event loop started, and the client's era and handshake in it.

    ``unread`` lines have no answer yet; ``listed``: the client has the list of tools; ``ended``: the input is
    over.
    """

    lines: Lines
    era: ClientEra = field(default_factory=ClientEra)
    unread: deque[bytes | Overlong] = field(default_factory=deque[bytes | Overlong])
    listed: bool = False
    ended: bool = False

    def client_left(self, pipes: Pipes) -> bool:
        """Whether the client wanted nothing but the list, so that nothing has to be run for it.

        What it sent meanwhile is read.
        """
        if not self.listed or self.unread or pipes.backlog:
            return False
        if not self.ended and (chunk := pipes.next_chunk(0)) is not None:
            self.ended = not chunk
            self.unread.extend(self.lines.feed(chunk))
        return self.ended and not (self.unread or self.lines.kept_bytes)


def listed_by_config(config: Config) -> bool:
    """Whether the config alone answers every request that can come before the first tool call."""
    return not (
        config.tools.sources
        or config.resources
        or config.resource_templates
        or config.skills is not None
        or config.prompts
    )


def opened(config: Config, registry: Registry, pipes: Pipes) -> FirstRequests:
    """Answer requests until a list is sent, the client is silent for a while, or a request is not plain.

    A request that is not plain is left ``unread``. ``registry`` has the tools of ``config``, which must be
    ``listed_by_config``.
    """
    fast_path = FastPath(ConfiguredView(config, registry))
    opening = FirstRequests(Lines(config.limits.message_bytes))
    while not (opening.listed or opening.unread or pipes.backlog):
        chunk = pipes.next_chunk(_PATIENCE_S)
        if not chunk:
            opening.ended = chunk is not None
            break
        opening.unread.extend(opening.lines.feed(chunk))
        while opening.unread and not opening.listed and _answer_first(opening, fast_path, pipes):
            opening.listed = b'"tools/list"' in opening.unread.popleft()
        pipes.drain(_PATIENCE_S)
    return opening


def _answer_first(opening: FirstRequests, fast_path: FastPath, pipes: Pipes) -> bool:
    """Answer the first unread line if it is plain; returns whether it was."""
    try:
        message = jsonrpc.read_message(opening.unread[0])
        if message is None or "method" not in message:
            return False
        if "id" not in message:
            return _noted(opening.era, message)
        opening.era.meet(message)
        answer = plain_answer(fast_path, opening.era, message)
    except Exception:  # the session, which answers the same line in the same way, also logs it
        return False
    if not isinstance(answer, bytes):
        return False
    pipes.write(answer)
    return True


def _noted(era: ClientEra, notification: Message) -> bool:
    if notification["method"] != "notifications/initialized":
        return False
    era.confirm(notification)
    return True
