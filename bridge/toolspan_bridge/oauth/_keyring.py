"""The system's keyring, where there is one that works. It is asked in a thread: it may wait for a person."""

from __future__ import annotations

from keyring import delete_password, get_keyring, get_password, set_password
from keyring.backends.fail import Keyring as NoKeyring
from keyring.backends.null import Keyring as NullKeyring
from keyring.errors import KeyringError, PasswordDeleteError

_SERVICE = "toolspan"


def available() -> bool:
    """Whether there is a keyring that keeps what it is given."""
    try:
        return not isinstance(get_keyring(), NoKeyring | NullKeyring)
    except (KeyringError, RuntimeError):
        return False


def read(name: str) -> str | None:
    """The secret of that name. Raises ``OSError`` when the keyring is locked or gone."""
    try:
        return get_password(_SERVICE, name)
    except (KeyringError, RuntimeError) as error:
        raise OSError(f"the keyring cannot be read: {error}") from None


def write(name: str, secret: str) -> bool:
    """Keep ``secret``; false when the keyring does not take it, such as one that is locked or too long."""
    try:
        set_password(_SERVICE, name, secret)
        return get_password(_SERVICE, name) == secret
    except (KeyringError, OSError, RuntimeError, ValueError):
        return False


def delete(name: str) -> None:
    """Forget the secret of that name, if there is one. Raises ``OSError``."""
    try:
        delete_password(_SERVICE, name)
    except PasswordDeleteError:
        return
    except (KeyringError, RuntimeError) as error:
        raise OSError(f"the keyring does not let go of an entry: {error}") from None
