"""``providers``: model providers besides those that the bridge knows by name."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import urlsplit

from typing_extensions import override

from ...problems import Fault, Faulty
from ...schema.mcp_server import header_values
from ...schema.records import (
    Record,
    key,
)

WireFormat = Literal["openai", "openai-responses", "anthropic", "gemini", "ollama"]
LimitField = Literal["max_tokens", "max_completion_tokens", "max_output_tokens"]


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound, parts = False, urlsplit("")
    if not sound or re.search(r"[\x00-\x20\x7f]", url):
        raise Faulty(Fault((), "is not an http or https URL", "write one such as https://llm.example.com/v1"))
    if parts.username or parts.password or parts.query or parts.fragment:
        hint = "keys go into api_key, key_env or headers"
        raise Faulty(Fault((), "may hold only scheme, host, port and path", hint))
    return url.rstrip("/")


class ProviderConfig(Record):
    """A model provider with one of the known wire formats. Its models are ``NAME/MODEL``."""

    base_url: str = key(
        "The address that the format's paths are added to, such as https://llm.example.com/v1.",
        check=_address,
    )
    format: WireFormat = key("The wire format that it speaks.", default="openai")
    api_key: str | None = key(
        "The API key, best as ${VAR}; without api_key and key_env none is sent.",
        pattern=r"^[!-~]+$",
        default=None,
        hidden=True,
    )
    key_env: str | None = key(
        "The environment variable that holds the key, read at the first request.",
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        default=None,
    )
    headers: dict[str, str] = key(
        "Headers sent with every request; they take precedence over the key's own.",
        check=header_values,
        factory=dict,
        hidden=True,
    )
    max_tokens_field: LimitField | None = key(
        "The name of the limit of output tokens, in the openai format; max_tokens when absent.",
        default=None,
    )
    replaces: bool = key(
        "Whether it replaces the known provider of the same name; else that name is refused.",
        default=False,
    )

    @override
    def check(self) -> None:
        """Check that the key has one place, and that the limit's name is set only where there is a choice."""
        if self.api_key is not None and self.key_env is not None:
            raise Faulty(
                Fault(("key_env",), "both an api_key and a key_env", "keep one of them", on_key=True)
            )
        if self.max_tokens_field is not None and self.format != "openai":
            hint = "leave it out: that format has one name for it"
            raise Faulty(Fault(("max_tokens_field",), f"the format is {self.format}", hint, on_key=True))
