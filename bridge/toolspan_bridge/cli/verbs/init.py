"""``toolspan init``: a commented config to start from."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import anyio
import click

from toolspan_server.config import load_config

from ...errors import UsageError
from ...init import (
    Entry,
    api_source,
    config_text,
    http_tool,
    mock_tool,
    recorded,
)
from ...init._record import Calling
from ..inputs.options import json_option
from ..terminal.output import emit_document, emit_json, print_note

_TOOL = re.compile(r"\$\.tools\.registry\[(\d+)\]")


@click.command(name="init", short_help="Write a config to start from.")
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
    "-o", "--output", default="toolspan.yaml", metavar="FILE", help="Default: toolspan.yaml; -: stdout."
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
) -> None:
    """Write a commented config for what you name; with nothing named, one mock.

    What is written passes `toolspan check`. An existing file is overwritten only with --force.
    """
    path = None if output == "-" else Path(output)
    if path is not None and os.path.lexists(path) and not force:
        raise UsageError(f"{path} exists already: name another with --output, or add --force")
    directory = Path.cwd() if path is None else path.absolute().parent
    if not directory.is_dir():
        raise UsageError(f"{directory} is no folder")
    if not (mocks or requests or apis or servers):
        mocks = ("example",)
    own = _tools(mocks, requests)
    taken = {str(tool.data["name"]).lower() for tool in own}
    tools = own + (_recorded(servers, calling, taken) if servers else [])
    sources = [api_source(place, directory) for place in apis]
    text, left_out = _checked(name, tools, sources, len(own))
    if path is None:
        emit_document(text)
        return
    _write(path, text)
    _tell(path, tools, sources, left_out, as_json=as_json)


def _tools(mocks: Sequence[str], requests: Sequence[str]) -> list[Entry]:
    taken: set[str] = set()
    entries: list[Entry] = []
    for name in mocks:
        if name.lower() in taken:
            raise UsageError(f"--mock {name!r} is there twice (tool names that differ by case alone are one)")
        taken.add(name.lower())
        entries.append(mock_tool(name))
    return entries + [http_tool(text, taken) for text in requests]


def _recorded(servers: Sequence[str], calling: Calling, taken: set[str]) -> list[Entry]:
    entries: list[Entry] = []
    for server in servers:
        found, notes = anyio.run(recorded, server, calling, taken)
        for text in notes:
            print_note(text)
        if not found:
            print_note(f"{server} offers no tools")
        entries += found
    return entries


def _checked(name: str, tools: list[Entry], sources: list[Entry], own: int) -> tuple[str, list[str]]:
    """The text, which loads; and the tools that were left out because they cannot be served.

    ``tools`` loses those. Raises ``UsageError`` when one of the first ``own`` is wrong, which a person named.
    """
    for index in _wrong(name, tools, sources):
        plain = {key: value for key, value in tools[index].data.items() if key != "output_schema"}
        tools[index] = Entry(plain, tools[index].comments)
    wrong = _wrong(name, tools, sources)
    if named := [why for index, why in wrong.items() if index < own]:
        raise UsageError("; ".join(named))
    left_out = [str(tools[index].data["name"]) for index in wrong]
    for index, why in wrong.items():
        print_note(f"{tools[index].data['name']} is left out: {why}")
    tools[:] = [tool for index, tool in enumerate(tools) if index not in wrong]
    return config_text(name, tools, sources), left_out


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


def _write(path: Path, text: str) -> None:
    """Put ``text`` at ``path`` in one step."""
    target = path.resolve()
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=target.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            Path(temporary).chmod(0o644)
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as fault:
        raise UsageError(f"{path} cannot be written: {fault.strerror}") from None


def _tell(
    path: Path, tools: Sequence[Entry], sources: Sequence[Entry], left_out: Sequence[str], *, as_json: bool
) -> None:
    names = [str(tool.data["name"]) for tool in tools]
    if as_json:
        data = {
            "path": str(path.absolute()),
            "tools": names,
            "sources": len(sources),
            "left_out": list(left_out),
        }
        emit_json(data)
        return
    parts = [f"{len(names)} tools" if len(names) != 1 else "1 tool"]
    if sources:
        parts.append(f"{len(sources)} sources" if len(sources) != 1 else "1 source")
    print_note(f"{path} was written: {' and '.join(parts)}; next: toolspan check, toolspan serve")
