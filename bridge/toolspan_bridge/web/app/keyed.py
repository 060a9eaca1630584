"""Who may access the app: with a token, with a virtual key, or, where that is enough, anybody here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from toolspan_server.config import refusal, withheld_login
from toolspan_server.errors import ServeError
from toolspan_server.http_server.auth import Auth
from toolspan_server.http_server.listening import is_loopback

from ..keys.gate import KeyGate

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolspan_server.config import Config
    from toolspan_server.http_server.access import AccessOptions
    from toolspan_server.http_server.guard import Access

    from ..keys.admission import VirtualKeys

__all__ = ["keyed_access"]


def keyed_access(options: AccessOptions, config: Config, keys: Callable[[], VirtualKeys]) -> Access:
    """Who may access the app of ``config``: those whom ``options`` let in, and to the gateway those with one
    of ``keys``.

    Where the config requires keys, the app is also served beyond this machine without a token: then nobody
    there gets at anything but the gateway. Raises as ``AccessOptions.access``, and ``ServeError`` where the
    config's authentication was left out, as nobody trusts it.
    """
    if kept := withheld_login(config):
        raise ServeError(refusal(kept))
    required, beyond = config.web.keys == "required", not is_loopback(options.host)
    try:
        access = (replace(options, insecure=True) if required else options).access(config)
    except ServeError as error:
        raise ServeError(
            f"{error}; or let virtual keys alone in, to the gateway (web.keys: required)"
        ) from None
    inner = access.auth
    if inner is None and required and beyond and not options.insecure:
        inner = Auth({}, public=options.public)
    gate = KeyGate(keys, inner, options.public, required=required)
    return replace(access, auth=gate, any_name=access.any_name or (beyond and inner is not None))
