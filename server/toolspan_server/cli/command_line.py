"""The command line of ``toolspan-server``, parsed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from .logs import LEVELS
from .options import DEFAULT_PORT, Options

if TYPE_CHECKING:
    from _typeshed import SupportsWrite


class _Parser(argparse.ArgumentParser):
    """Makes its message, which may quote any argument, safe to print."""

    @override
    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        from ..common.visible import visible

        super()._print_message(visible(message), file)


def parsed(argv: Sequence[str], prog: str) -> Options:
    """The options in ``argv``. Raises ``SystemExit`` when help was asked for, or the usage is wrong."""
    return _parser(prog).parse_args(argv, Options())


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = _Parser(prog=prog, description="Serve the tools of a config file over MCP.")
    add = parser.add_argument
    add("--config", metavar="FILE", action="append", type=Path, help="a config file; may be repeated")
    add("--transport", choices=("stdio", "http"), help="default: stdio")
    add("--host", help="address to serve HTTP at (default: 127.0.0.1)")
    add("--port", type=_port, help=f"port to serve HTTP at; 0: any (default: {DEFAULT_PORT})")
    add("--workers", metavar="N", type=_workers, help="processes that serve HTTP at the port (default: 1)")
    add(
        "--token-env",
        metavar="NAME",
        help="environment variable with the bearer token that HTTP clients must send",
    )
    add("--insecure", action="store_true", help="serve beyond this machine without auth")
    add(
        "--hash-token",
        action="store_true",
        help="read a token from standard input, print its SHA-256 for the config's auth, and end",
    )
    add("--toolset", metavar="NAME", help="serve only this toolset, as if it were everything")
    add(
        "--workspace",
        metavar="DIR",
        type=Path,
        help="serve the tools that read, search and change files in this folder; a config is needed no more",
    )
    add(
        "--trust",
        action="store_true",
        help="let a config that was found here, not named, run its handlers and upstream servers, and send "
        "variables of the environment where it says",
    )
    add("--skip-invalid", action="store_true", help="serve without the tools that are wrong, and name them")
    add("--log-level", choices=LEVELS, help="what to log on stderr (default: warning)")
    return parser


def _port(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port (0 to 65535)")
    return int(text)


def _workers(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= 255:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of workers (1 to 255)")
    return int(text)
