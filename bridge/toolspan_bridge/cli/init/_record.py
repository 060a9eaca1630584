"""Another MCP server's tools, recorded as mocks."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any, Literal, cast

import anyio

from toolspan_server.engines.parameters import Check
from toolspan_server.engines.upstreams import ListedTool, ServerSpec

from ...errors import UnreachableError, UsageError
from ...principals import LOCAL_USER
from ...toolbox.connection import ToolConnection
from ._document import Entry
from ._samples import sample

Calling = Literal["no", "read-only", "all"]
"""Which tools of a recorded server are called for their answers."""
_CONNECT_S = 30.0
_CALL_S = 30.0
_MOST_BYTES = 65_536
_HINTS = {
    "readOnlyHint": "read_only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open_world",
}


async def recorded(command: str, calling: Calling, taken: set[str]) -> tuple[list[Entry], list[str]]:
    """The tools of the server that ``command`` starts, or that is at a URL, as mocks; and notes for the user.

    With ``calling`` they are called with made-up arguments and answer what came: ``read-only`` those that
    say that they change nothing. Raises ``UnreachableError`` when the server does not answer.
    """
    connection = ToolConnection(server_spec(command), _CONNECT_S)
    entries: list[Entry] = []
    notes: list[str] = []
    async with anyio.create_task_group() as group:
        group.start_soon(connection.run)
        await connection.ready.wait()
        if connection.failure is None:
            notes += connection.warnings
            for tool in connection.tools:
                entries.append(await _entry(connection, tool, calling, taken, notes))
        connection.stop()
    if connection.failure is not None:
        raise UnreachableError(str(connection.failure))
    return entries, notes


def server_spec(command: str) -> ServerSpec:
    """The server that ``command`` starts, or that is at a URL. Raises ``UsageError``."""
    if re.match(r"https?://", command):
        return ServerSpec("recorded", kind="http", url=command, call_timeout=_CALL_S)
    try:
        words = tuple(shlex.split(command))
    except ValueError as fault:
        raise UsageError(f"{command!r}: {fault}") from None
    if not words:
        raise UsageError("an MCP server is a command, or a URL")
    return ServerSpec("recorded", command=words, inherit_env=True, call_timeout=_CALL_S)


async def _entry(
    connection: ToolConnection, tool: ListedTool, calling: Calling, taken: set[str], notes: list[str]
) -> Entry:
    name = _name(tool.name, taken)
    if name != tool.name:
        notes.append(f"the tool {tool.name!r} is called {name!r} here")
    annotations = _annotations(tool.details.get("annotations"))
    data: dict[str, Any] = {"name": name}
    if isinstance(title := tool.details.get("title"), str) and 0 < len(title) <= 200:
        data["title"] = title
    data["description"] = tool.description or f"The tool {tool.name}."
    if annotations:
        data["annotations"] = annotations
    data["parameters"] = _as_2020_12(tool.schema)
    response, how = await _response(connection, tool, calling, annotations, notes)
    output: Any = tool.details.get("outputSchema")
    if isinstance(output, dict):
        schema = _as_2020_12(cast("dict[str, Any]", output))
        if _fits(response, schema):
            data["output_schema"] = schema
    data["implementation"] = {"type": "mock", "mock_response": response}
    return Entry(data, [how])


async def _response(
    connection: ToolConnection,
    tool: ListedTool,
    calling: Calling,
    annotations: Mapping[str, Any],
    notes: list[str],
) -> tuple[Any, str]:
    """What the mock answers, and where that is from."""
    if calling == "all" or (calling == "read-only" and annotations.get("read_only") is True):
        made: Any = sample(dict(tool.schema), only_required=True)
        arguments = cast("dict[str, Any]", made) if isinstance(made, dict) else {}
        result = dict((await connection.outcome(tool.name, arguments, "init", principal=LOCAL_USER)).result)
        if not result["success"]:
            notes.append(
                f"{tool.name}: a call with {json.dumps(arguments)[:200]} failed: {result['error'][:200]}"
            )
        elif len(json.dumps(result["result"])) > _MOST_BYTES:
            notes.append(f"{tool.name}: its answer is longer than {_MOST_BYTES:,} bytes, and was left out")
        else:
            return result["result"], "The answer to a call with made-up arguments."
    output: Any = tool.details.get("outputSchema")
    if isinstance(output, dict):
        return sample(output), "Made up by the tool's output schema."
    return f"An example answer of {tool.name}.", "Made up: write here what the tool really answers."


def _as_2020_12(schema: Mapping[str, Any]) -> dict[str, Any]:
    """``schema`` in the words of JSON Schema 2020-12: many servers still write draft-07."""
    from ...formats.shared.schemas import modern

    return modern({key: value for key, value in schema.items() if key != "$schema"})


def _annotations(given: Any) -> dict[str, Any]:
    hints: dict[str, Any] = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    return {ours: hints[theirs] for theirs, ours in _HINTS.items() if isinstance(hints.get(theirs), bool)}


def _name(name: str, taken: set[str]) -> str:
    found = base = re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:120] or "tool"
    number = 2
    while found.lower() in taken:
        found, number = f"{base}_{number}", number + 1
    taken.add(found.lower())
    return found


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether ``value`` is valid for ``schema``; nothing is fetched."""
    import jsonschema_rs

    try:
        return not Check(dict(schema)).faults(value)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
        return False
