"""What a user set for every folder: ``config.toml`` in the user's config folder, for people to edit too."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UsageError
from ...files.replacement import replace_file

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

_KEYS = ("default_model",)


def user_config_file() -> Path:
    """``toolspan/config.toml`` in the user's config folder, whose place is a custom of the system.

    That is ``$XDG_CONFIG_HOME``, else ``~/Library/Application Support`` (macOS), ``%APPDATA%`` (Windows) or
    ``~/.config``.
    """
    chosen = os.environ.get("XDG_CONFIG_HOME", "")
    if Path(chosen).is_absolute():
        base = Path(chosen)
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    else:
        base = Path.home() / ".config"
    return base / "toolspan" / "config.toml"


def user_default_model() -> str:
    """The model that the user set as the default; empty for none. Raises ``UsageError``."""
    path = user_config_file()
    try:
        text = path.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path}: {error} (correct or delete it)") from None
    import tomllib

    try:
        found = tomllib.loads(text)
    except ValueError as error:
        raise UsageError(f"{path}: {error} (correct or delete it)") from None
    for key in found:
        if key not in _KEYS:
            raise UsageError(f"{path}: unknown key {key!r} (known: {', '.join(_KEYS)})")
    model = found.get("default_model", "")
    if not isinstance(model, str):
        raise UsageError(f'{path}: default_model is no string (write "provider/model")')
    return model


def set_user_default_model(model: str) -> Path:
    """Keep ``model`` as the default; gives the file. What else is in it stays. Raises ``UsageError``."""
    user_default_model()  # a file with a fault is not touched
    path = user_config_file()
    try:
        document = _document(path)
        document["default_model"] = model
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path.resolve(), document.as_string().encode())
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    return path


def _document(path: Path) -> TOMLDocument:
    import tomlkit

    try:
        return tomlkit.parse(path.read_text("utf-8"))
    except FileNotFoundError:
        return tomlkit.document()
