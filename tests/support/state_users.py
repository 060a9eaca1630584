"""Everything that keeps state, used once over a project's state folder.

``python -m tests.support.state_users PROJECT`` uses it; with ``plant KIND CANARIES`` it first puts, for every
name that is in the folder, something of that KIND in the name's place, and prints the names for which a
canary was changed, removed or read. ``watch`` prints the paths within the state folder that were opened,
changed or listed by their names and not by the descriptor of a folder.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from threading import Event
from typing import Any

from tests.support.cli import toolspan
from tests.support.trials import a_trial
from toolspan_bridge.batch import Batch, Intention
from toolspan_bridge.cli.host import TERMINAL
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.conversation.files import keep_file
from toolspan_bridge.conversation.journal import LogJournal
from toolspan_bridge.conversation.prune import Kept, prune
from toolspan_bridge.conversation.store import ConversationStore
from toolspan_bridge.errors import BridgeError
from toolspan_bridge.messages import User
from toolspan_bridge.providers.wire.recording import _write as write_exchange  # pyright: ignore[reportPrivateUsage]  # no provider is asked here
from toolspan_bridge.sessions.kept.saved_conversation import SavedConversation
from toolspan_bridge.validation import Store, export_records
from toolspan_bridge.validation.recording.file import RecordingFile
from toolspan_bridge.validation.runs.batches.kept_batches import KeptBatches
from toolspan_bridge.validation.tracker import Tracker
from toolspan_bridge.web.activity.log import ActivityLog
from toolspan_bridge.web.conversations.details import Details, read_details, with_details, write_details
from toolspan_bridge.web.keys.store import KeyStore
from toolspan_bridge.web.storage.keyed_requests import KeyedRequests
from toolspan_server import load_config
from toolspan_server.calls.caller import Caller
from toolspan_server.calls.storage import Place
from toolspan_server.common.state.folder import IGNORE_FILE, MARK_FILE, private_folder
from toolspan_server.common.state.private_files import private_file
from toolspan_server.engines.definitions import DefinitionsFile
from toolspan_server.engines.documents._index import open_index
from toolspan_server.engines.storage import FileStore
from toolspan_server.engines.workspace import Root, Workspace
from toolspan_server.errors import ToolFailure

CANARY = "the canary's own words"
CONFIG = """\
name: shop
conversations: {keep_days: 3650}
tools:
  registry:
    - {name: add, description: Adds., implementation: {type: mock, mock_response: 3}}
