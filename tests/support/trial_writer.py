"""A process that writes trials and says on stdout which are written, for tests that hinder or kill it.

    python trial_writer.py write STORE PREFIX COUNT [--file-limit BYTES] [--nobody]
    python trial_writer.py killed FOLDER ROUNDS

``write`` says ``ready``, waits for a line, then writes; a ``StoreError`` ends it. Its last line is what the
store holds then. ``killed`` forks writers, kills each with SIGKILL, and prints what was acknowledged and what
is there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import select
import signal
import sys
import tempfile
from pathlib import Path

from toolspan_bridge.errors import StoreError
from toolspan_bridge.validation import Store, Trial, export_records

NOBODY = 65_534


def trial(name: str) -> Trial:
    return Trial(
        "offline/keyword", "default", name, "2026-11-21T10:00:00.123Z", True, "", {"pad": "x" * 3_000}
    )


def names(path: Path | str) -> list[str]:
    with Store.open(path) as store:
        return [kept.scenario for kept in store.trials()]


def say(line: str) -> None:
    print(line, flush=True)


def write(arguments: argparse.Namespace) -> None:
    path = arguments.store
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "warm-up") as store:
        store.append(trial("imports what is imported late"))
    if arguments.nobody and os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    say("ready")
    sys.stdin.readline()
    try:
        with Store.open(path) as store:
            limit_files(arguments.file_limit)
            for number in range(arguments.count):
                say(f"written {store.append(trial(f'{arguments.prefix}{number}')).scenario}")
    except StoreError as error:
        say(f"refused {error}")
    limit_files(None)
    if not arguments.nobody:
        say(f"kept {json.dumps(names(path))}")


def limit_files(size: int | None) -> None:
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard if size is None else size, hard))


def killed(folder: Path, rounds: int) -> None:
    """Kill writers of one store, and, every fourth time, one that is just making a store."""
    chance = random.Random(20261121)
    shared, export = folder / "validation.sqlite3", folder / "validation.json"
    acknowledged: list[str] = []
    lost: list[str] = []
    notices: list[str] = []
    torn_exports = 0
    for number in range(rounds):
        delay = chance.uniform(0, 0.004)
        if number % 4:
            acknowledged += _run_and_kill(shared, export, f"{number}-", chance.randrange(12), delay)
            path, expected = shared, acknowledged
        else:
            path = folder / f"new-{number}" / "validation.sqlite3"
            expected = _run_and_kill(path, None, f"{number}-", 0, delay)
        with Store.open(path) as store:
            there = {kept.scenario for kept in store.trials()}
            notices += store.notices
        lost += [name for name in expected if name not in there]
        torn_exports += not _is_whole(export)
    counts = {"acknowledged": len(acknowledged), "torn_exports": torn_exports}
    say(json.dumps({"lost": lost, "notices": notices, **counts}))


def _run_and_kill(path: Path, export: Path | None, prefix: str, wait_for: int, delay: float) -> list[str]:
    """Kill a writer ``delay`` seconds after it has said ``wait_for`` names; what it said."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _write_until_killed(path, export, prefix, writer)
    os.close(writer)
    said = b""
    while said.count(b"\n") < wait_for and (chunk := os.read(reader, 65_536)):
        said += chunk
    select.select([], [], [], delay)
    os.kill(child, signal.SIGKILL)
    while chunk := os.read(reader, 65_536):
        said += chunk
    os.close(reader)
    os.waitpid(child, 0)
    return said.decode().split()


def _write_until_killed(path: Path, export: Path | None, prefix: str, writer: int) -> None:
    store = Store.open(path)
    number = 0
    while True:
        name = store.append(trial(f"{prefix}{number}")).scenario
        os.write(writer, f"{name}\n".encode())
        number += 1
        if export is not None and number % 5 == 0:
            export_records(store, export)


def _is_whole(export: Path) -> bool:
    try:
        return isinstance(json.loads(export.read_text("utf-8")), list)
    except FileNotFoundError:
        return True
    except ValueError:
        return False


def main() -> None:
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    writing = verbs.add_parser("write")
    writing.add_argument("store")
    writing.add_argument("prefix")
    writing.add_argument("count", type=int)
    writing.add_argument("--file-limit", type=int)
    writing.add_argument("--nobody", action="store_true")
    killing = verbs.add_parser("killed")
    killing.add_argument("folder", type=Path)
    killing.add_argument("rounds", type=int)
    arguments = parser.parse_args()
    if arguments.verb == "write":
        write(arguments)
    else:
        killed(arguments.folder, arguments.rounds)


if __name__ == "__main__":
    main()
