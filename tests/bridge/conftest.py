"""A user of their own for each test, without a keyring, and a server that wants a sign-in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.authority import Authority, Guarded, signed_in_server


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's state."""
    folder = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    return folder


@pytest.fixture
def sites() -> Iterator[tuple[Authority, Guarded]]:
    """An authorization server, and an MCP server that takes its tokens."""
    with signed_in_server() as both:
        yield both