"""
_REFUSED = (BridgeError, ToolFailure, OSError, sqlite3.Error, ValueError)


def steps(state: Path, project: Path, keep_days: int) -> Iterator[Callable[[], Any]]:
    """Each use of the state folder ``state``."""
    yield lambda: _conversations(state / "conversations", keep_days)
    yield lambda: _details(state / "conversations")
    yield lambda: _keyed(state)
    yield lambda: _activity(state)
    yield lambda: _keys(state)
    yield lambda: _validation(state)
    yield lambda: _tracked(state)
    yield lambda: _batches(state / "batches" / "run")
    yield lambda: _recording(state / "recordings" / "run.jsonl")
    yield lambda: write_exchange(state / "wire" / "exchange.json", "{}")
    yield lambda: _stored(state / "storage")
    yield lambda: _definitions(state)
    yield lambda: _index(state / "collections" / "docs")
    yield lambda: _workspace(state / "workspaces" / "here.sqlite3", project)
    for words in (
        ("conversations", "list"),
        ("conversations", "show", "latest"),
        ("conversations", "search", "canary"),
        ("report",),
        ("keys", "list"),
    ):
        yield lambda words=words: print(*_said(toolspan(*words, cwd=project)))


def _said(ran: Any) -> tuple[str, str]:
    return ran.out, ran.err


def use(project: Path, keep_days: int = 1) -> None:
    """Use all that keeps state; what refuses is passed over. Conversations are kept for ``keep_days``."""
    state = load_config(project / "toolspan.yaml").state_directory
    for step in steps(state, project, keep_days):
        with suppress(*_REFUSED):
            step()


def _conversations(folder: Path, keep_days: int) -> None:
    private_folder(folder)
    store = ConversationStore(folder)
    for number in range(2):
        found = Conversation([User(f"question {number}")])
        found.id = f"{number:032x}"
        entry = store.entry(found.id)
        if entry is not None:
            with suppress(*_REFUSED):
                found = store.resumed(entry, print)
        else:
            found.journal = store.journal(found, print)
        found.messages.append(User("again"))
        with suppress(*_REFUSED):
            found.record()
        _close(found)
        with suppress(*_REFUSED):
            keep_file(store.files(found.id), "picture", ".png", b"png")
        with suppress(*_REFUSED):
            saved = SavedConversation.within(store, found.id, TERMINAL)
            print(saved.keep_subagent(found, "call"))
            _close(saved.conversation)
        for each in store.entries():
            for path in store.subagent_files(each):
                with suppress(*_REFUSED):
                    print(store.read_subagent(path).to_json())
    oldest = folder / f"{0:032x}.jsonl"
    # through a link it would be the canary that this makes old
    if oldest.exists() and not oldest.is_symlink() and oldest.stat().st_nlink == 1:
        os.utime(oldest, (1, 1))
    print(len(prune(store, Kept(days=keep_days), time.time())))


def _close(conversation: Conversation) -> None:
    if isinstance(conversation.journal, LogJournal):
        conversation.journal.close()


def _details(folder: Path) -> None:
    for name in [*with_details(folder), "a" * 32]:
        print(read_details(folder, name))
        write_details(folder, name, Details(title="mine"))


def _keyed(state: Path) -> None:
    with closing(KeyedRequests(state, kept_s=60, most_bytes=1000)) as requests:
        requests.begin("me", "key", b"print", 10)


def _activity(state: Path) -> None:
    with closing(ActivityLog(state)) as log:
        print(log.last)


def _keys(state: Path) -> None:
    with closing(KeyStore(state)) as keys:
        print(keys.all())


def _validation(state: Path) -> None:
    with Store.open(state / "validation.sqlite3") as store:
        store.append(a_trial())
        with suppress(*_REFUSED):
            export_records(store, state / "validation.json")
        with suppress(*_REFUSED), store.hold("0" * 32):
            store.forget(lambda trial: True, state)


def _tracked(state: Path) -> None:
    path = state / "model_validations.json"
    private_file(path.with_suffix(".lock"))
    tracker = Tracker()
    tracker.load(path, private=True)
    tracker.record_success("me", {})
    tracker.save(path)


def _batches(folder: Path) -> None:
    kept = KeptBatches(folder)
    kept.check()
    print([*kept.all()], [*kept.intended()])
    batch = Batch("openai", "batch_1", "gpt", "openai", ("1",))
    place = kept.intend(Intention(batch, "", _now()))
    kept.keep(batch, place)
    kept.intend(Intention(batch, "", _now()))


def _now() -> Any:
    from datetime import UTC, datetime

    return datetime.now(UTC)


def _recording(path: Path) -> None:
    file = RecordingFile.begun(path, "run")
    file.append({"trial": {"number": 1, "is_error": False}})
    file.close()


def _stored(folder: Path) -> None:
    store, place = FileStore(folder), Place("local", "default", "shopping")
    found = store.read(place)
    print(found.data)
    store.replace(place, found.version, {"items": [*found.data.get("items", []), "milk"]})


def _definitions(state: Path) -> None:
    file = DefinitionsFile(state, "server")
    try:
        known = file.read()
    except ValueError:
        print(file.set_aside())
        return
    known.listed({}, whole=True)
    file.write(known)


def _index(folder: Path) -> None:
    with open_index(folder, Event()) as index:
        print(index.files())


def _workspace(database: Path, project: Path) -> None:
    workspace = Workspace(project, database, roots=[Root(project, True)][:0])
    caller = Caller("local", "default")
    place = workspace.place("toolspan.yaml")
    workspace.checkpoints.record(caller, "Write", place, b"", 0o600, b"")
    workspace.notes.set(caller, "plan", True)
    print(workspace.checkpoints.changes(caller), workspace.files_read.known(caller, place))
    workspace.remove_leftovers()
    workspace.close()


def names(state: Path) -> list[Path]:
    """Every name in ``state`` but the mark's."""
    return sorted(
        each.relative_to(state) for each in state.rglob("*") if each.name not in (MARK_FILE, IGNORE_FILE)
    )


