"""People who sign in, and servers that they sign in to, as the toolbox sees them."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from toolspan_bridge import ServerSpec, Toolbox
from toolspan_bridge.oauth import DeviceCode, SignInRequest, SignInWay
from toolspan_server.schema.oauth_client import OAuthClientConfig


@dataclass
class Visitor:
    """A person who ``agrees`` or not. ``asked`` and ``opened`` are what they were shown."""

    agrees: bool = True
    has_browser: bool = True
    asked: list[SignInRequest] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    codes: list[DeviceCode] = field(default_factory=list)

    async def allows(self, request: SignInRequest) -> bool:
        self.asked.append(request)
        return self.agrees

    async def open(self, url: str, seconds: float) -> None:
        self.opened.append(url)
        async with httpx2.AsyncClient(follow_redirects=True) as client:
            await client.get(url)

    async def show_code(self, code: DeviceCode) -> None:
        self.codes.append(code)


@asynccontextmanager
async def connected(url: str, person: Visitor | None, **oauth: Any) -> AsyncGenerator[Toolbox]:
    """A toolbox with the server at ``url``, signed in by ``person``; ``oauth`` is its config."""
    settings = OAuthClientConfig(**oauth) if oauth else None
    spec = ServerSpec("notes", "http", url=url, oauth=settings)
    async with Toolbox.connect([spec], sign_in=SignInWay(person, seconds=20)) as toolbox:
        yield toolbox


async def called(toolbox: Toolbox, name: str = "read") -> dict[str, Any]:
    """The result of a call of the tool ``name``."""
    tool = next(tool for tool in toolbox.tools if tool.name == name)
    return dict((await toolbox.call(tool, {}, "1")).result)


def kept(state: Path) -> dict[str, Any]:
    """The entries of the file of sign-ins below the state folder ``state``."""
    document = json.loads((state / "toolspan" / "sign-ins.json").read_text())
    return dict(document["servers"])


def change_kept(state: Path, **changes: Any) -> None:
    """Change the one entry of that file."""
    path = state / "toolspan" / "sign-ins.json"
    document = json.loads(path.read_text())
    [entry] = document["servers"].values()
    entry.update(changes)
    path.write_text(json.dumps(document))
