"""``toolspan init``: write a config to start from."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread
import click

from toolspan_server.config import DEFAULT_FILES, load_config

from ...errors import StoreError, UsageError
from ...files.replacement import place_within, replace_file
from ...sessions.chosen.config import trusted_folders
from ..init import (
    SCHEMA,
    Calling,
    Described,
    Entry,
    api_source,
    config_text,
    described,
    http_tool,
    mock_tool,
    put_schema,
    recorded,
)
from ..inputs.options import json_option
from ..inputs.start import Start, asked_start
from ..module_group import Verb
from ..terminal.output import emit_document, emit_json, print_note
from ..terminal.program import command_line
from ..terminal.questions.one_question import has_terminal
from ..terminal.waiting.waits import waiting

EXIT_TOOL_ERROR = 5
_DEFAULT_OUTPUT = Path("toolspan.yaml")
_TOOL = re.compile(r"\$\.tools\.registry\[(\d+)\]")


@click.command(name="init", cls=Verb, example="toolspan init --openapi https://example.com/openapi.json")
@click.option(
    "--mock", "mocks", multiple=True, metavar="NAME", help="A tool with a made-up answer; may repeat."
)
@click.option(
    "--http",
    "requests",
    multiple=True,
    metavar="URL",
    help="A tool that makes a request, or 'POST URL'; {name} in it is a parameter; may repeat.",
)
@click.option(
    "--openapi",
    "apis",
    multiple=True,
    metavar="FILE|URL",
    help="The tools of an OpenAPI description; may repeat.",
)
@click.option(
    "--from-mcp",
    "servers",
    multiple=True,
    metavar="COMMAND|URL",
    help="Another MCP server's tools, recorded as mocks; may repeat.",
)
@click.option(
    "--call",
    "calling",
    type=click.Choice(["no", "read-only", "all"]),
    default="no",
    help="Which of those to call for their answers, with made-up arguments. Default: no.",
)
@click.option("--name", default="toolspan", metavar="NAME", help="How the server introduces itself.")
@click.option(
    "-o", "--output", default=str(_DEFAULT_OUTPUT), metavar="FILE", help="Default: toolspan.yaml; -: stdout."
)
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@json_option
def command(
    mocks: tuple[str, ...],
    requests: tuple[str, ...],
    apis: tuple[str, ...],
    servers: tuple[str, ...],
    calling: Calling,
    name: str,
    output: str,
    force: bool,
    as_json: bool,
) -> int:
    """Write a commented config for what you name; with nothing named it asks at a terminal what you have, and
    elsewhere writes one mock.

    What is written passes `toolspan check`, and its tools are counted: what is left out is named with the
    reason. Exit 5 when no tool can be used. An existing file is overwritten only with --force. What you had
    written is trusted as it is.
    """
    path = None if output == "-" else Path(output)
    if path is not None and os.path.lexists(path) and not force:
        raise UsageError(f"{path} exists already: name another with --output, or add --force")
    directory = Path.cwd() if path is None else path.absolute().parent
    if not directory.is_dir():
        raise UsageError(f"{directory} is no folder")
    start = Start(list(mocks), list(requests), list(apis), list(servers), calling)
    if start.is_empty and not as_json and has_terminal():
        start = asked_start(directory)
    if start.is_empty:
        start.mocks.append("example")
    written = _made(name, start, directory)
    text = written.text("" if path is None else SCHEMA)
    served = _served(text, directory) if written.sources else Described(written.names, ())
    if path is None:
        emit_document(text)
    else:
        _check_place(path)
        put_schema(directory)
        _write(path, text)
        _trust(path, text)
    _tell(path, written, served, as_json=as_json)
    return 0 if served.tools else EXIT_TOOL_ERROR


@dataclass(frozen=True, slots=True)
class _Written:
    """A config's parts, and each tool that was left out of it: ``NAME: why``."""

    name: str
    tools: Sequence[Entry]
    sources: Sequence[Entry]
    left_out: Sequence[str]

    @property
    def names(self) -> list[str]:
        return [str(tool.data["name"]) for tool in self.tools]

    def text(self, schema: str) -> str:
        return config_text(self.name, self.tools, self.sources, schema)


def _made(name: str, start: Start, directory: Path) -> _Written:
    own = _tools(start.mocks, start.requests)
    taken = {str(tool.data["name"]).lower() for tool in own}
    tools = own + (_recorded(start.servers, start.calling, taken) if start.servers else [])
    with _of_option("--openapi"):
        sources = [api_source(place, directory) for place in start.apis]
    left_out = _leave_out_wrong(name, tools, sources, len(own))
    return _Written(name, tools, sources, left_out)


def _served(text: str, directory: Path) -> Described:
    """What ``text`` serves as a config in ``directory``, where nothing stays."""
    descriptor, temporary = _temporary(directory / "toolspan.yaml")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        return anyio.run(_described, Path(temporary))
    finally:
        Path(temporary).unlink(missing_ok=True)


