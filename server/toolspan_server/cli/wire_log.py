"""``--debug``: what clients and other servers send and get, in the log, without secrets."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager

from ..common.secrets.redaction import Redactor
from ..common.wire.shown import SecretsSeen, shown
from ..common.wire.tap import WireMessage, on_wire
from .logs import LogFormatter

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_SHORTEST = 8
_log = logging.getLogger("toolspan_server.wire")


class WireLog:
    """Logs what it is told, without the secrets that ``formatter`` takes out and those that went over the
    wire: the whole is looked through before it is cut."""

    def __init__(self, formatter: LogFormatter) -> None:
        self._formatter = formatter
        self._seen = SecretsSeen()
        self._of_environment = Redactor(_secrets_of_environment())

    def message(self, message: WireMessage) -> None:
        """Log ``message``."""
        head, body = shown(message, self._clean)
        arrow = "→" if message.sent else "←"
        _log.debug("%s %s: %s%s", arrow, message.peer, head, f"\n{body}" if body else "")

    def secrets(self, values: Iterable[str]) -> None:
        """Never log ``values`` from now on."""
        self._seen.add(values)

    def _clean(self, text: str) -> str:
        return self._formatter.redact(self._seen.redact(self._of_environment(text)))


def _secrets_of_environment() -> Iterator[str]:
    return (
        value for name, value in os.environ.items() if len(value) >= _SHORTEST and _SECRET_NAME.search(name)
    )


@contextmanager
def wire_logged(formatter: LogFormatter) -> Generator[None]:
    """In the block what goes over the wires is logged by ``formatter``, at whatever level else is."""
    before = _log.level
    _log.setLevel(logging.DEBUG)
    token = on_wire.set(WireLog(formatter))
    try:
        yield
    finally:
        on_wire.reset(token)
        _log.setLevel(before)
