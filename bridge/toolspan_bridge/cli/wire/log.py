"""What ``--debug`` prints: each message of the wires, with its time, direction and peer."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path

from toolspan_server.common.wire.shown import SecretsSeen, shown
from toolspan_server.common.wire.tap import WireMessage, on_wire
from toolspan_server.config import Config
from toolspan_server.engines.upstreams import ServerSpec

from ...sessions.chosen.config import config_paths_or_default
from ..terminal.output import print_wire
from ..terminal.waiting.status_line import write_held
from .redaction import redactor

_BESIDE = ".mcp.json"


class WireLog:
    """Prints what it is told, on stderr, without what ``redact`` takes out and the secrets that went over the
    wire."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._seen = SecretsSeen()
        self._started = time.monotonic()

    def message(self, message: WireMessage) -> None:
        """Print ``message``."""
        head, body = shown(message, self._clean)
        seconds = time.monotonic() - self._started
        print_wire(f"wire {seconds:.3f} s {'→' if message.sent else '←'} {message.peer}: {head}", body)

    def secrets(self, values: Iterable[str]) -> None:
        """Never show ``values`` from now on."""
        self._seen.add(values)

    def _clean(self, text: str) -> str:
        return self._redact(self._seen.redact(text))


@contextmanager
def wire_shown(
    config: Config, servers: Sequence[ServerSpec] = (), paths: tuple[str, ...] = ()
) -> Generator[None]:
    """What goes over the wires in the block is printed; no secret of the environment, of ``config`` and its
    files (``paths``), or of ``servers`` is in it."""
    of_files = redactor(config, [*config_paths_or_default(paths), Path.cwd() / _BESIDE])

    def redact(text: str) -> str:
        for spec in servers:
            text = spec.redact(text)
        return of_files(text)

    log = WireLog(redact)
    on_wire.set(log)
    try:
        yield
    finally:
        on_wire.set(None)
        write_held()