def _tools(mocks: Sequence[str], requests: Sequence[str]) -> list[Entry]:
    taken: set[str] = set()
    entries: list[Entry] = []
    for name in mocks:
        if name.lower() in taken:
            raise UsageError(f"--mock {name!r} is there twice (tool names that differ by case alone are one)")
        taken.add(name.lower())
        with _of_option("--mock"):
            entries.append(mock_tool(name))
    with _of_option("--http"):
        return entries + [http_tool(text, taken) for text in requests]


@contextmanager
def _of_option(name: str) -> Generator[None]:
    """A ``UsageError`` of the block is about what was given for the option ``name``, and says so."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{name} {error.message}") from None


def _recorded(servers: Sequence[str], calling: Calling, taken: set[str]) -> list[Entry]:
    entries: list[Entry] = []
    for server in servers:
        with _of_option("--from-mcp"):
            found, notes = anyio.run(_recorded_tools, server, calling, taken)
        for text in notes:
            print_note(text)
        if not found:
            print_note(f"{server} offers no tools")
        entries += found
    return entries


async def _recorded_tools(server: str, calling: Calling, taken: set[str]) -> tuple[list[Entry], list[str]]:
    with waiting(f"the tools of {server}"):
        return await recorded(server, calling, taken)


async def _described(config: Path) -> Described:
    with waiting("the tools of its sources"):
        return await anyio.to_thread.run_sync(described, config, abandon_on_cancel=True)


def _leave_out_wrong(name: str, tools: list[Entry], sources: list[Entry], own: int) -> list[str]:
    """Take out of ``tools`` those that cannot be served; gives each with the reason.

    Raises ``UsageError`` when one of the first ``own`` is wrong, which a person named.
    """
    for index in _wrong(name, tools, sources):
        plain = {key: value for key, value in tools[index].data.items() if key != "output_schema"}
        tools[index] = Entry(plain, tools[index].comments)
    wrong = _wrong(name, tools, sources)
    if named := [why for index, why in wrong.items() if index < own]:
        raise UsageError("; ".join(named))
    left_out = [f"{tools[index].data['name']}: {why}" for index, why in wrong.items()]
    tools[:] = [tool for index, tool in enumerate(tools) if index not in wrong]
    return left_out


def _wrong(name: str, tools: Sequence[Entry], sources: Sequence[Entry]) -> dict[int, str]:
    """What is wrong with tools, by their places."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "toolspan.yaml"
        path.write_text(config_text(name, tools, sources), "utf-8")
        config = load_config(path, skip_invalid=True)
    wrong: dict[int, str] = {}
    for problem in config.skipped:
        if match := _TOOL.match(problem.path):
            wrong.setdefault(int(match.group(1)), f"{problem.path}: {problem.message}")
    return wrong


def _temporary(path: Path) -> tuple[int, str]:
    try:
        return tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    except OSError as fault:
        raise UsageError(f"{path} cannot be written: {fault.strerror}") from None


def _check_place(path: Path) -> None:
    """Raise ``UsageError`` where nobody named ``path``, and a link leads out of this folder there."""
    if path != _DEFAULT_OUTPUT:
        return
    try:
        place_within(Path.cwd(), path)
    except OSError as fault:
        raise UsageError(f"{path} cannot be written: {fault.strerror}") from None


def _write(path: Path, text: str) -> None:
    """Put ``text`` at ``path`` in one step."""
    try:
        replace_file(path.resolve(), text.encode(), mode=0o644)
    except OSError as fault:
        raise UsageError(f"{path} cannot be written: {fault.strerror}") from None


def _trust(path: Path, text: str) -> None:
    """Remember that the person who had ``text`` written trusts it as it is, where it would be found."""
    if path.name not in DEFAULT_FILES:
        return
    place = path.resolve()
    config = load_config(place, skip_invalid=True, import_handlers=False, restricted=True)
    if [each.text for each in config.originals] != [text]:  # somebody else wrote it meanwhile
        return
    try:
        trusted_folders().trust(place.parent, config.withheld)
    except StoreError as error:
        print_note(f"you are asked whether you trust what was written: {error}")


def _tell(path: Path | None, written: _Written, served: Described, *, as_json: bool) -> None:
    left_out = [*written.left_out, *served.left_out]
    if as_json and path is not None:
        data = {"path": str(path.absolute()), "tools": list(served.tools), "sources": len(written.sources)}
        emit_json({**data, "left_out": left_out})
        return
    for each in left_out:
        print_note(f"left out: {each}")
    count = len(served.tools)
    counted = "1 tool" if count == 1 else f"{count} tools"
    if path is None:
        print_note(counted)
        return
    omitted = f", {len(left_out)} left out" if left_out else ""
    print_note(f"{path} was written: {counted}{omitted}")
    config = [] if path.name in DEFAULT_FILES and path.absolute().parent == Path.cwd() else ["-c", str(path)]
    look = command_line("tools", "list", *config)
    if count:
        print_note(f"next: {look}; {command_line('serve', *config)}")
    else:
        print_note(f"no tool can be used so far: correct {path}, then {look}")
