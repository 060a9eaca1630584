"""The app of ``toolspan ui`` and ``toolspan gateway`` as a process, on a free port of loopback."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

from tests.support.state_marks import share_state_mark
from tests.support.waiting import BOUND_S, eventually

CONFIG = """\
tools:
  registry:
    - name: get_weather
      description: The weather of a city
      category: weather
      display_name: Weather
      parameters: {type: object, properties: {city: {type: string}}, required: [city]}
      implementation: {type: mock, response: {temperature: 21}}
    - name: remove_all
      description: Removes everything
      annotations: {destructive: true}
      implementation: {type: mock, response: gone}
"""


@dataclass(frozen=True)
class Reply:
    """An answer of the app."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass
class WebApp:
    """A running app; ``errors`` is the file of its stderr."""

    process: subprocess.Popen[bytes]
    errors: Path
    port: int
    token: str = ""
    _open: list[HTTPConnection] = field(default_factory=list[HTTPConnection])

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, method: str, path: str, body: Any = None, raw: bytes | None = None, **headers: str
    ) -> Reply:
        """The answer to one request; names of ``headers`` are written with ``_`` for ``-``."""
        response = self.opened(method, path, body, raw, **headers)
        return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())

    def opened(
        self, method: str, path: str, body: Any = None, raw: bytes | None = None, **headers: str
    ) -> HTTPResponse:
        """The same, before its body is read: for streams. The connection ends with the app."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=BOUND_S)
        self._open.append(connection)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        data = raw if body is None else json.dumps(body).encode()
        if method == "POST" or data is not None:
            sent = {"Content-Type": "application/json", **sent}
        if self.token:
            sent = {"Authorization": f"Bearer {self.token}", **sent}
        connection.request(method, path, data, sent)
        return connection.getresponse()

    def end(self, number: int = signal.SIGTERM) -> int:
        """End it by a signal; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(BOUND_S)

    def close(self) -> None:
        """End it and all connections."""
        for connection in self._open:
            connection.close()
        if self.process.poll() is None:
            self.end()


@contextmanager
def web_app(
    folder: Path,
    *options: str,
    config: str = CONFIG,
    verb: str = "gateway",
    token: str = "",
    within: Sequence[str] = (),
    **environment: str,
) -> Generator[WebApp]:
    """The app over ``config`` in ``folder``, with this state folder of its own; it ends with the block.
    ``within`` is a program that runs it."""
    path, errors = folder / "toolspan.yaml", folder / "stderr.txt"
    path.write_text(config)
    command = [
        *within,
        sys.executable,
        "-m",
        "toolspan_bridge",
        verb,
        "-c",
        str(path),
        "--port",
        "0",
        *options,
    ]
    env = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "COLUMNS": "200", **environment}
    share_state_mark(Path(env["XDG_STATE_HOME"]))
    if token:
        env["WEB_TOKEN"] = token
        command += ["--token-env", "WEB_TOKEN"]
    with errors.open("wb") as file:
        process = subprocess.Popen(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stderr=file)
    try:
        found = r"is at http://(?:127\.0\.0\.1|0\.0\.0\.0):(\d+)/"
        assert eventually(lambda: bool(re.search(found, errors.read_text())) or process.poll() is not None)
        port = re.search(found, errors.read_text())
        assert port is not None, errors.read_text()
        app = WebApp(process, errors, int(port[1]), token)
        try:
            yield app
        finally:
            app.close()
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
