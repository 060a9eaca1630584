"""``mcpServers``: the MCP servers that the bridge connects to, as other clients write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, model_validator

from ._problems import Fault, Faulty
from ._values import Flag

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_DANGEROUS = re.compile(
    r"LD_\w+|DYLD_\w+|NODE_OPTIONS|BASH_ENV|ENV|PERL5OPT|RUBYOPT|PYTHONSTARTUP"
    r"|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|_JAVA_OPTIONS",
    re.IGNORECASE,
)
"""Variables that make an interpreter or the loader run other code than the command names."""


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


def _headers(headers: dict[str, str]) -> dict[str, str]:
    faults = [
        Fault((name,), f"{name!r} cannot be a header", "use letters, digits and hyphens", on_key=True)
        for name in headers
        if not _HEADER_NAME.match(name)
    ]
    hint = "remove line breaks, also those in the variables that it is made of"
    faults += [
        Fault((name,), "the value holds a control character", hint)
        for name, value in headers.items()
        if _CONTROL.search(value) or not value.isascii()
    ]
    if faults:
        raise Faulty(*faults)
    return headers


Transport = Literal["stdio", "http", "streamable-http", "streamableHttp", "streamable_http", "sse"]
Argument = Annotated[str, AfterValidator(_argument)]


class McpServerConfig(BaseModel):
    """An MCP server that the bridge connects to, as other clients write it; other keys are ignored.

    Either ``command`` (a subprocess that speaks over stdio) or ``url`` (Streamable HTTP, or HTTP+SSE
    with ``type: sse``).
    """

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    type: Literal["stdio", "http", "streamable-http", "streamableHttp", "streamable_http", "sse"] | None = (
        Field(
            default=None,
            validation_alias=AliasChoices("type", "transport"),
            description="How to speak to the server; by default stdio for a command and http for a url.",
        )
    )
    command: Argument | None = Field(default=None, min_length=1, description="The program to start.")
    args: tuple[Argument, ...] = Field(default=(), repr=False, description="Its arguments.")
    env: Annotated[dict[str, Argument], AfterValidator(_environment)] = Field(
        default_factory=dict[str, str], repr=False, description="Variables added to its environment."
    )
    cwd: Argument | None = Field(default=None, description="The folder that it starts in.")
    url: Annotated[str, AfterValidator(_url)] | None = Field(
        default=None,
        validation_alias=AliasChoices("url", "serverUrl", "server_url", "httpUrl", "http_url"),
        repr=False,
        description="The http or https URL of the server.",
    )
    headers: Annotated[dict[str, str], AfterValidator(_headers)] = Field(
        default_factory=dict[str, str], repr=False, description="Headers sent with every request."
    )
    disabled: Flag = Field(default=False, description="Whether the server is left alone.")
    allow_dangerous_env: Flag = Field(
        default=False,
        validation_alias=AliasChoices("allowDangerousEnv", "allow_dangerous_env"),
        description="Allows variables in env that change which code runs, such as LD_PRELOAD.",
    )

    @model_validator(mode="after")
    def _usable(self) -> Self:
        if faults := [*self._transport_faults(), *self._environment_faults()]:
            raise Faulty(*faults)
        return self

    def _transport_faults(self) -> Iterator[Fault]:
        if self.command is None and self.url is None:
            yield Fault((), "neither a command nor a url", "add one of them")
        elif self.command is not None and self.url is not None:
            yield Fault((), "both a command and a url", "keep one of them")
        elif self.type is not None and (self.type == "stdio") != (self.command is not None):
            wanted = "a command" if self.type == "stdio" else "a url"
            yield Fault((), f"type {self.type!r} needs {wanted}", f"add {wanted}, or leave the type out")

    def _environment_faults(self) -> Iterator[Fault]:
        hint = "remove it, or set allowDangerousEnv: true if the server needs it"
        for name in self.env:
            if _DANGEROUS.fullmatch(name) and not self.allow_dangerous_env:
                yield Fault(("env", name), f"{name} changes which code the server runs", hint, on_key=True)
