"""The MCP SDK, first needed by several threads at the same time."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.long

AT_ONCE = """
import threading

import anyio

from toolspan_server.common.sdk_import import imported_with_sdk, importing_sdk
from toolspan_server.engines.upstreams._upstream_session import _WITH_SDK

errors = []
start = threading.Barrier(4)

def serve_http():
    with importing_sdk():
        import toolspan_server.protocol.sdk.server, toolspan_server.protocol.http.sdk.transport

def serve_stdio():
    with importing_sdk():
        import toolspan_server.protocol.sdk.stream

def connect():
    anyio.run(imported_with_sdk, *_WITH_SDK)

def run(work):
    start.wait(120)
    try:
        work()
    except BaseException as error:
        errors.append(repr(error))

threads = [threading.Thread(target=run, args=[work]) for work in (serve_http, connect, serve_stdio, connect)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(120)
print(errors)
"""


@pytest.mark.parametrize("_time", range(2))
def test_threads_that_need_the_sdk_at_once_all_get_it(_time: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", AT_ONCE], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
