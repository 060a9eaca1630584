"""Connects the stubborn server, says so, and waits in a call: ``python hold_toolbox.py PIDS_FILE``."""

from __future__ import annotations

import sys

import anyio

from tests.support.mcp_peers import raw
from toolspan_bridge.toolbox import Toolbox


async def main() -> None:
    async with Toolbox.connect([raw("stubborn", sys.argv[1]), raw(name="kind")]) as toolbox:
        print("connected", flush=True)
        (hang, *_) = (tool for tool in toolbox.tools if tool.key == ("raw", "hang"))
        await toolbox.call(hang, {}, "1")


if __name__ == "__main__":
    anyio.run(main)
