"""A full disk: it is said, nothing is lost, no half of a file is left, and the next write with room works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.disks import tiny_disk
from tests.support.waiting import BOUND_S

pytestmark = [
    pytest.mark.long,
    pytest.mark.requirement("I12.6.5"),
    pytest.mark.skipif(sys.platform == "win32", reason="mounts are Linux"),
]
ROOT = Path(__file__).parents[2]
SAID = {
    "journal": "the conversation cannot be saved any further: No space left on device",
    "storage": "what was stored before is unchanged: ",
    "lock": "cannot be written: No space left on device (make room, then try again",
    "trust": "cannot be written: No space left on device (make room, then try again",
    "approvals": "cannot be written: No space left on device (make room, then try again",
    "presets": "cannot be written: No space left on device (make room, then try again",
    "validation": "the disk is full (make room, then try again)",
    "edit": "disk_full: second was not written: the disk is full",
    "checkpoint": "disk I/O error (is the disk full?)",
}


@pytest.mark.parametrize("what", SAID)
def test_a_full_disk_is_said_and_loses_nothing_and_room_is_enough_to_go_on(tmp_path: Path, what: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if (prefix := tiny_disk(disk)) is None:
        pytest.skip("this machine mounts no disk for a test, as Linux does for root")
    command = [*prefix, sys.executable, "-m", "tests.support.full_disk", what, str(disk)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=BOUND_S, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert SAID[what] in found["refused"]
    assert found["before"] == found["kept"] == ["first"]
    assert found["left"] == []
    # The journal kept in memory what the disk refused.
    assert found["later"] == ""
    assert found["after"] == (["first", "second", "third"] if what == "journal" else ["first", "third"])