def plant(place: Path, kind: str, canaries: Path) -> None:
    """Put something of ``kind`` at ``place``."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    if kind == "link to a file":
        place.symlink_to(canaries / "file")
    elif kind == "link to a folder":
        place.symlink_to(canaries / "folder")
    elif kind == "link to nothing":
        place.symlink_to(canaries / "folder" / "new")
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        os.link(canaries / "file", place)


def fresh_canaries(canaries: Path) -> dict[str, tuple[bytes, int, int]]:
    """Files that nobody may touch, anew; what there is to compare them with."""
    shutil.rmtree(canaries, ignore_errors=True)
    (canaries / "folder").mkdir(parents=True)
    for name in ("file", "folder/id_rsa", "folder/1-canary.json", "folder/index.sqlite3", "folder/0001.json"):
        (canaries / name).write_text(CANARY)
        (canaries / name).chmod(0o644)
    return looked_at(canaries)


def looked_at(canaries: Path) -> dict[str, tuple[bytes, int, int]]:
    """What the canaries are now; the modes of folders too."""
    found: dict[str, tuple[bytes, int, int]] = {}
    for each in sorted(canaries.rglob("*")):
        status = each.lstat()
        content = each.read_bytes() if each.is_file() else b""
        found[str(each.relative_to(canaries))] = (content, status.st_mode, status.st_mtime_ns)
    return found


def planted(project: Path, kind: str, canaries: Path) -> None:
    """Use the state with each name replaced in turn; print those for which a canary was touched or read."""
    _heard(lambda: use(project, 100_000))
    _heard(lambda: use(project, 100_000))
    state = project / ".toolspan"
    copy = project / "copy"
    shutil.copytree(state, copy)
    for name in names(copy):
        if kind == "hard link" and (copy / name).is_dir():
            continue
        for each in state.iterdir():
            if each.name not in (MARK_FILE, IGNORE_FILE):
                shutil.rmtree(each) if each.is_dir() and not each.is_symlink() else each.unlink()
        for each in copy.iterdir():
            if each.name not in (MARK_FILE, IGNORE_FILE):
                shutil.copytree(each, state / each.name) if each.is_dir() else shutil.copy2(each, state)
        before = fresh_canaries(canaries)
        plant(state / name, kind, canaries)
        print(f"-- {name}", file=sys.stderr, flush=True)
        out = _heard(lambda: use(project))
        if CANARY in out:
            print(f"{name}: it was read")
        if looked_at(canaries) != before:
            print(f"{name}: {sorted({*looked_at(canaries).items()} ^ {*before.items()})}")
    print(f"planted {len(names(copy))} names")


def _heard(work: Callable[[], None]) -> str:
    import io
    from contextlib import redirect_stdout

    with redirect_stdout(io.StringIO()) as out:
        work()
    return out.getvalue()


_FILES = ("remove", "rename", "rmdir", "mkdir", "listdir", "scandir", "chmod", "truncate", "link", "symlink")
_BY_NAME = frozenset(("open", "shutil.rmtree", "shutil.move", *(f"os.{each}" for each in _FILES)))


def watch(project: Path) -> None:
    """Print what is reached in the state folder by its whole path: there a link might be followed."""
    state = str(project / ".toolspan")
    seen: set[str] = set()

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _BY_NAME or not arguments:
            return
        path = arguments[0]
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str | Path) or not str(path).startswith(state):
            return
        if event == "os.mkdir" and Path(path).is_dir():
            return  # filelock makes the folder of its file, which is there
        if event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_NOFOLLOW:
            return  # filelock opens its file so, after private_file
        seen.add(f"{event} {os.path.relpath(path, state)} by {_caller()}")

    private_folder(project / ".toolspan")
    sys.addaudithook(note)
    _heard(lambda: use(project))
    _heard(lambda: use(project))
    found = sorted(seen)
    print("\n".join(found) if found else "nothing was reached by its name")


def _caller() -> str:
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]  # who reached it
    while frame is not None:
        name = frame.f_code.co_filename
        if "/toolspan_" in name or "state_users" in name:
            return f"{name.rpartition('/toolspan_')[2]}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return "?"


if __name__ == "__main__":
    here, *rest = sys.argv[1:]
    Path(here).mkdir(exist_ok=True)
    (Path(here) / "toolspan.yaml").write_text(CONFIG)
    if rest[:1] == ["plant"]:
        planted(Path(here), rest[1], Path(rest[2]))
    elif rest == ["watch"]:
        watch(Path(here))
    else:
        use(Path(here))
