"""Serving the page, the API and the gateway, for the verbs that do."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from toolspan_server.errors import ServeError

from ..errors import UsageError
from .host import TERMINAL

if TYPE_CHECKING:
    from ..sessions.chosen.config import ConfigChoice
    from .inputs.web_address import AddressChoice


def served(choice: ConfigChoice, address: AddressChoice, ready: Callable[[str], None], *, page: bool) -> int:
    """Serve until a signal comes; the exit code. ``ready`` gets ``host:port``.

    Raises ``UsageError`` for an address that cannot be served, and what opening a session raises.
    """
    from toolspan_server.cli.logs import logging_to_stderr

    from ..web.app.options import Address
    from ..web.app.running import run_app

    where = Address(address.host, address.port, _token(address.token_env), address.insecure)
    try:
        with logging_to_stderr("warning", "text"):
            return run_app(choice, TERMINAL, where, ready, page=page)
    except ServeError as error:
        raise UsageError(str(error)) from None


def _token(variable: str | None) -> str | None:
    if variable is None:
        return None
    token = os.environ.pop(variable, "").strip()  # the servers that are started shall not have it
    if not token:
        raise UsageError(f"--token-env {variable}: the variable is not set, or empty")
    return token
