"""One scenario of the suite: the toolbox uses its server as the suite's variables say."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio

from toolspan_bridge import ServerSpec, Toolbox, ToolSpec
from toolspan_bridge.client import ClientFeatures, Roots
from toolspan_bridge.oauth import SignInWay
from toolspan_bridge.toolbox.contents import Contents

from .arguments import arguments_for
from .browser import Browser
from .credentials import credentials
from .person import Agreeable, Reluctant

_CONNECT_SECONDS = 60.0


def run(url: str) -> int:
    """Use the server at ``url`` whole, with a user's state that ends with it; the exit code: 1 when the
    server could not be used, or a call failed."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"XDG_STATE_HOME": folder, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
        return anyio.run(_used, url, Path(folder))


async def _used(url: str, folder: Path) -> int:
    context: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    oauth = credentials(scenario, context, folder)
    server = ServerSpec("conformance", "http", url=url, cwd=str(folder), oauth=oauth)
    failed = 0
    features = ClientFeatures(Agreeable(), Reluctant(), Roots([Path.cwd()]))
    connecting = Toolbox.connect(
        [server], connect_timeout=_CONNECT_SECONDS, client=features, sign_in=SignInWay(Browser())
    )
    async with connecting as toolbox:
        for failure in toolbox.failures:
            print(failure, file=sys.stderr)
        for number, (tool, arguments) in enumerate(_calls(toolbox.tools, context)):
            outcome = await toolbox.call(tool, arguments, f"call-{number}")
            print(tool.name, json.dumps(outcome.result))
            failed += not outcome.result["success"]
        if not toolbox.failures and "toolCalls" not in context:
            await _read(toolbox.contents, server.name)
    return 1 if failed or toolbox.failures else 0


async def _read(contents: Contents, server: str) -> None:
    """Read what the server has besides tools."""
    for uri in await contents.resources(server):
        print(uri, json.dumps(await contents.read(server, uri)))
    for prompt in await contents.prompts(server):
        given = dict.fromkeys(prompt.arguments, "text")
        print(prompt.name, json.dumps(await contents.prompt(server, prompt.name, given)))


def _calls(
    tools: tuple[ToolSpec, ...], context: Mapping[str, Any]
) -> Iterator[tuple[ToolSpec, dict[str, Any]]]:
    """Each tool that is listed, or the calls that the scenario asks for."""
    named = {tool.name: tool for tool in tools}
    if "toolCalls" in context:
        for call in context["toolCalls"]:
            yield named[call["name"]], call["arguments"]
        return
    for tool in tools:
        arguments = arguments_for(tool.schema)
        if tool.name == "json_schema_echo":  # takes what the other tool's schema became here
            arguments["schema"] = dict(named["json_schema_2020_12_tool"].schema)
        yield tool, arguments
