"""A process that keeps something on a small disk, fills the disk, tries again, and tries once there is room.

    python -m tests.support.full_disk WHAT FOLDER

``WHAT`` is a name in ``KEEPERS``, ``FOLDER`` the disk. Prints as JSON: ``before`` and ``kept``, what was
there before and after the write that failed, ``refused``, what was said of that, ``left``, the files that are
new since, ``later``, what was said of the write that had room, and ``after``, what was there then.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio

from tests.support.logged_talks import LoggedTalk
from tests.support.workspaces import workspace_tools, write_files
from toolspan_bridge import PresetStore
from toolspan_bridge.approvals import Approval, ApprovalRequest, CallFiles, PersonAnswer, Remembered
from toolspan_bridge.approvals.remembered import Origins
from toolspan_bridge.conversation.log import read_log
from toolspan_bridge.errors import StoreError, UsageError
from toolspan_bridge.messages import Assistant, User
from toolspan_bridge.trust import read_lock, write_lock
from toolspan_bridge.trust.folders import TrustedFolders
from toolspan_bridge.validation import Store, Trial
from toolspan_server import FileStore, ToolFailure, ToolStorage
from toolspan_server.config import UntrustedItem
from toolspan_server.engines.upstreams import ListedTool

LONG = "x" * 60_000


@dataclass(frozen=True)
class Keeper:
    """``keep`` writes something named so, with a text, and returns what was said of a failure; ``there`` are
    the names of what is kept."""

    keep: Callable[[str, str], Awaitable[str]]
    there: Callable[[], Awaitable[list[str]]]


def said(keep: Callable[[str, str], object]) -> Callable[[str, str], Awaitable[str]]:
    async def kept(name: str, text: str) -> str:
        try:
            keep(name, text)
        except (StoreError, UsageError, ToolFailure) as failure:
            return str(failure)
        return ""

    return kept


def reading(names: Callable[[], list[str]]) -> Callable[[], Awaitable[list[str]]]:
    async def read() -> list[str]:
        return names()

    return read


@asynccontextmanager
async def journal(disk: Path) -> AsyncGenerator[Keeper]:
    talk = LoggedTalk(disk / "conversations")

    async def keep(name: str, text: str) -> str:
        count = len(talk.reports)
        assert await talk.ask(name, {"text": text}) == text
        return " ".join(talk.reports[count:])

    def names() -> list[str]:
        log = read_log(talk.path, 1_000_000)
        assert not log.damage
        messages = log.conversation.messages
        pairs = pairwise(messages)
        return [
            asked.text for asked, told in pairs if isinstance(asked, User) and isinstance(told, Assistant)
        ]

    yield Keeper(keep, reading(names))


@asynccontextmanager
async def storage(disk: Path) -> AsyncGenerator[Keeper]:
    kept = ToolStorage("ann", "c-1", "notes", FileStore(disk / "storage"))
    yield Keeper(said(kept.set), reading(lambda: sorted(kept.get_all())))


@asynccontextmanager
async def lock(disk: Path) -> AsyncGenerator[Keeper]:
    path = disk / "toolspan.lock"

    def names() -> list[str]:
        return sorted((read_lock(path) or {}).get("s", {}))

    def keep(name: str, text: str) -> None:
        tools = (read_lock(path) or {}).get("s", {})
        tool: dict[str, Any] = {"name": name, "description": text, "schema": {}, "annotations": {}}
        write_lock(path, {"s": {**tools, name: tool}})

    yield Keeper(said(keep), reading(names))


@asynccontextmanager
async def trust(disk: Path) -> AsyncGenerator[Keeper]:
    folders = TrustedFolders(disk / "trust.json")

    def keep(name: str, text: str) -> None:
        folders.trust(disk / name, [UntrustedItem(disk / "a", "$", text)])

    yield Keeper(said(keep), reading(lambda: [Path(each.folder).name for each in folders.all()]))


@asynccontextmanager
async def approvals(disk: Path) -> AsyncGenerator[Keeper]:
    remembered = Remembered(
        disk / "approvals.json", Origins("", lambda server: server, lambda _server, _tool: ""), "local", "c"
    )
    yes = PersonAnswer(Approval(allowed=True, decider="person", scope="tool"))

    def request(name: str, text: str = "") -> ApprovalRequest:
        return ApprovalRequest("", "s", ListedTool(name, text, {}), {})

    def names() -> list[str]:
        known = {
            name: remembered.answer(request(name), CallFiles(disk)) for name in ("first", "second", "third")
        }
        return [name for name, each in known.items() if each.approval or each.departure]

    yield Keeper(said(lambda name, text: remembered.keep(request(name, text), yes)), reading(names))


@asynccontextmanager
async def presets(disk: Path) -> AsyncGenerator[Keeper]:
    store = PresetStore("local", disk / "presets")
    names = reading(lambda: [each.name for each in store.all()])
    yield Keeper(said(lambda name, text: store.create(name, instructions=text[:30_000])), names)


@asynccontextmanager
async def validation(disk: Path) -> AsyncGenerator[Keeper]:
    with Store.open(disk / "validation.sqlite3") as store:

        def keep(name: str, text: str) -> None:
            store.append(Trial("m", "s", name, "2026-11-21T10:00:00.123Z", True, "", {"pad": text}))

        yield Keeper(said(keep), reading(lambda: [each.scenario for each in store.trials()]))


def changed_files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.read_text() != "old\n")


@asynccontextmanager
async def workspace(folder: Path, state: Path) -> AsyncGenerator[Keeper]:
    write_files(folder, dict.fromkeys(("first", "second", "third"), "old\n"))
    async with workspace_tools(folder, state) as tools:

        async def keep(name: str, text: str) -> str:
            await tools.good("Read", file_path=name)
            before = (folder / name).read_text()
            edit = {"old_string": before, "new_string": text}
            result = await tools.result("Edit", file_path=name, **edit)
            return f"{result.error_code}: {result.error}" if not result.success else ""

        async def names() -> list[str]:
            """The changed files, which are those that are listed."""
            changed = changed_files(folder)
            listed = await tools.result("Changes")
            if not listed.success:  # SQLite needs room to read
                assert listed.error is not None
                assert listed.error.startswith("The changes of this conversation cannot be read: ")
                return changed
            assert sorted(each["file_path"] for each in listed.result["files"]) == changed
            return changed

        yield Keeper(keep, names)


KEEPERS: dict[str, Callable[[Path], Any]] = {
    "journal": journal,
    "storage": storage,
    "lock": lock,
    "trust": trust,
    "approvals": approvals,
    "presets": presets,
    "validation": validation,
    "edit": lambda disk: workspace(disk / "work", disk.parent / "state"),
    "checkpoint": lambda disk: workspace(disk.parent / "work", disk / "state"),
}


def fill(disk: Path) -> Path:
    """Leave no byte of ``disk``; returns the file that takes the room."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65_536, 4_096, 1):
            with suppress(OSError):
                while True:
                    file.write(b"\0" * size)
    return filler


def files(disk: Path) -> set[str]:
    """The files on the disk, without those that SQLite keeps beside a database and uses again."""
    found = (path for path in disk.rglob("*") if not path.name.endswith(("-wal", "-shm")))
    return {str(path.relative_to(disk)) for path in found}


async def main(what: str, disk: Path) -> None:
    async with KEEPERS[what](disk) as keeper:
        assert await keeper.keep("first", "short") == ""
        before = await keeper.there()
        there = files(disk)
        filler = fill(disk)
        refused = await keeper.keep("second", LONG)
        found = {"before": before, "refused": refused, "kept": await keeper.there()}
        filler.unlink()
        found["left"] = sorted(files(disk) - there)
        found["later"] = await keeper.keep("third", LONG)
        found["after"] = await keeper.there()
    print(json.dumps(found))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], Path(sys.argv[2]))
