"""``toolspan-server``, and ``toolspan serve``: serve a config's tools over MCP."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..common.did_you_mean import nearest
from ..common.garbage_collector import skipped_at_exit
from ..config import (
    DEFAULT_FILES,
    Config,
    find_config,
    left_out,
    offer,
    refusal,
    withheld_login,
)
from ..errors import ConfigError, ServeError
from ..live.config_files import ConfigFiles, Consent
from ..shutdown import Stop
from .logs import LogFormatter, logging_to_stderr
from .options import Options

if TYPE_CHECKING:
    import socket

    from ..config.models.sent_variable import UntrustedItem
    from ..http_server.access import AccessOptions
    from ..live.runtime import Runtime
    from ..protocol.stdio.first_requests import FirstRequests
    from ..protocol.stdio.pipes import Pipes
    from ..tools.registry import CompiledTools

EXIT_USAGE = 2
_FREQUENT = frozenset(("-c", "--config", "--pinned", "--principals"))
_PRINCIPALS = ("local", "meta")


def main(
    argv: Sequence[str] | None = None, prog: str = "toolspan-server", consent: Consent | None = None
) -> int:
    """Serve until the client leaves or a signal comes; gives the exit code.

    0: ended as asked; 130: Ctrl+C; 2: wrong usage, a bad config, or an address that cannot be served.

    ``consent`` says whether the user allows what a config that was found would run.
    """
    if argv is None:
        skipped_at_exit()
    try:
        options = _options(sys.argv[1:] if argv is None else argv, prog)
    except SystemExit as exit_:
        return int(exit_.code or 0)
    if options.hash_token:
        return _hash_token()
    stop = Stop()
    try:
        with stop.signals():
            _serve(options, stop, consent)
            return stop.exit_code
    except ConfigError as error:
        return _refused(*map(str, error.problems))
    except ServeError as error:
        return _refused(f"{prog}: {error}")


def _options(argv: Sequence[str], prog: str) -> Options:
    """The options in ``argv``; the most frequent ones are read without loading the parser."""
    restricted = [*argv[:1]] == ["--restricted"]
    if restricted:
        argv = argv[1:]
    names, values = argv[::2], argv[1::2]
    if (
        len(names) > len(values)
        or not _FREQUENT.issuperset(names)
        or any(value.startswith("-") for value in values)
        or any(
            name == "--principals" and value not in _PRINCIPALS
            for name, value in zip(names, values, strict=False)
        )
    ):
        from .command_line import parsed

        options = parsed(argv, prog)
        options.restricted |= restricted
        return options
    options = Options(restricted=restricted)
    for name, value in zip(names, values, strict=True):
        if name == "--pinned":
            options.pinned = value
        elif name == "--principals":
            options.principals = value
        else:
            options.config.append(Path(value))
    return options


def _serve(options: Options, stop: Stop, consent: Consent | None) -> None:
    _check_workers(options)
    if options.principals == "meta" and options.transport != "stdio":
        raise ServeError("--principals meta needs --transport stdio: over HTTP a token says who calls")
    with ExitStack() as stack:
        log = stack.enter_context(logging_to_stderr(options.log_level, options.log_format))
        if options.debug:
            from .wire_log import wire_logged

            stack.enter_context(wire_logged(log))
        if options.describe:
            _describe(options, log, consent)
        elif options.transport == "stdio":
            from ..protocol.stdio.pipes import claimed

            watched = all(file is not None and file.isatty() for file in (sys.stdin, sys.stderr))
            # Before the config is read: that imports the modules of handlers, which may print.
            pipes = stack.enter_context(claimed(_pipes(options)))
            served = _served(options, log, consent)
            if watched:
                _say_waiting(served)
            _serve_stdio(served, pipes, stop, names_principals=options.principals == "meta")
        else:
            served = _served(options, log, consent)
            access_options = _access_options(options)
            access_options.access(served.config)
            _serve_at(stack.enter_context(_listener(options)), served, access_options, options.workers, stop)
        stop.leave()


@dataclass(frozen=True, slots=True)
class _Served:
    """What is served, and who else has to know of it."""

    config: Config
    files: ConfigFiles
    toolset: str | None
    log: LogFormatter

    @asynccontextmanager
    async def running(self, tools: CompiledTools | None = None) -> AsyncGenerator[Runtime]:
        """The live server, which follows its files; its tools are ``tools``, if they are prepared already."""
        from ..live.reload import reloading
        from ..live.runtime import running

        async with running(self.config, tools) as runtime:
            self.log.redact = runtime.redact
            if self.config.serving.reload:
                runtime.start(partial(reloading, runtime, self.files))
            yield runtime


def _pipes(options: Options) -> type[Pipes]:
    if options.debug:
        from ..protocol.stdio.shown_pipes import ShownPipes

        return ShownPipes
    from ..protocol.stdio.pipes import Pipes

    return Pipes


def _served(options: Options, log: LogFormatter, consent: Consent | None) -> _Served:
    files = _files(options, consent)
    config = files.load()
    log.redact = config.redact
    for problem in config.skipped:
        _say(f"toolspan: skipped: {problem}")
    if config.withheld and not options.restricted:
        _say(f"toolspan: {left_out(config.withheld)}")
    if options.transport != "stdio" and (kept := withheld_login(config)):
        raise ServeError(refusal(kept))
    if options.toolset is not None and options.toolset not in config.toolsets:
        from ..config import WORKSPACE

        hint = nearest(options.toolset, config.toolsets)
        if options.toolset == WORKSPACE:
            hint += "; --workspace DIR adds the tools of a folder"
        raise ServeError(f"--toolset {options.toolset}: the config has no such toolset ({hint})")
    return _Served(config, files, options.toolset, log)


def _files(options: Options, consent: Consent | None) -> ConfigFiles:
    files = options.config
    if not files and options.workspace is None:
        found = find_config(Path.cwd())
        if found is None:
            from ..config import WORKSPACE

            if options.toolset == WORKSPACE:
                here = Path.cwd()
                _say(f"toolspan: the workspace is {here} (--workspace DIR names another folder)")
                return ConfigFiles([], skip_invalid=options.skip_invalid, allowed=True, workspace=here)
            names = ", ".join(DEFAULT_FILES)
            raise ServeError(
                f"no config file in {Path.cwd()} (looked for {names}): name one with --config FILE"
            )
        from ..common.modules.bytecode import keep_bytecode_elsewhere

        keep_bytecode_elsewhere()
        files = [found]
    named = bool(options.config) or options.workspace is not None
    if options.trust and not named:
        consent = _trust_as_first_read()
    return ConfigFiles(
        files,
        skip_invalid=options.skip_invalid,
        allowed=named and options.pinned is None and not options.restricted,
        workspace=options.workspace,
        rules=options.rules,
        beside=options.beside,
        left_alone=options.leave,
        consent=None if options.restricted else consent,
        pinned=options.pinned,
        aggregate=options.aggregate,
    )


def _trust_as_first_read() -> Consent:
    """The yes of ``--trust``: to what is read first, and later to the same."""
    first: list[UntrustedItem] = []

    def consent(found: Sequence[UntrustedItem], is_first: bool) -> bool:
        if is_first:
            first[:] = found
        return first == [*found]

    return consent


def _describe(options: Options, log: LogFormatter, consent: Consent | None) -> None:
    import json
    from contextlib import redirect_stdout

    from .describe import description
    from .event_loop import run

    async def describe() -> None:
        async with served.running() as runtime:
            found.update(await description(runtime))

    found: dict[str, Any] = {}
    with redirect_stdout(sys.stderr):  # modules of handlers are imported, and may print
        served = _served(options, log, consent)
        run(describe)
    print(json.dumps(found))  # noqa: T201  # what was asked for


def _serve_stdio(served: _Served, pipes: Pipes, stop: Stop, *, names_principals: bool) -> None:
    tools, opening = _opened(served, pipes)
    from .event_loop import run

    if opening is not None and opening.client_left(pipes):
        return

    async def serve() -> None:
        from ..live.views import view_of
        from ..protocol.stdio import server as stdio

        async with served.running(tools) as runtime:
            view = view_of(runtime, served.toolset)
            await stdio.serve(view, pipes, stop, opening, names_principals=names_principals)

    run(serve)


def _opened(served: _Served, pipes: Pipes) -> tuple[CompiledTools | None, FirstRequests | None]:
    """The first requests, answered before there is an event loop, where the config allows it."""
    from ..protocol.stdio.first_requests import listed_by_config, opened
    from ..tools.registry import compile_tools

    if served.toolset is not None or not listed_by_config(served.config):
        return None, None
    tools = compile_tools(served.config)
    return tools, opened(served.config, tools.registry, pipes)


def _serve_at(
    listener: socket.socket, served: _Served, access_options: AccessOptions, workers: int, stop: Stop
) -> None:
    """Serve HTTP in this process, or in ``workers`` of them."""
    ready = partial(_announce, served, listener, workers)
    if workers == 1:
        _serve_http(served, access_options, stop, listener, ready)
        return
    from ..live.worker_limits import kept_apart
    from ..protocol.http.workers import Workers, spread

    for line in kept_apart(served.config):
        _say(f"toolspan: warning: with {workers} workers, {line}")

    def work(own: socket.socket, ready: Callable[[], None], alive: int) -> int:
        _serve_http(served, access_options, stop, own, ready, alive)
        stop.leave()
        return stop.exit_code

    stop.exit_code = Workers(work, spread(listener, workers), ready, _say).run()


def _serve_http(
    served: _Served,
    access_options: AccessOptions,
    stop: Stop,
    listener: socket.socket,
    ready: Callable[[], None],
    alive: int | None = None,
) -> None:
    import anyio

    from .event_loop import run

    async def serve() -> None:
        from ..common.supervision import kept
        from ..live.metrics import Metrics
        from ..protocol.http import app as http
        from ..protocol.http.workers import until_orphaned

        async with served.running() as runtime, anyio.create_task_group() as group:
            if alive is not None:
                group.start_soon(
                    kept("the watch over the parent process", partial(until_orphaned, alive, stop))
                )
            labels = {} if alive is None else {"process": str(os.getpid())}
            await http.serve(runtime, listener, access_options, stop, ready, Metrics(labels), served.toolset)
            group.cancel_scope.cancel()

    run(serve, use_uvloop=True)


def _check_workers(options: Options) -> None:
    if options.workers == 1:
        return
    from ..protocol.http.workers import check_workers

    if options.transport == "stdio":
        raise ServeError("--workers needs --transport http: on stdio there is one client and one process")
    check_workers()


def _listener(options: Options) -> socket.socket:
    from ..http_server.listening import listen

    return listen(options.host, options.port)


def _access_options(options: Options) -> AccessOptions:
    from ..http_server.access import AccessOptions

    return AccessOptions(options.host, _token(options.token_env), options.insecure, options.toolset)


def _token(variable: str | None) -> str | None:
    if variable is None:
        return None
    from ..tools.withheld_variables import withhold

    withhold(variable)
    token = os.environ.get(variable, "").strip()
    if not token:
        raise ServeError(f"--token-env {variable}: the variable is not set, or empty")
    return token


def _hash_token() -> int:
    from ..http_server.auth import hashed

    token = sys.stdin.buffer.readline(65_536).strip()
    if not token:
        return _refused("toolspan: no token came on standard input (one line is read)")
    print(hashed(token).hex())  # noqa: T201  # what was asked for
    return 0


def _announce(served: _Served, listener: socket.socket, workers: int) -> None:
    from ..http_server.listening import authority

    by = f" with {workers} workers" if workers > 1 else ""
    what, address = offer(served.config, served.toolset), authority(listener)
    _say(f"toolspan: serving {what} at http://{address}/mcp (Streamable HTTP) and /sse (HTTP+SSE){by}")
    if sys.stderr.isatty():
        entry = f'{{"{served.config.name}": {{"url": "http://{address}/mcp"}}}}'
        _say(f"    a client adds it by that URL, in its settings: `mcpServers: {entry}`; it ends with Ctrl+C")


def _say_waiting(served: _Served) -> None:
    """Tell a person who started a server on stdio that it waits for a client, and how one comes to it."""
    what = offer(served.config, served.toolset)
    _say(
        f"toolspan: serving {what} on stdin and stdout, where an MCP client is expected, not a person\n"
        "    a client starts this command itself: `toolspan install CLIENT` writes it into its settings\n"
        "    to try the tools: `toolspan tools list`; to serve at a URL: --transport http\n"
        "    it ends with Ctrl+C"
    )


def _refused(*lines: str) -> int:
    for line in lines:
        _say(line)
    return EXIT_USAGE


def _say(line: str) -> None:
    from ..common.visible import broken_between_words, visible

    shown = visible(line)
    if sys.stderr.isatty():
        shown = broken_between_words(shown, os.get_terminal_size(sys.stderr.fileno()).columns or 80)
    print(shown, file=sys.stderr, flush=True)  # noqa: T201  # the operator reads it there
