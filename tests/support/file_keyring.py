"""A keyring of the ``keyring`` library that keeps its entries in the file ``$TESTS_KEYRING``."""

from __future__ import annotations

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError


class FileKeyring(KeyringBackend):
    """Chosen by ``$PYTHON_KEYRING_BACKEND``."""

    priority = 1

    def get_password(self, service: str, username: str) -> str | None:
        return self._entries().get(f"{service}:{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._write({**self._entries(), f"{service}:{username}": password})

    def delete_password(self, service: str, username: str) -> None:
        entries = self._entries()
        if entries.pop(f"{service}:{username}", None) is None:
            raise PasswordDeleteError("no such entry")
        self._write(entries)

    def _entries(self) -> dict[str, str]:
        path = Path(os.environ["TESTS_KEYRING"])
        return dict(json.loads(path.read_text())) if path.exists() else {}

    def _write(self, entries: dict[str, str]) -> None:
        Path(os.environ["TESTS_KEYRING"]).write_text(json.dumps(entries))
