"""Document collections over real folders, for tests."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from tests.support.waiting import BOUND_S
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.context import Context
from toolspan_server.engines.documents import Collection
from toolspan_server.engines.registration import find_handler
from toolspan_server.live.services import running_services
from toolspan_server.parts.environment import Environment
from toolspan_server.tools.services._collections import Collections
from toolspan_server.tools.services.collections import Config

DOCUMENTS = ("**/*.md", "**/*.txt", "**/*.html", "**/*.rst", "**/*.pdf")


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write ``files`` (relative path → content) below ``folder``, which is given back."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def collections_of(home: Path, state: str = ".toolspan", **configs: Any) -> Collections:
    """The service that ``services.collections`` of a config in ``home`` describes."""
    return Config.model_validate(configs).build(Environment(home, home / state))


@asynccontextmanager
async def serving(home: Path, state: str = ".toolspan", **configs: Any) -> AsyncGenerator[Collections]:
    """The running service, with a bound on how long a test may take."""
    collections = collections_of(home, state, **configs)
    with anyio.fail_after(BOUND_S):
        async with running_services({"collections": collections}):
            yield collections


@asynccontextmanager
async def docs_of(home: Path) -> AsyncGenerator[Collection]:
    """The running collection ``docs`` of the folder ``docs``, indexed for the first time."""
    async with serving(home, docs={"path": "docs"}) as collections:
        docs = collections.collections["docs"]
        await docs.changed()
        yield docs


async def ask(collections: Collections, **arguments: Any) -> Any:
    """What the handler ``rag_query`` answers."""
    handler = find_handler("internal", "rag_query")
    assert handler is not None
    return await handler(arguments, Context(LOCAL, services={"collections": collections}))


async def sources(collection: Collection, query: str) -> list[str]:
    """The files in which ``query`` is found now."""
    return sorted({hit.source for hit in (await collection.search(query, 50)).hits})


def changes_of(collection: Collection) -> tuple[int, int, int]:
    """How many files the latest look indexed, found unchanged and dropped."""
    assert collection.latest is not None
    changes = collection.latest.changes
    return changes.indexed, changes.unchanged, changes.dropped


async def until_found(collection: Collection, query: str, expected: list[str]) -> None:
    """Wait for updates until ``query`` is found in exactly the ``expected`` files."""
    revision = collection.revision
    while await sources(collection, query) != expected:
        revision = await collection.changed(revision)


def indexing_has_begun(home: Path) -> bool:
    """Whether the index below ``home`` has some files in it."""
    logs = home.glob(".toolspan/collections/*/index.sqlite3-wal")
    return any(log.stat().st_size > 200_000 for log in logs)


def index_folder(home: Path) -> Path:
    """The folder of the only index below ``home``."""
    (folder,) = (path for path in (home / ".toolspan" / "collections").iterdir() if "." not in path.name)
    return folder
