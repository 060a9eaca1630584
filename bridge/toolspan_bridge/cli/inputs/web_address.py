"""The options of where the page, the API and the gateway are served."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

DEFAULT_PORT = 8809


@dataclass(frozen=True, slots=True)
class AddressChoice:
    """The ``host`` and ``port`` to serve at, the environment variable of the token, and whether none is
    needed beyond this machine."""

    host: str
    port: int
    token_env: str | None
    insecure: bool


def address_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--host``, ``--port``, ``--token-env`` and ``--insecure``, given to ``function`` as ``address``."""

    @wraps(function)
    def chosen(
        *args: Any, host: str, port: int, token_env: str | None, insecure: bool, **options: Any
    ) -> Any:
        return function(*args, address=AddressChoice(host, port, token_env, insecure), **options)

    host = click.option("--host", default="127.0.0.1", show_default=True, help="The address to serve at.")
    port = click.option(
        "--port",
        type=click.IntRange(0, 65_535),
        default=DEFAULT_PORT,
        show_default=True,
        help="The port to serve at; 0 takes a free one.",
    )
    token = click.option(
        "--token-env",
        metavar="NAME",
        help="The environment variable with the bearer token that requests must have.",
    )
    insecure = click.option("--insecure", is_flag=True, help="Serve beyond this machine without a token.")
    return host(port(token(insecure(chosen))))
