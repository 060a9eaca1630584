"""One mark of state folders for a test and for the programs that it starts with a user state of their own."""

from __future__ import annotations

from pathlib import Path

from toolspan_server.common.state import folder


def share_state_mark(user_state: Path) -> None:
    """Let programs whose ``XDG_STATE_HOME`` is ``user_state`` take the state folders that this process makes
    for their own, and this process theirs."""
    place = user_state / "toolspan" / folder._SECRET_FILE
    if not place.exists():
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.write_bytes(folder._secret())
        place.chmod(0o600)
