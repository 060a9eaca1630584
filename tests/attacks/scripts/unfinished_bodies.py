"""190 requests of which all but the last byte of a body of 4 MiB comes."""

from __future__ import annotations

from contextlib import ExitStack

from tests.support.raw_http import RawClient, request, tool_call, tool_headers

from ..attack import Attack, Target

_SIZE = 4 * 2**20
_HEAD = request("POST", "/mcp", *tool_headers("echo"), ("content-length", str(_SIZE)))
_BODY = b"x" * (_SIZE - 1)


def run(target: Target) -> None:
    """Meanwhile another client is answered."""
    with ExitStack() as open_:
        for number in range(190):
            open_.enter_context(RawClient(target.server.address)).send(_HEAD, _BODY)
            if number % 20 == 0:
                with RawClient(target.server.address) as client:
                    assert client.send(tool_call("echo", {"value": 1})).answer().status == 200


ATTACK = Attack("I9.3.21", "190 unfinished bodies of 4 MiB", run, memory_mib=300)
