"""The command line of ``toolspan-server``, parsed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from ..common.did_you_mean import nearest
from .logs import FORMS, LEVELS
from .options import DEFAULT_PORT, EXAMPLE, Options

if TYPE_CHECKING:
    from _typeshed import SupportsWrite


class _Parser(argparse.ArgumentParser):
    """Makes its message, which may quote any argument, safe to print."""

    @property
    def options(self) -> Sequence[argparse.Action]:
        """What it knows."""
        return self._actions

    @override
    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        from ..common.visible import visible

        super()._print_message(visible(message), file)


def parsed(argv: Sequence[str], prog: str) -> Options:
    """The options in ``argv``. Raises ``SystemExit`` when help was asked for, or the usage is wrong."""
    parser = _parser(prog)
    options, unknown = parser.parse_known_args(argv, Options())
    if unknown:
        known = [name for action in parser.options for name in action.option_strings]
        hint = f": {nearest(unknown[0], known)}" if unknown[0].startswith("-") else ""
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    return options


def option_names() -> tuple[str, ...]:
    """The options of ``toolspan-server``, as ``--config``."""
    return tuple(
        name for action in _parser("").options for name in action.option_strings if name.startswith("--")
    )


def _parser(prog: str) -> _Parser:
    parser = _Parser(
        prog=prog,
        description=f"Example:\n  {prog} {EXAMPLE}\n\nServe the tools of a config file over MCP.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("-c", "--config", metavar="FILE", action="append", type=Path, help="a config file; may be repeated")
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
    add(
        "--describe",
        action="store_true",
        help="print as JSON what would be served, with the state of each source and service, and end",
    )
    add(
        "--toolset",
        metavar="NAME",
        help="serve only this toolset, as if it were everything; where there is no config, workspace means "
        "the tools that work in this folder",
    )
    add(
        "--workspace",
        metavar="DIR",
        type=Path,
        help="serve the tools that read, search and change files in this folder; a config is needed no more",
    )
    add(
        "--rules",
        metavar="JSON",
        help="the approvals of a config, as JSON: no tool of --workspace opens what its rules deny",
    )
    add(
        "--beside",
        metavar="FILE",
        action="append",
        type=Path,
        help="a config that another server of the same program serves: no tool of a workspace changes it, or "
        "what it has Toolspan run; may be repeated",
    )
    add(
        "--leave",
        metavar="PATH",
        action="append",
        type=Path,
        help="a file or folder that no tool of a workspace changes; may be repeated",
    )
    add(
        "--aggregate",
        action=argparse.BooleanOptionalAction,
        help="serve the servers of mcpServers too, whether or not the "
        "config has the key aggregate; --no-aggregate: only the config's own",
    )
    add(
        "--trust",
        action="store_true",
        help="take all of a config that was found here, not named: without it, only what is inert is taken "
        "(docs/how-to/trust.md)",
    )
    add(
        "--restricted",
        action="store_true",
        help="take only what is inert of the config, as of one that was found here and is not trusted",
    )
    add(
        "--pinned",
        metavar="SHA256",
        help="let the config run code and send variables only while this is the fingerprint of it and its "
        "handlers",
    )
    add(
        "--principals",
        choices=("local", "meta"),
        help="whom the calls on stdio are made for: local (the default), the user of this machine; meta, "
        "whomever _meta dev.toolspan/principal of each request names, for a program that starts this server "
        "and speaks for several people",
    )
    add("--skip-invalid", action="store_true", help="serve without the tools that are wrong, and name them")
    add("--log-level", choices=LEVELS, help="what to log on stderr (default: warning); info: a line a call")
    add("--log-format", choices=FORMS, help="text, or json: an object a line (default: text)")
    add(
        "--debug",
        action="store_true",
        help="log what clients and other servers send and get, without secrets, whatever the log level is",
    )
    return parser


def _port(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port (0 to 65535)")
    return int(text)


def _workers(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= 255:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of workers (1 to 255)")
    return int(text)
