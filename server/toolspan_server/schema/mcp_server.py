"""``mcpServers``: the MCP servers that the bridge connects to, in the format of other clients."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Annotated, Literal
from urllib.parse import urlsplit

from typing_extensions import override

from ..problems import Fault, Faulty
from .constraints import AfterValidator
from .dangerous_variables import changes_code
from .oauth_client import OAuthClientConfig
from .records import (
    Record,
    key,
)
from .values import HEADER_REMEDY, unsendable

_HEADER_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"


def _argument(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not hold a NUL character")
    return text


def _url(text: str) -> str:
    try:
        parts = urlsplit(text)
        reachable = parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        reachable = False
    if not reachable or re.search(r"[\x00-\x20\x7f]", text):
        raise Faulty(Fault((), "is not an http or https URL", "write one such as https://example.com/mcp"))
    return text


def _environment(variables: dict[str, str]) -> dict[str, str]:
    faults = [
        Fault(
            (name,),
            f"{name!r} cannot be an environment variable",
            "use a name without = and NUL",
            on_key=True,
        )
        for name in variables
        if not name or "=" in name or "\0" in name
    ]
    if faults:
        raise Faulty(*faults)
    return variables


def header_values(headers: dict[str, str]) -> dict[str, str]:
    """``headers``, checked to be valid HTTP headers. Raises ``Faulty``."""
    faults = [
        Fault((name,), f"{name!r} cannot be a header", "use letters, digits and hyphens", on_key=True)
        for name in headers
        if not re.fullmatch(_HEADER_NAME, name)
    ]
    faults += [
        Fault((name,), f"the value holds {what}", HEADER_REMEDY)
        for name, value in headers.items()
        if (what := unsendable(value)) is not None
    ]
    if faults:
        raise Faulty(*faults)
    return headers


Transport = Literal["stdio", "http", "streamable-http", "streamableHttp", "streamable_http", "sse"]
_Argument = Annotated[str, AfterValidator(_argument)]


class McpServerConfig(Record, unknown="ignore"):
    """An MCP server that the bridge connects to, in the format of other clients; unknown keys are ignored.

    Either ``command`` (a subprocess that speaks over stdio) or ``url`` (Streamable HTTP, or HTTP+SSE
    with ``type: sse``).
    """

    type: Transport | None = key(
        "The transport; by default stdio for a command and http for a url.",
        default=None,
        spellings=["type", "transport"],
    )
    command: str | None = key("The command to start.", least=1, check=_argument, default=None)
    args: tuple[_Argument, ...] = key("Its arguments.", default=(), hidden=True)
    env: dict[str, _Argument] = key(
        "Variables added to its environment.",
        check=_environment,
        factory=dict,
        hidden=True,
    )
    cwd: _Argument | None = key("Its working directory.", default=None)
    url: str | None = key(
        "The http or https URL of the server.",
        check=_url,
        default=None,
        spellings=["url", "serverUrl", "server_url", "httpUrl", "http_url"],
        hidden=True,
    )
    headers: dict[str, str] = key(
        "Headers sent with every request.", check=header_values, factory=dict, hidden=True
    )
    oauth: OAuthClientConfig | None = key(
        "The OAuth client to sign in with, where the server wants that; by default it registers itself.",
        default=None,
    )
    disabled: bool = key("Whether the server is ignored.", default=False)
    allow_dangerous_env: bool = key(
        "Allows variables in env that change which code runs, such as LD_PRELOAD or GIT_SSH_COMMAND.",
        default=False,
        spellings=["allowDangerousEnv", "allow_dangerous_env"],
    )

    @override
    def check(self) -> None:
        if faults := [*self._transport_faults(), *self._environment_faults()]:
            raise Faulty(*faults)

    def connection(self) -> str:
        """The command line that starts it and its working directory, or ``connect to`` its URL with the files
        that signing in sends. Of its variables it has the values of those that decide which code runs."""
        if self.command is None:
            files = self.oauth.sent_files() if self.oauth is not None else {}
            sent = (f", send the contents of {file} to {issuer}" for file, issuer in files.items())
            return f"connect to {self.url}" + "".join(sent)
        variables = [
            f"{name}={shlex.quote(value) if changes_code(name, value) else '…'}"
            for name, value in self.env.items()
        ]
        where = "" if self.cwd is None else f" (in {shlex.quote(self.cwd)})"
        return " ".join([*variables, shlex.join([self.command, *self.args])]) + where

    def _transport_faults(self) -> Iterator[Fault]:
        if self.command is None and self.url is None:
            yield Fault((), "neither a command nor a url", "add one of them")
        elif self.command is not None and self.url is not None:
            yield Fault((), "both a command and a url", "keep one of them")
        elif self.type is not None and (self.type == "stdio") != (self.command is not None):
            wanted = "a command" if self.type == "stdio" else "a url"
            yield Fault((), f"type {self.type!r} needs {wanted}", f"add {wanted}, or leave the type out")
        if self.oauth is not None and self.url is None:
            yield Fault(("oauth",), "only a server with a url is signed in to", "remove it", on_key=True)

    def _environment_faults(self) -> Iterator[Fault]:
        hint = "remove it, or set allowDangerousEnv: true if the server needs it"
        for name, value in self.env.items():
            if not self.allow_dangerous_env and changes_code(name, value):
                yield Fault(("env", name), f"{name} changes which code the server runs", hint, on_key=True)
