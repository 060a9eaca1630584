"""``openapi``: a tool for each operation of an API description."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from typing_extensions import override

from ...common.regular_files import open_regular
from ...config.models.tools import Offer
from ...engines.http_client import HttpClient, Policy, Request
from ...engines.http_client._secrets import Secrets
from ...engines.openapi import UnusableDescription
from ...engines.openapi._description import MAX_BYTES
from ...errors import ToolFailure
from ...parts.environment import Environment
from ...parts.source import Source
from ._openapi_config import OpenApiConfig
from ._openapi_tools import tools_of

_log = logging.getLogger(__name__)
_FETCH_MS = 30_000
_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 60.0
_SHOWN_LEFT_OUT = 20


class Config(OpenApiConfig):
    """``{"type": "openapi", "file": "petstore.yaml"}``: a tool of kind ``http`` for each operation of an
    OpenAPI 3.0, 3.1 or 3.2 description."""

    @override
    def build(self, environment: Environment, services: Mapping[str, Any]) -> Source:
        return _OpenApi(self, environment)


class _OpenApi:
    def __init__(self, config: Config, environment: Environment) -> None:
        self._config = config
        self._environment = environment
        self._name = config.file or Path(str(config.url).partition("?")[0]).name or "openapi"
        self._secrets = Secrets(config.secrets())
        self.left_out: tuple[str, ...] = ()
        self._seen = b""
        self._state: dict[str, Any] = {"name": self._name, "state": "waiting"}

    def state(self) -> Mapping[str, Any]:
        """Its state; ``left_out`` counts the operations that have no tool, ``omitted`` names some, with the
        reason."""
        return self._state

    async def run(self, offer: Offer) -> None:
        """Read the description and offer its tools, again at the config's interval."""
        wait = _FIRST_WAIT_S
        while True:
            try:
                await self._once(offer)
            except (UnusableDescription, ToolFailure, OSError) as error:
                if self._config.file is not None and not self._failed_before:
                    offer(())  # no tools yet: the first list need not wait for a file that is wrong
                self._failed(error)
                await anyio.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT_S)
                continue
            wait = _FIRST_WAIT_S
            await anyio.sleep(self._config.refresh_seconds or float("inf"))

    async def _once(self, offer: Offer) -> None:
        content = await self._content()
        digest = hashlib.sha256(content).digest()
        if digest == self._seen:
            self._state.pop("error", None)
            self._state.pop("error_code", None)
            return
        read = partial(
            tools_of,
            content,
            self._name,
            self._config,
            base=self._config.url or "",
            ca_file=self._config.ca_file,
        )
        made = await anyio.to_thread.run_sync(read, abandon_on_cancel=True)
        self._seen = digest
        self.left_out = left_out = tuple(self._secrets.redact(each) for each in made.left_out)
        for each in left_out[:_SHOWN_LEFT_OUT]:
            _log.warning("%s: left out: %s", self._name, each)
        if len(left_out) > _SHOWN_LEFT_OUT:
            _log.warning("%s: %d more operations are left out", self._name, len(left_out) - _SHOWN_LEFT_OUT)
        self._state = {"name": self._name, "state": "ready", "tools": len(made.tools)}
        if left_out:
            self._state |= {"left_out": len(left_out), "omitted": list(left_out[:_SHOWN_LEFT_OUT])}
        offer(made.tools)

    async def _content(self) -> bytes:
        if self._config.url is None:
            path = self._environment.config_dir / str(self._config.file)
            return await anyio.to_thread.run_sync(_read, path)
        http_client = self._environment.shared.get(HttpClient, HttpClient)
        headers = (("Accept", "application/json, application/yaml, */*"), ("Accept-Encoding", "gzip"))
        answer = await http_client.send(Request("GET", self._config.url, headers), self._policy())
        if answer.status != 200:
            raise UnusableDescription(f"{answer.host} answered HTTP {answer.status}")
        if not answer.body or answer.media_type == "text/html":
            what = f"with {answer.media_type}" if answer.body else "without a body"
            raise UnusableDescription(f"{answer.host} answered HTTP 200 {what}, which is no description")
        return answer.body

    def _policy(self) -> Policy:
        config = self._config
        return Policy(
            hosts=config.allowed,
            timeout_ms=_FETCH_MS,
            connect_timeout_ms=config.connect_timeout_ms,
            max_bytes=MAX_BYTES,
            max_redirects=config.max_redirects,
            ca_file=None if config.ca_file is None else self._environment.config_dir / config.ca_file,
        )

    @property
    def _failed_before(self) -> bool:
        return bool(self._state["state"] != "waiting")

    def _failed(self, error: Exception) -> None:
        """Note and log it; tools that were offered before stay."""
        message = error.error if isinstance(error, ToolFailure) else str(error)
        redacted = self._secrets.redact(message)
        if self._state.get("error") != redacted:
            _log.error("the API description %s cannot be used: %s", self._name, redacted)
        ready = self._state["state"] == "ready"
        self._state = {**self._state, "state": "ready" if ready else "failed", "error": redacted}
        if isinstance(error, ToolFailure):
            self._state["error_code"] = error.error_code


def _read(path: Path) -> bytes:
    """The file's content. Raises ``UnusableDescription``, or ``OSError``."""
    if not path.is_file():
        raise UnusableDescription("there is no such file")
    with open_regular(path) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise UnusableDescription(f"it is longer than {MAX_BYTES:,} bytes")
    return content
