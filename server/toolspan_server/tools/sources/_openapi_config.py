"""The config keys of a source of an API description's operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated
from urllib.parse import urlsplit

from typing_extensions import override

from ...engines.http_client._hosts import (
    check_url,
    literal_refusals,
)
from ...engines.http_client._settings import RequestSettings
from ...engines.openapi._operation_filter import OperationsConfig
from ...engines.openapi._security import HttpCredentials
from ...engines.openapi._unique_names import LONGEST
from ...parts.source import SourceConfig
from ...problems import Fault, Faulty, Path
from ...schema.constraints import OneOf, WithoutVariable
from ...schema.records import Record, key
from ...schema.values import Milliseconds

_DESCRIPTION = 4_096


class OverrideConfig(Record):
    """Overrides of one operation of the description."""

    name: str | None = key("The tool's name.", pattern=rf"^[A-Za-z0-9_-]{{1,{LONGEST}}}$", default=None)
    description: str | None = key("Its description, for the model.", least=1, most=_DESCRIPTION, default=None)
    timeout_ms: Milliseconds | None = key("Longest time for one call, in milliseconds.", default=None)
    send_defaults: bool = key(
        "Whether what a call leaves out is sent with the defaults of the API description.", default=False
    )


class OpenApiConfig(SourceConfig, RequestSettings, keys_of=(RequestSettings,)):
    """The keys of a source of type ``openapi``."""

    type: Annotated[str, OneOf(("openapi",))] = key(default="openapi")
    file: str | None = key("The API description: YAML or JSON, relative to this file.", least=1, default=None)
    url: str | None = key("The http or https URL of the API description.", check=check_url, default=None)
    refresh_seconds: int | None = key(
        "How often the API description is read again, in seconds; never when absent.",
        least=10,
        most=604_800,
        default=None,
    )
    server: str | None = key(
        "The base URL of the paths, instead of the servers in the API description.",
        check=check_url,
        default=None,
    )
    prefix: str = key("The prefix of every tool's name.", most=32, pattern=r"^[A-Za-z0-9_-]*$", default="")
    include: OperationsConfig = key(
        "The operations that become tools; all by default.",
        factory=OperationsConfig.initial,
    )
    exclude: OperationsConfig = key("The operations to leave out of those.", factory=OperationsConfig.initial)
    overrides: dict[str, OverrideConfig] = key(
        "operationId, or method and path (GET /users) → changes to that tool.",
        factory=dict,
    )
    credentials: dict[str, HttpCredentials] = key(
        "Name of a security scheme → its credentials.", factory=dict
    )
    output_schema: Annotated[bool, WithoutVariable()] = key(
        "Whether results are validated against the schemas of the API description.",
        default=False,
    )

    @override
    def check(self) -> None:
        if faults := list(self._faults()):
            raise Faulty(*faults)

    def _faults(self) -> Iterator[Fault]:
        if (self.file is None) == (self.url is None):
            message = "both a file and a url" if self.file is not None else "neither a file nor a url"
            yield Fault((), message, "write one of them")
        yield from self.token_faults()
        for name in ("url", "server"):
            if (url := getattr(self, name)) is not None:
                yield from (Fault((name,), refusal) for refusal in literal_refusals(self.allowed, url))

    @override
    def problems(self) -> Iterable[tuple[str, str]]:
        yield from self.auth_problems()
        for scheme, given in self.credentials.items():
            yield from ((f"credentials/{scheme}", message) for message in given.problems())

    @override
    def secrets(self) -> Iterable[str]:
        yield from self.request_secrets()
        for given in self.credentials.values():
            yield from given.secrets()

    @override
    def hosts(self) -> Iterable[str]:
        """The hosts of the description and of the API; a note stands for hosts that only the description
        names.
        """
        urls = [url for url in (self.url, self.server) if url is not None]
        yield from (urlsplit(url).hostname or "" for url in urls)
        if self.server is None:
            yield f"the servers that {self.file or self.url} names"
        yield from self.token_hosts()

    @override
    def variables(self) -> Iterable[tuple[tuple[str, ...], str]]:
        yield from self.auth_variables()
        for scheme, given in self.credentials.items():
            yield from ((("credentials", scheme, name), variable) for name, variable in given.variables())

    @classmethod
    @override
    def is_local(cls, path: Path) -> bool:
        return path in (("file",), ("ca_file",))
