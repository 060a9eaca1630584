"""What may not be loaded before it is needed: a real process tells each module that it imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "benchmarks" / "peers" / "toolspan.yaml"
NEEDED_LATER = {
    "aiosqlite",
    "anyio",
    "asyncio",
    "botocore",
    "click",
    "concurrent",
    "cryptography",
    "difflib",
    "email",
    "google",
    "h11",
    "httptools",
    "httpcore2",
    "httpx2",
    "importlib.metadata",
    "importlib.resources",
    "jinja2",
    "jsonpath",
    "jsonschema_rs",
    "jwt",
    "mcp",
    "mcp_types",
    "opentelemetry",
    "prometheus_client",
    "prompt_toolkit",
    "pydantic",
    "pydantic_settings",
    "pypdf",
    "re2",
    "rich",
    "simpleeval",
    "socket",
    "sqlalchemy",
    "sqlite3",
    "sse_starlette",
    "ssl",
    "starlette",
    "subprocess",
    "tempfile",
    "toolspan_bridge",
    "toolspan_server.engines.documents",
    "toolspan_server.tools.executor._execute",
    "toolspan_server.live.snapshots",
    "toolspan_server.tools.kinds._blocking",
    "toolspan_server.live.metrics",
    "toolspan_server.engines.openapi",
    "toolspan_server.engines.http_client",
    "toolspan_server.protocol.stdio.session",
    "toolspan_server.http_server.auth",
    "toolspan_server.protocol.http.app",
    "toolspan_server.protocol.sdk.server",
    "toolspan_server.protocol.stdio.server",
    "toolspan_server.live.runtime",
    "toolspan_server.engines.upstreams",
    "uvicorn",
    "uvloop",
    "watchfiles",
    "websockets",
}
FIRST_REQUESTS: tuple[dict[str, Any], ...] = (
    {
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
    {"id": 1, "method": "tools/list", "params": {}},
)


SPY = """
import sys

class Spy:
    def find_spec(self, name, path=None, target=None):
        sys.__stderr__.write(f"imports {name}\\n")

sys.meta_path.insert(0, Spy())
"""
"""Told of every module that is about to be found, however it is asked for."""

LISTED = """
import os

write = os.write

def told(fd, data):
    if b'"tools":[' in data:
        sys.__stderr__.write("listed\\n")
    return write(fd, data)

