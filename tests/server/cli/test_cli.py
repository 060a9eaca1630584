"""The entry point: what it refuses, in which words, with which exit code."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.support.served import INITIALIZE, StdioServer, call, http_server, run, tool, write_config
from tests.support.waiting import BOUND_S
from toolspan_server.cli.command_line import parsed
from toolspan_server.cli.main import _options, main
from toolspan_server.cli.options import Options

BAD = {
    "tools": {
        "registry": [
            tool("good", {"type": "mock", "mock_response": 1}),
            tool("bad", {"type": "builtin", "handler": "no_such_handler"}),
            tool("worse", {"type": "mock"}, timeout_ms=0),
        ]
    }
}


def plain(folder: Path) -> Path:
    """A config that imports nothing."""
    path = folder / "plain.json"
    path.write_text(json.dumps({"tools": {"registry": [tool("one", {"type": "mock"})]}}))
    return path


def refused(
    capfd: pytest.CaptureFixture[str], *arguments: str | Path, prog: str = "toolspan-server"
) -> list[str]:
    """Run ``main`` in this process, expect exit 2, and give the lines on stderr; stdout must be empty."""
    assert main([str(each) for each in arguments], prog=prog) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert "Traceback" not in err
    return err.splitlines()


@pytest.mark.requirement("I2.2.2", "I2.8.4")
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_bad_tool_stops_the_start_with_every_problem_on_a_line(tmp_path: Path, transport: str) -> None:
    (tmp_path / "toolspan.json").write_text(json.dumps(BAD))
    done = run(["--transport", transport, "--port", "0"], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    first, second = done.stderr.splitlines()
    assert "$.tools.registry[1].implementation.handler: Builtin handler 'no_such_handler' not found" in first
    assert "$.tools.registry[2].timeout_ms" in second


@pytest.mark.requirement("I2.2.2")
def test_skip_invalid_serves_the_others_and_names_what_it_skipped(tmp_path: Path) -> None:
    config = tmp_path / "tools.json"
    config.write_text(json.dumps(BAD))
    with StdioServer(config, "--skip-invalid") as server:
        server.handshake()
        listed = server.ask({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})["result"]["tools"]
        assert [each["name"] for each in listed] == ["good"]
        assert server.ask(call(2, "good"))["result"]["content"][0]["text"] == "1"
        server.errors.first(lambda line: line.startswith("toolspan: skipped: ") and "registry[1]" in line)
        server.errors.first(lambda line: line.startswith("toolspan: skipped: ") and "registry[2]" in line)


@pytest.mark.requirement("I2.8.4")
def test_no_config_says_where_it_looked_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    [line] = refused(capfd, prog="toolspan serve")
    assert line.startswith(f"toolspan serve: no config file in {tmp_path}")
    assert "toolspan.yaml" in line
    assert "--config FILE" in line


def test_the_config_in_the_working_directory_is_found(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text("tools: [\n")
    done = run([], cwd=tmp_path)
    assert done.returncode == 2
    assert "toolspan.yaml:" in done.stderr


@pytest.mark.requirement("I2.8.4")
def test_a_missing_file_is_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    [line] = refused(capfd, "--config", tmp_path / "absent.yaml")
    assert "absent.yaml" in line


def test_several_configs_are_served_as_one(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text(json.dumps({"tools": {"registry": [tool("one", {"type": "mock"})]}}))
    second.write_text(json.dumps({"tools": {"registry": [tool("two", {"type": "mock"})]}}))
    with StdioServer(first, "--config", str(second)) as server:
        server.handshake()
        listed = server.ask({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})["result"]["tools"]
        assert [each["name"] for each in listed] == ["one", "two"]


@pytest.mark.requirement("I2.8.4")
@pytest.mark.parametrize(
    "arguments",
    [
        ["--port", "65536"],
        ["--port", "-1"],
        ["--port", "x"],
        ["--transport", "ftp"],
        ["--log-level", "loud"],
        ["--what"],
    ],
)
def test_wrong_usage_is_exit_2(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert refused(capfd, *arguments, prog="toolspan serve")[0].startswith("usage: toolspan serve")


def test_help_is_on_stdout(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out, err = capfd.readouterr()
    assert "--skip-invalid" in out
    assert err == ""


@pytest.mark.requirement("I2.8.4")
def test_a_taken_port_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    config = plain(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        [line] = refused(capfd, "--config", config, "--transport", "http", "--port", port)
    assert f"cannot listen on 127.0.0.1:{port}: the port is taken" in line
    assert "--port" in line


@pytest.mark.requirement("I2.8.4")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_beyond_loopback_a_token_or_insecure_is_needed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], host: str
) -> None:
    config = plain(tmp_path)
    [line] = refused(capfd, "--config", config, "--transport", "http", "--port", "0", "--host", host)
    assert "--token-env NAME" in line
    assert "--insecure" in line


@pytest.mark.requirement("I2.8.4")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--host", "192.0.2.1", "--insecure"], "no such address"),
        (["--host", "no such host"], "has no address"),
        (["--token-env", "TESTS_UNSET"], "TESTS_UNSET: the variable is not set, or empty"),
    ],
)
def test_an_address_or_token_that_cannot_be_is_told(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    [line] = refused(capfd, "--config", plain(tmp_path), "--transport", "http", "--port", "0", *arguments)
    assert told in line


def test_insecure_serves_beyond_loopback(tmp_path: Path) -> None:
    with http_server(write_config(tmp_path), "--host", "0.0.0.0", "--insecure") as served:
        port = served.address[1]
        ok = f"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n"
        assert served.exchange(ok.encode()).startswith(b"HTTP/1.1 200")
        assert served.exchange(ok.replace("127.0.0.1", "evil.example").encode()).startswith(b"HTTP/1.1 421")


def test_the_log_has_no_secret_and_its_tracebacks_are_indented(tmp_path: Path) -> None:
    other = {"command": "never-started", "env": {"KEY": "${TESTS_SECRET}"}}
    config = write_config(tmp_path, "fault", mcpServers={"other": other})
    with StdioServer(config, env={"TESTS_SECRET": "hunter2hunter2"}) as server:
        server.handshake()
        result = server.ask(call(1, "fault"))["result"]
        assert "hunter2" not in json.dumps(result)
        server.errors.first(lambda line: "RuntimeError: it broke with" in line)
        server.close_input()
        lines = server.errors.text.splitlines()
    assert "hunter2" not in "\n".join(lines)
    assert any("WARNING tests: one" in line for line in lines)
    assert "    two ***" in lines
    assert next(line for line in lines if "Traceback" in line).startswith("    ")


def test_the_log_level_is_obeyed(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path, "fault"), "--log-level", "debug") as server:
        server.handshake().send(call(1, "weather", {"location": "Paris"}))
        server.errors.first(
            lambda line: " DEBUG toolspan_server.tools.kinds.mock: " in line and "Paris" in line
        )
    with StdioServer(write_config(tmp_path, "fault"), "--log-level", "info") as server:
        server.handshake().send(call(1, "weather", {"location": "Paris"}))
        server.errors.first(lambda line: " INFO toolspan_server.live.call_log: call of 'weather'" in line)
        assert "Paris" not in server.errors.text
    with StdioServer(write_config(tmp_path, "fault"), "--log-level", "critical") as server:
        server.handshake()
        assert server.ask(call(1, "fault"))["result"]["isError"] is True
        server.close_input()
        assert "RuntimeError" not in server.errors.text


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_nothing_heavy_is_imported_before_the_config_is_known_to_be_right(
    tmp_path: Path, transport: str
) -> None:
    config = tmp_path / "bad.json"
    config.write_text(json.dumps(BAD))
    program = (
        "import sys, toolspan_server.cli.main as cli\n"
        f"assert cli.main(['--transport', {transport!r}, '--config', {str(config)!r}]) == 2\n"
        "heavy = {'mcp', 'starlette', 'uvicorn', 'httpx2', 'click', 'rich', 'sqlite3', 'pypdf'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=BOUND_S, check=True
    )
    assert done.stdout == "[]\n"


def test_an_install_gives_the_script() -> None:
    [script] = entry_points(group="console_scripts", name="toolspan-server")
    assert script.load() is main


def test_a_server_without_tools_is_served(tmp_path: Path) -> None:
    config = tmp_path / "empty.json"
    config.write_text(json.dumps({"name": "empty", "instructions": "Nothing here."}))
    with StdioServer(config) as server:
        opened = server.ask(INITIALIZE)
        assert opened["result"]["serverInfo"]["name"] == "empty"
        assert opened["result"]["instructions"] == "Nothing here."
        assert server.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})["result"] == {"tools": []}


@pytest.mark.requirement("I9.4.5")
@pytest.mark.parametrize("argv", [[], ["--config", "tools.yaml"], ["--config", "a b"], ["--config", ""]])
def test_what_most_clients_say_means_to_the_parser_what_it_means_without_it(argv: list[str]) -> None:
    assert _options(argv, "toolspan-server") == parsed(argv, "toolspan-server")


@pytest.mark.requirement("I9.4.5")
def test_every_option_has_its_default_when_it_is_not_given() -> None:
    assert parsed(["--trust"], "toolspan-server") == Options(trust=True)
    several = ["--config=a", "--config", "b", "--port", "0", "--workers", "2"]
    assert parsed(several, "toolspan-server") == Options([Path("a"), Path("b")], port=0, workers=2)


@pytest.mark.requirement("I9.4.5")
def test_a_file_that_looks_like_an_option_is_left_to_the_parser(capfd: pytest.CaptureFixture[str]) -> None:
    assert "expected one argument" in refused(capfd, "--config", "--trust")[-1]
