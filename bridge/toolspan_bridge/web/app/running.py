"""The process of the app: its socket, its signals, its event loop."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from toolspan_server.http_server.access import AccessOptions
from toolspan_server.http_server.listening import authority, listen
from toolspan_server.shutdown import Stop

from .application import Application, public_paths
from .serving import LIMIT_S, serve
from .state import App

if TYPE_CHECKING:
    from ...sessions.chosen.config import ConfigChoice
    from ...sessions.host import Host
    from .options import Address

_FILES = 8_192


def run_app(
    choice: ConfigChoice, operator: Host, address: Address, ready: Callable[[str], None], *, page: bool
) -> int:
    """Serve until a signal comes; gives the exit code: 0, or 130 after Ctrl+C.

    ``ready`` is called with ``host:port`` once requests are accepted. Raises ``ServeError`` for an address
    that cannot be served, or not without a token, and what ``sessions.session.opened`` raises.
    """
    from toolspan_server.cli.event_loop import run

    _allow_files()
    access = AccessOptions(address.host, address.token, address.insecure, public=public_paths(page=page))
    stop = Stop(LIMIT_S)
    application = Application(App(choice, operator), access, page=page)

    with stop.signals(), listen(address.host, address.port) as listener:
        run(lambda: serve(application, listener, stop, lambda: ready(authority(listener))), use_uvloop=True)
    return stop.exit_code


def _allow_files() -> None:
    """Let this process have as many open files as its connections and those to providers are, where the
    system lets it."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
