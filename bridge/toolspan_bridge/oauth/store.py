"""Where sign-ins are kept: what is secret in the system's keyring, else in a file that only its owner reads.

    {"toolspan_sign_ins": 1, "servers": {URL: {"place": "keyring" | "file", …}}}

The file lies in the user's state folder. An entry holds for one server's URL, and names the issuer.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import anyio.to_thread

from ..errors import StoreError
from ..files.replacement import replace_file, why_locked, why_not_written
from ..files.user_state import user_state_directory
from .sign_in import SignIn

FILE = "sign-ins.json"
_MARK = "toolspan_sign_ins"
_TOKENS = ("access_token", "refresh_token", "id_token", "proof_key")
_MAX_BYTES = 16 * 1024 * 1024
_LOCK_SECONDS = 10
_RENEWAL_LOCK_SECONDS = 60
_T = TypeVar("_T")

Place = Literal["keyring", "file"]


@dataclass(frozen=True, slots=True)
class KeptSignIn:
    """What can be said of a sign-in without its secrets, which are at ``place``. ``renews``: its token is
    exchanged for another one when it ends."""

    sign_in: SignIn
    place: Place
    has_token: bool
    renews: bool


class SignInStore:
    """The sign-ins in ``folder``, by default those of the user, for all processes. Raises ``StoreError`` when
    they cannot be read or kept."""

    def __init__(self, folder: Path | None = None) -> None:
        self._given = folder

    async def load(self, server: str) -> SignIn | None:
        """The sign-in to the server at that URL."""
        return await _in_thread(lambda: self._load(server))

    async def save(self, signed: SignIn) -> Place:
        """Keep ``signed`` in place of what there was for its server; where its secrets are now."""
        return await _in_thread(lambda: self._save(signed))

    async def forget(self, server: str) -> bool:
        """Forget the sign-in to that server; false when there was none."""
        return await _in_thread(lambda: self._forget(server))

    async def known(self) -> dict[str, KeptSignIn]:
        """Every sign-in by its server's URL."""
        entries = await _in_thread(self._entries)
        return {
            server: KeptSignIn(
                _sign_in(entry, {}),
                entry["place"],
                has_token=entry.get("has_token") is True,
                renews=entry.get("renews") is True,
            )
            for server, entry in entries.items()
        }

    @asynccontextmanager
    async def renewing(self, server: str) -> AsyncGenerator[None]:
        """Hold the right to renew the tokens for that server, which one process has at a time."""
        from filelock import FileLock, Timeout

        name = sha256(server.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        path = self._folder / f"sign-in-{name}.lock"
        lock = FileLock(path, timeout=_RENEWAL_LOCK_SECONDS, thread_local=False)
        try:
            await anyio.to_thread.run_sync(lock.acquire)
        except (Timeout, OSError) as error:
            raise self._unusable(f"cannot be locked ({error})") from None
        try:
            yield
        finally:
            lock.release()

    @property
    def _folder(self) -> Path:
        try:
            return self._given or user_state_directory()
        except OSError as error:
            raise StoreError(f"the folder of what is remembered cannot be made: {error}") from None

    @property
    def _path(self) -> Path:
        return self._folder / FILE

    def _load(self, server: str) -> SignIn | None:
        from . import _keyring

        entry = self._entries().get(server)
        if entry is None:
            return None
        if entry["place"] == "file":
            return _sign_in(entry, entry.get("secrets") or {})
        try:
            kept = _keyring.read(server)
        except OSError as error:
            raise StoreError(f"{error} (unlock it, or sign in again: toolspan servers login URL)") from None
        return None if kept is None else _sign_in(entry, _object(kept))

    def _save(self, signed: SignIn) -> Place:
        from . import _keyring

        data = signed.as_data()
        data["client_secret"] = data["client"].pop("secret")
        secrets = {name: data.pop(name) for name in (*_TOKENS, "client_secret")}
        in_keyring = _keyring.available() and _keyring.write(signed.server, json.dumps(secrets))
        place: Place = "keyring" if in_keyring else "file"
        told = {"has_token": bool(signed.access_token), "renews": bool(signed.refresh_token)}
        entry = {"place": place, **told, **data, **({} if in_keyring else {"secrets": secrets})}
        with self._changing() as entries:
            entries[signed.server] = entry
        return place

    def _forget(self, server: str) -> bool:
        from . import _keyring

        with self._changing() as entries:
            entry = entries.pop(server, None)
        if entry is not None and entry["place"] == "keyring":
            try:
                _keyring.delete(server)
            except OSError as error:
                raise StoreError(str(error)) from None
        return entry is not None

    def _entries(self) -> dict[str, dict[str, Any]]:
        try:
            with self._path.open("rb") as file:
                data = file.read(_MAX_BYTES + 1)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._unusable(f"cannot be read: {error.strerror or error}") from None
        whole = _object(data) if len(data) <= _MAX_BYTES else {}
        servers: Any = whole.get("servers")
        if whole.get(_MARK) != 1 or not isinstance(servers, dict):
            raise self._unusable("holds something else")
        entries = cast("dict[str, Any]", servers)
        return {name: entry for name, entry in entries.items() if _is_entry(entry)}

    @contextmanager
    def _changing(self) -> Generator[dict[str, dict[str, Any]]]:
        """The entries, written when the block ends."""
        from filelock import FileLock, Timeout

        try:
            with FileLock(self._path.with_suffix(".lock"), timeout=_LOCK_SECONDS):
                entries = self._entries()
                yield entries
                replace_file(self._path, json.dumps({_MARK: 1, "servers": entries}, indent=1).encode())
        except Timeout:
            raise self._error(why_locked(_LOCK_SECONDS)) from None
        except OSError as error:
            raise self._error(why_not_written(error)) from None

    def _unusable(self, why: str) -> StoreError:
        return self._error(f"{why} (correct or remove it)")

    def _error(self, why: str) -> StoreError:
        return StoreError(f"the sign-ins in {self._path}: the file {why}")


def _sign_in(entry: dict[str, Any], secrets: dict[str, Any]) -> SignIn:
    client = {**entry["client"], "secret": secrets.get("client_secret", "")}
    tokens = {name: secrets.get(name, "") for name in _TOKENS}
    return SignIn.of_data({**entry, **tokens, "client": client})


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or cast("dict[str, Any]", entry).get("place") not in ("keyring", "file"):
        return False
    try:
        _sign_in(cast("dict[str, Any]", entry), {})
    except (ValueError, KeyError, TypeError):
        return False
    return True


def _object(text: str | bytes) -> dict[str, Any]:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


async def _in_thread(work: Callable[[], _T]) -> _T:
    return await anyio.to_thread.run_sync(work)
