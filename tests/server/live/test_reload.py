"""A config file that changes while it is served: what is taken, what is refused, and that no call is lost."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.served import BOUND_S, MODERN_META, Lines, Served, StdioServer, call
from tests.support.served import until as served_until
from tests.support.sources import mock
from toolspan_server import running
from toolspan_server.calls.caller import LOCAL
from toolspan_server.live import config_files as _config_files
from toolspan_server.live import reload as _reload
from toolspan_server.live.config_files import ConfigFiles
from toolspan_server.live.reload import reloading
from toolspan_server.live.runtime import Runtime

pytestmark = pytest.mark.requirement("I4.3.2", "I4.4.1")
REWRITES = 20


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(20 << 30)


SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "half written": (lambda path: path.write_text('{"tools": {"regis'), "broken JSON"),
    "deleted": (lambda path: None, "there is no such file"),
    "a directory": (Path.mkdir, "this is a directory"),
    "a pipe": (os.mkfifo, "this is not a regular file"),
    "a link that leads nowhere": (lambda path: path.symlink_to("nowhere"), "there is no such file"),
    "enormous": (_sparse, "the file is larger than 4 MiB"),
    "binary": (lambda path: path.write_bytes(b"\x00\xff" * 100), "is not UTF-8"),
}


def written(path: Path, *tools: dict[str, Any], **more: Any) -> Path:
    path.write_text(json.dumps({"tools": {"registry": list(tools)}, **more}))
    return path


def replaced(path: Path, text: str) -> None:
    """Write as careful programs do: another file, put in its place."""
    other = path.with_suffix(".new")
    other.write_text(text)
    other.replace(path)


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_reload, "LOOK_EVERY_S", 0.005)
    monkeypatch.setattr(_reload, "SETTLE_S", 0.001)


@asynccontextmanager
async def followed(*paths: Path) -> AsyncIterator[Runtime]:
    files = ConfigFiles(paths)
    async with running(files.load()) as runtime, anyio.create_task_group() as group:
        group.start_soon(reloading, runtime, files)
        yield runtime
        group.cancel_scope.cancel()


@pytest.mark.anyio
@pytest.mark.parametrize(("spoil", "told"), SPOILT.values(), ids=SPOILT)
async def test_whatever_the_file_becomes_the_config_before_is_served_and_a_good_one_after(
    tmp_path: Path, spoil: Callable[[Path], object], told: str
) -> None:
    path = written(tmp_path / "toolspan.json", mock("t", 1))
    async with followed(path) as runtime:
        path.unlink()
        spoil(path)
        await until(lambda: any(told in problem for problem in runtime.problems))
        assert (await runtime.execute("t", None, LOCAL)).result == 1
        path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        written(path, mock("t", 2))
        await until(lambda: not runtime.problems)
        assert (await runtime.execute("t", None, LOCAL)).result == 2


async def until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(BOUND_S):
        while not condition():  # noqa: ASYNC110  # a file that another thread reads tells
            await anyio.sleep(0.002)


@pytest.mark.anyio
@pytest.mark.parametrize("write", [Path.write_text, replaced], ids=["in place", "by another file"])
async def test_a_changed_file_is_served_however_it_was_written(
    tmp_path: Path, write: Callable[[Path, str], object]
) -> None:
    path = written(tmp_path / "toolspan.json", mock("a", 1))
    async with followed(path) as runtime:
        write(path, path.read_text().replace(": 1}", ": 2}"))
        await until(lambda: runtime.snapshot.number == 2)
        assert (await runtime.execute("a", None, LOCAL)).result == 2


def test_a_change_of_the_same_moment_and_size_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "toolspan.json", mock("a", 1))
    mark = _config_files._mark(path)
    monkeypatch.setattr(_config_files, "_mark", lambda _: mark)
    files = ConfigFiles([path])
    files.load()
    path.write_text(path.read_text().replace(": 1}", ": 2}"))
    assert files.changed()


@pytest.mark.anyio
async def test_any_file_of_the_config_counts_and_a_link_that_is_pointed_elsewhere(tmp_path: Path) -> None:
    first, second = written(tmp_path / "1.json", mock("a")), written(tmp_path / "2.json", mock("b"))
    link = tmp_path / "linked.json"
    link.symlink_to(second)
    async with followed(first, link) as runtime:
        other = tmp_path / "new"
        other.symlink_to(written(tmp_path / "3.json", mock("c")))
        other.replace(link)
        await until(lambda: [each.name for each in runtime.registry] == ["a", "c"])


@pytest.mark.anyio
async def test_a_file_that_is_only_touched_is_not_read_again(tmp_path: Path) -> None:
    path = written(tmp_path / "toolspan.json", mock("a"))
    files = ConfigFiles([path])
    files.load()
    assert not files.changed()
    path.touch()
    assert not files.changed()
    path.write_text("{}")
    assert files.changed()


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform == "win32", reason="has no named pipes in folders")
async def test_a_pipe_in_the_files_place_is_refused_and_nobody_waits_for_it(tmp_path: Path) -> None:
    path = written(tmp_path / "toolspan.json", mock("a"))
    async with followed(path) as runtime:
        path.unlink()
        os.mkfifo(path)
        await until(lambda: runtime.problems)
        assert "not a regular file" in runtime.problems[0]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("{", "toolspan.json:1:2: $: broken JSON"),
        ('{"tols": {}}', "unknown key 'tols' (did you mean 'tools'?)"),
        ('{"name": "${NOT_SET_ANYWHERE}"}', "environment variable NOT_SET_ANYWHERE is not set"),
        (None, "toolspan.json"),
    ],
)
async def test_a_bad_config_is_told_with_its_place_and_the_old_one_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, bad: str | None, said: str
) -> None:
    path = written(tmp_path / "toolspan.json", mock("a", 1))
    good = path.read_text()
    async with followed(path) as runtime:
        path.unlink() if bad is None else path.write_text(bad)
        await until(lambda: runtime.problems)
        assert said in runtime.health()["config"]["problems"][0]
        assert runtime.health()["status"] == "degraded"
        assert said in caplog.text
        assert (await runtime.execute("a", None, LOCAL)).result == 1
        path.write_text(good)
        await until(lambda: not runtime.problems)


@pytest.mark.anyio
async def test_what_cannot_change_while_the_server_runs_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = written(tmp_path / "toolspan.json", mock("a"))
    async with followed(path) as runtime:
        fixed: dict[str, Any] = {"name": "other", "limits": {"sessions": 5, "page_size": 5}}
        written(path, mock("a"), **fixed)
        await until(lambda: runtime.snapshot.number == 2)
        assert (runtime.name, runtime.config.limits.page_size) == ("toolspan", 5)
        assert "name takes effect only when the server is started again" in caplog.text
        assert "limits.sessions takes effect only" in caplog.text
        assert "page_size" not in caplog.text
        caplog.clear()
        written(path, mock("b"), **fixed)
        await until(lambda: runtime.snapshot.number == 3)
        assert "takes effect" not in caplog.text


@pytest.mark.anyio
async def test_a_document_that_changes_needs_no_other_config(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# First\n\nalpha\n")
    services = {"collections": {"docs": {"path": "docs"}}}
    async with followed(written(tmp_path / "toolspan.json", services=services)) as runtime:
        collections: Any = runtime.snapshot.services["collections"]
        assert (await collections.search("alpha")).total == 1
        revision = collections.collections["docs"].revision
        (tmp_path / "docs" / "b.md").write_text("# Second\n\nalpha\n")
        with anyio.fail_after(BOUND_S):
            await collections.collections["docs"].changed(revision)
        assert runtime.snapshot.number == 1
        assert (await collections.search("alpha")).total == 2


def test_on_stdio_too_unless_the_config_says_no(tmp_path: Path) -> None:
    follows = written(tmp_path / "1.json", mock("a", 1))
    stays = written(tmp_path / "2.json", mock("a", 1), serving={"reload": False})
    with StdioServer(follows) as one, StdioServer(stays) as two:
        for server in (one, two):
            assert server.handshake().ask(call(1, "a"))["result"]["structuredContent"] == {"result": 1}
        written(stays, mock("a", 2), serving={"reload": False})
        written(follows, mock("a", 2))
        served_until(
            lambda: one.ask(call(1, "a"))["result"]["structuredContent"] == {"result": 2}, "the change"
        )
        assert two.ask(call(1, "a"))["result"]["structuredContent"] == {"result": 1}


OFTEN = """
import sys
from toolspan_server.cli import main as cli
from toolspan_server.live import reload
reload.LOOK_EVERY_S, reload.SETTLE_S = 0.02, 0.01
sys.exit(cli.main(sys.argv[1:]))
"""


@contextmanager
def served_often(path: Path, *arguments: str) -> Iterator[Served]:
    """An HTTP server in a process of its own that looks at its config 50 times a second."""
    line = [
        sys.executable,
        "-c",
        OFTEN,
        "--transport",
        "http",
        "--port",
        "0",
        "--config",
        str(path),
        *arguments,
    ]
    process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    errors = Lines(process.stderr)
    try:
        ready = errors.first(lambda text: text.startswith("toolspan: serving "))
        yield Served(process, errors, ready.partition(" at ")[2].partition("/mcp")[0])
    finally:
        process.kill()
        process.wait(BOUND_S)
        process.stderr.close()


class Caller:
    """A client that calls all the time. ``latest`` is the newest answer of the tool that changes."""

    def __init__(self, server: Served, modern: bool) -> None:
        self._connection = http.client.HTTPConnection(*server.address, timeout=BOUND_S)
        self._modern = modern
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self.latest = 0
        self.calls = 0
        self.wrong: list[Any] = []

    def __enter__(self) -> Caller:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(BOUND_S)
        self._connection.close()

    def ask(self, name: str) -> Any:
        version = "2026-07-28" if self._modern else "2025-11-25"
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": version,
            **({"mcp-method": "tools/call", "mcp-name": name} if self._modern else {}),
        }
        more = {"_meta": MODERN_META} if self._modern else {}
        self._connection.request("POST", "/mcp", json.dumps(call(1, name, {}, **more)), headers)
        answer = json.loads(self._connection.getresponse().read())
        return answer["result"]["content"][0]["text"]

    def _work(self) -> None:
        while not self._stop.wait(0.001):
            try:
                fixed, changing = self.ask("fixed"), int(self.ask("changing"))
            except Exception as error:
                self.wrong.append(repr(error))
                return
            self.calls += 2
            if fixed != "same" or changing < self.latest:
                self.wrong.append((fixed, changing, self.latest))
            self.latest = changing


@pytest.mark.requirement("I4.5.2")
def test_under_load_no_call_is_lost(tmp_path: Path) -> None:
    def text(number: int) -> str:
        registry = [mock("fixed", "same"), mock("changing", number), *(mock(f"t{n}") for n in range(number))]
        return json.dumps({"tools": {"registry": registry}})

    path = tmp_path / "toolspan.json"
    path.write_text(text(0))
    with served_often(path) as server, Caller(server, True) as one, Caller(server, False) as two:
        for number in range(1, REWRITES + 1):
            if number == REWRITES // 2:
                path.write_text(text(number)[:-10])
                server.errors.first(lambda line: "is not served, the one before goes on" in line)
            elif number % 2:
                path.write_text(text(number))
                _both_have(number, one, two)
            else:
                replaced(path, text(number))
                _both_have(number, one, two)
    assert one.wrong == two.wrong == []
    assert min(one.calls, two.calls) > REWRITES


def _both_have(number: int, *callers: Caller) -> None:
    pause = threading.Event()
    for _ in range(int(BOUND_S * 200)):
        if all(caller.latest == number or caller.wrong for caller in callers):
            return
        pause.wait(0.005)
    raise AssertionError(f"{number} was never served: {[caller.latest for caller in callers]}")