os.write = told
"""
"""Tells when the list goes out: what is imported from then on keeps no client waiting."""

SERVER = SPY + LISTED + "from toolspan_server.cli.main import main; sys.exit(main(sys.argv[1:]))"
COMMAND_LINE = SPY + "from toolspan_bridge.cli import main; sys.exit(main(sys.argv[1:]))"


def modules_until_first_list(config: Path) -> set[str]:
    """Every module that ``toolspan-server`` has imported when it answers its first ``tools/list``."""
    command = [sys.executable, "-c", SERVER, "--config", str(config)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        assert server.stdin is not None and server.stdout is not None and server.stderr is not None
        patience = Timer(30, server.kill)
        patience.start()
        for request in FIRST_REQUESTS:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **request}).encode() + b"\n")
            server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.kill()
        told, listed, _ = server.stderr.read().decode().partition("listed\n")
        assert listed
        patience.cancel()
    assert [tool["name"] for tool in answers[1]["result"]["tools"]]
    return imported(told)


def imported(told: str) -> set[str]:
    """The modules that the spy told of."""
    lines = [line for line in told.splitlines() if line.startswith("imports ")]
    return {line.removeprefix("imports ") for line in lines}


def inside(modules: Iterable[str], packages: set[str]) -> set[str]:
    """Those of ``packages`` that one of ``modules`` is or is in."""
    return {name for name in packages if any(f"{module}.".startswith(f"{name}.") for module in modules)}


@pytest.mark.requirement("I3.3.3", "I9.4.3", "I9.4.5")
def test_nothing_is_imported_before_the_first_list_that_is_needed_only_later() -> None:
    modules = modules_until_first_list(BENCH)
    assert "toolspan_server.cli.main" in modules
    assert inside(modules, NEEDED_LATER) == set()


NEEDED_BY_NO_PLAIN_CALL = {
    "argparse",
    "concurrent.futures.process",
    "gettext",
    "importlib.metadata",
    "jsonschema_rs",
    "mcp",
    "multiprocessing",
    "pydantic",
    "shutil",
    "tempfile",
    "toolspan_server.engines.http_client",
    "uvloop",
}


@pytest.mark.requirement("I9.4.5")
def test_plain_calls_load_nothing_that_they_do_not_need() -> None:
    calls = [
        {"id": number, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "hello"}}}
        for number in range(2, 102)
    ]
    lines = [json.dumps({"jsonrpc": "2.0", **request}) for request in (*FIRST_REQUESTS, *calls)]
    done = subprocess.run(
        [sys.executable, "-c", SERVER, "--config", str(BENCH)],
        input="\n".join([*lines, ""]),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sum("hello" in json.dumps(answer) for answer in answers) == len(calls)
    assert "asyncio" in imported(done.stderr)
    assert inside(imported(done.stderr), NEEDED_BY_NO_PLAIN_CALL) == set()


def mock_config(folder: Path) -> Path:
    """A config with one mock, ``toolspan.json`` in ``folder``."""
    config = folder / "toolspan.json"
    tool = {
        "name": "get_weather",
        "description": "Current weather for a place.",
        "parameters": {"type": "object", "properties": {"location": {"type": "string"}}},
        "implementation": {"type": "mock", "mock_response": {"temperature": 22}},
    }
    config.write_text(json.dumps({"tools": {"registry": [tool]}}))
    return config


@pytest.mark.requirement("I9.4.8")
def test_nothing_is_run_for_a_client_that_takes_the_list_and_leaves(tmp_path: Path) -> None:
    lines = [json.dumps({"jsonrpc": "2.0", **request}) for request in FIRST_REQUESTS]
    done = subprocess.run(
        [sys.executable, "-c", SERVER, "--config", str(mock_config(tmp_path)), "--pinned", "0" * 64],
        input="\n".join([*lines, ""]),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [0, 1]
    loaded = inside(imported(done.stderr), {"argparse", "toolspan_server.protocol.stdio.server"})
    assert loaded == set()
    assert inside(imported(done.stderr), {"toolspan_server.live.runtime"}) == set()


@pytest.mark.requirement("I3.3.3")
def test_only_the_kinds_and_handlers_that_the_config_names_are_imported(tmp_path: Path) -> None:
    modules = modules_until_first_list(mock_config(tmp_path))
    assert "toolspan_server.tools.kinds.mock" in modules
    unnamed = {
        "asyncio",  # what only mocks with steps need
        "toolspan_server.tools.kinds.builtin",
        "toolspan_server.tools.handlers.strings",
        "yaml",
    }
    assert inside(modules, unnamed) == set()


@pytest.mark.requirement("I3.3.3")
def test_help_of_the_command_line_loads_no_protocol_and_no_provider() -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMMAND_LINE, "--help"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0
    assert "click" in imported(done.stderr)
    heavy = {"mcp", "mcp_types", "httpx2", "rich", "prompt_toolkit", "uvicorn", "starlette", "botocore"}
    light = {"asyncio", "subprocess", "traceback", "toolspan_server.config"}
    assert inside(imported(done.stderr), heavy | light) == set()


@pytest.mark.requirement("I13.3.23")
@pytest.mark.parametrize(
    ("words", "found"), [("toolspan ", "plain,validate"), ("toolspan servers ", "login")]
)
def test_completing_a_verb_imports_none(words: str, found: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMMAND_LINE.replace("sys.argv[1:]", "None")],
        env=os.environ
        | {
            "_TOOLSPAN_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert found in done.stdout
    assert inside(imported(done.stderr), {"asyncio", "toolspan_server.config", "pydantic_core"}) == set()


NEVER_OFFLINE = {
    "cryptography",
    "difflib",
    "argparse",
    "email.message",
    "httpx2",
    "importlib.metadata",
    "jwt",
    "mcp",
    "mcp_types",
    "opentelemetry",
    "prometheus_client",
    "prompt_toolkit",
    "pydantic",
    "rich",
    "sqlalchemy",
    "starlette",
    "tomllib",
    "toolspan_bridge.formats.shared.faults",
    "toolspan_bridge.oauth.authorization",
    "toolspan_bridge.oauth.store",
    "toolspan_server.tools.executor._execute",
    "toolspan_server.protocol",
    "toolspan_server.live.runtime",
    "uvicorn",
    "watchfiles",
}


@pytest.mark.requirement("I9.4.6")
@pytest.mark.parametrize("words", [["ask", "What's the weather in Paris?"], ["tools", "list"], ["check"]])
def test_a_verb_that_needs_nothing_from_outside_imports_no_sdk_and_no_client(
    tmp_path: Path, words: list[str]
) -> None:
    mock_config(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", COMMAND_LINE, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "toolspan_server.config" in imported(done.stderr)
    assert inside(imported(done.stderr), NEVER_OFFLINE) <= ({"rich"} if words[0] == "tools" else set())


@pytest.mark.requirement("I13.3.21")
@pytest.mark.parametrize("verb", ["ask", "tools"])
def test_what_an_answer_needs_is_not_imported_before_servers_are_started(verb: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SPY + f"import toolspan_bridge.cli.verbs.{verb}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    modules = imported(done.stderr)
    answering = {
        "agent",
        "conversation.store",
        "events",
        "loop",
        "providers",
        "routes",
        "presets",
        "cli.terminal.screen",
        "cli.terminal.talk",
    }
    assert "toolspan_bridge.sessions.session" in modules
    assert inside(modules, {"rich", *(f"toolspan_bridge.{name}" for name in answering)}) == set()


@pytest.mark.requirement("I9.4.6")
def test_the_version_is_told_without_a_config_or_an_event_loop() -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMMAND_LINE, "--version"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    modules = imported(done.stderr)
    assert inside(modules, {"asyncio", "toolspan_server.config", "pydantic_core", "yaml"}) == set()


def test_a_module_is_found_by_its_package_and_not_by_the_start_of_its_name() -> None:
    told = "imports mcp.types\nimports mcpx\nwarning: httpx2\n"
    assert inside(imported(told), {"mcp", "mc", "mcpx.y", "httpx2"}) == {"mcp"}
