"""Reads ``OLLAMA_HOST`` as Ollama does."""

from __future__ import annotations

from urllib.parse import urlsplit

from ...errors import UsageError

OLLAMA_CLOUD = "ollama.com"


def host_url(text: str) -> str:
    """The base URL of ``OLLAMA_HOST``: a host, host:port, or URL, as Ollama itself reads it.

    The port is 11434 unless the scheme is given; a listening address (``0.0.0.0``) means
    this machine for a client. Raises ``UsageError`` when it is none of these.
    """
    written = text.strip().strip("\"'")
    scheme, found, rest = written.partition("://")
    if not found:
        scheme, rest = ("https" if written.split("/")[0] == OLLAMA_CLOUD else "http"), written
    port = {"http": 80, "https": 443}.get(scheme, 0) if found or scheme == "https" else 11434
    address, _, path = rest.partition("/")
    if address.count(":") > 1 and not address.startswith("["):
        address = f"[{address}]"
    try:
        parts = urlsplit(f"//{address}")
        host, port = parts.hostname or "127.0.0.1", port if parts.port is None else parts.port
    except ValueError:
        port = 0
        host = ""
    if not port or "@" in address or not (address.isprintable() and " " not in written):
        raise UsageError("OLLAMA_HOST is no address: write it as host, host:port or http://host:port")
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}:{port}/{path}".rstrip("/")
