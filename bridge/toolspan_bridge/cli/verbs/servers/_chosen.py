"""The server that a subcommand is about: one of the config by its name or URL, or any by its URL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from toolspan_server.config import Config, UntrustedItem, load_config, refusal
from toolspan_server.engines.upstreams import ServerSpec

from ....errors import ConsentError, UsageError
from ....oauth import SignIn
from ....sessions.chosen.config import ConfigChoice, config_paths_or_default, whole_config
from ....sessions.chosen.target import server_of
from ....toolbox import McpJson, foreign_servers, servers_of
from ...host import TERMINAL


def chosen_server(choice: ConfigChoice, text: str) -> ServerSpec:
    """The remote server called ``text`` in the config, or at the URL ``text``, with the config's settings for
    that URL. Raises ``UsageError``, and ``ConsentError`` for one of a found config that nobody allowed."""
    is_url = re.match(r"https?://", text) is not None
    found = [spec for spec in remote_servers(choice) if text == (spec.url if is_url else spec.name)]
    if found:
        if not is_url or found[0].oauth is not None:
            allow(choice)
        return found[0]
    if is_url:
        return server_of(text)
    names = ", ".join(spec.name for spec in remote_servers(choice)) or "none"
    raise UsageError(f"the config has no remote server {text!r} (it has: {names}; a URL is taken too)")


def remote_servers(choice: ConfigChoice) -> Sequence[ServerSpec]:
    """The servers of the config, and of the folder's .mcp.json, that have a URL."""
    config = _whole(choice)
    return [spec for spec in servers_of(config, beside=_beside(choice)) if spec.url and not spec.problem]


def allow(choice: ConfigChoice) -> None:
    """Raise ``ConsentError`` when the config was found, not named, and nobody allowed its servers."""
    found = _foreign(choice)
    if found and not choice.may_run and not choice.is_trusted(found, TERMINAL, ask=True):
        raise ConsentError(refusal(found))


def described(signed: SignIn, place: str) -> dict[str, Any]:
    """A sign-in as JSON data, without its secrets."""
    ends = None if signed.expires_at is None else datetime.fromtimestamp(signed.expires_at, UTC)
    return {
        "server": signed.server,
        "issuer": signed.issuer,
        "client_id": signed.client.client_id,
        "scopes": list(signed.scopes),
        "expires": None if ends is None else ends.isoformat(timespec="seconds"),
        "place": place,
    }


def _foreign(choice: ConfigChoice) -> Sequence[UntrustedItem]:
    """What of the config and of .mcp.json needs consent before a server is used."""
    files, beside = config_paths_or_default(choice.paths), _beside(choice)
    found = load_config(*files, restricted=True).withheld if files else ()
    return (*found, *(foreign_servers(beside) if beside is not None else ()))


def _whole(choice: ConfigChoice) -> Config:
    """The config, whole: its servers are looked up by name, and used only once they are allowed."""
    return whole_config(choice, TERMINAL) if config_paths_or_default(choice.paths) else Config()


def _beside(choice: ConfigChoice) -> McpJson | None:
    return None if choice.is_named else McpJson.read(Path.cwd())
