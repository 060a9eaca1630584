"""``toolspan-server``, and ``toolspan serve``: serve a config's tools over MCP."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ._collector import keeping
from ._logging import LEVELS, logging_to_stderr
from .config import DEFAULT_FILES, Config, find_config, load_config
from .errors import ConfigError, ServeError
from .protocol.stop import Stop

if TYPE_CHECKING:
    import socket

    from .protocol._pipes import Pipes
    from .protocol.guard import Access

EXIT_USAGE = 2
DEFAULT_PORT = 8808


def main(argv: Sequence[str] | None = None, prog: str = "toolspan-server") -> int:
    """Serve until the client leaves or a signal comes; gives the exit code.

    0: ended as asked; 130: Ctrl+C; 2: wrong usage, a bad config, or an address that cannot be served.
    """
    try:
        options = _parser(prog).parse_args(argv)
    except SystemExit as exit_:
        return int(exit_.code or 0)
    stop = Stop()
    try:
        with stop.signals():
            _serve(options, stop)
            return stop.exit_code
    except ConfigError as error:
        return _refused(*map(str, error.problems))
    except ServeError as error:
        return _refused(f"{prog}: {error}")


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=prog, description="Serve the tools of a config file over MCP.")
    add = parser.add_argument
    add("--config", metavar="FILE", action="append", type=Path, help="a config file; may be repeated")
    add("--transport", choices=("stdio", "http"), default="stdio", help="default: stdio")
    add("--host", default="127.0.0.1", help="address to serve HTTP at (default: 127.0.0.1)")
    add(
        "--port",
        type=_port,
        default=DEFAULT_PORT,
        help=f"port to serve HTTP at; 0: any (default: {DEFAULT_PORT})",
    )
    add(
        "--workers",
        metavar="N",
        type=_workers,
        default=1,
        help="processes that serve HTTP at the port (default: 1)",
    )
    add(
        "--token-env",
        metavar="NAME",
        help="environment variable with the bearer token that HTTP clients must send",
    )
    add("--insecure", action="store_true", help="serve beyond this machine without a token")
    add("--skip-invalid", action="store_true", help="serve without the tools that are wrong, and name them")
    add("--log-level", choices=LEVELS, default="warning", help="what to log on stderr (default: warning)")
    return parser


def _port(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port (0 to 65535)")
    return int(text)


def _workers(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= 255:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of workers (1 to 255)")
    return int(text)


def _serve(options: argparse.Namespace, stop: Stop) -> None:
    _check_workers(options)
    with ExitStack() as stack:
        log = stack.enter_context(logging_to_stderr(options.log_level))
        if options.transport == "stdio":
            from .protocol._pipes import claimed

            # Before the config is read: that imports the modules of handlers, which may print.
            pipes = stack.enter_context(claimed())
            config = _config(options)
            log.redact = config.redact
            _serve_stdio(config, pipes, stop)
        else:
            config = _config(options)
            log.redact = config.redact
            access = _access(options)
            _serve_at(stack.enter_context(_listener(options)), config, access, options.workers, stop)
        stop.leave()


def _config(options: argparse.Namespace) -> Config:
    files: list[Path] = options.config or []
    if not files:
        found = find_config(Path.cwd())
        if found is None:
            names = ", ".join(DEFAULT_FILES)
            raise ServeError(
                f"no config file in {Path.cwd()} (looked for {names}): name one with --config FILE"
            )
        files = [found]
    with keeping():
        config = load_config(*files, skip_invalid=options.skip_invalid)
    for problem in config.skipped:
        _say(f"toolspan: skipped: {problem}")
    return config


def _serve_stdio(config: Config, pipes: Pipes, stop: Stop) -> None:
    import anyio

    async def run() -> None:
        from .protocol import stdio
        from .runtime import running
        from .surface import Surface

        async with running(config) as runtime:
            await stdio.serve(Surface(runtime), pipes, stop)

    anyio.run(run)


def _serve_at(listener: socket.socket, config: Config, access: Access, workers: int, stop: Stop) -> None:
    """Serve HTTP in this process, or in ``workers`` of them."""
    ready = partial(_announce, config, listener, workers)
    if workers == 1:
        _serve_http(config, access, stop, listener, ready)
        return
    from .protocol.workers import Workers, spread

    def work(own: socket.socket, ready: Callable[[], None], alive: int) -> int:
        _serve_http(config, access, stop, own, ready, alive)
        stop.leave()
        return stop.exit_code

    stop.exit_code = Workers(work, spread(listener, workers), ready, _say).run()


def _serve_http(
    config: Config,
    access: Access,
    stop: Stop,
    listener: socket.socket,
    ready: Callable[[], None],
    alive: int | None = None,
) -> None:
    import anyio

    async def run() -> None:
        from .protocol import http
        from .protocol.workers import until_orphaned
        from .runtime import running

        async with running(config) as runtime, anyio.create_task_group() as group:
            if alive is not None:
                group.start_soon(until_orphaned, alive, stop)
            await http.serve(runtime, listener, access, stop, ready)
            group.cancel_scope.cancel()

    anyio.run(run, backend_options={"use_uvloop": sys.platform != "win32"})


def _check_workers(options: argparse.Namespace) -> None:
    if options.workers == 1:
        return
    from .protocol.workers import check_workers

    if options.transport == "stdio":
        raise ServeError("--workers needs --transport http: on stdio there is one client and one process")
    check_workers()


def _listener(options: argparse.Namespace) -> socket.socket:
    from .protocol._listen import listen

    return listen(options.host, options.port)


def _access(options: argparse.Namespace) -> Access:
    from .protocol._listen import is_loopback
    from .protocol.guard import LOOPBACK, Access

    token = _token(options.token_env)
    host = options.host.lower()
    names = LOOPBACK | {f"[{host}]" if ":" in host else host}
    if is_loopback(options.host):
        return Access(names, token=token)
    if token is None and not options.insecure:
        raise ServeError(
            f"--host {options.host} is reachable from other machines: give a variable that holds a token "
            "with --token-env NAME, or say --insecure"
        )
    return Access(names | _own_names(), addresses=True, any_name=token is not None, token=token)


def _own_names() -> frozenset[str]:
    import socket

    return frozenset({socket.gethostname().lower()})


def _token(variable: str | None) -> str | None:
    if variable is None:
        return None
    token = os.environ.get(variable, "").strip()
    if not token:
        raise ServeError(f"--token-env {variable}: the variable is not set, or empty")
    return token


def _announce(config: Config, listener: socket.socket, workers: int) -> None:
    from .protocol._listen import authority

    tools = len(config.tools.registry) if config.tools.enabled else 0
    noun = "tool" if tools == 1 else "tools"
    by = f" with {workers} workers" if workers > 1 else ""
    address = authority(listener)
    _say(
        f"toolspan: serving {tools} {noun} at http://{address}/mcp (Streamable HTTP) and /sse (HTTP+SSE){by}"
    )


def _refused(*lines: str) -> int:
    for line in lines:
        _say(line)
    return EXIT_USAGE


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201  # the operator reads it there
