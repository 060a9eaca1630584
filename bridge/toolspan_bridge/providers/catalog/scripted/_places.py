"""Where scripts may be, in a process that others name models to."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from ....errors import UsageError

Folders = Callable[[], Iterable[Path]]
_ENDINGS = (".yaml", ".yml", ".json")
_places: list[Folders] = []


@contextmanager
def only_in(folders: Folders) -> Generator[None]:
    """In the block a script is a file in or below one of ``folders``, for the whole process: whoever names a
    model over a network is not to read any file by it."""
    _places.append(folders)
    try:
        yield
    finally:
        _places.remove(folders)


def check_place(model: str) -> None:
    """Raise ``UsageError`` where the script ``model`` may not be read; nothing is told of what is there."""
    for folders in _places:
        refused = UsageError(
            f"the script {model[:200]} is not to be used here: over HTTP a script is a .yaml or .json file "
            "in the folder of the config"
        )
        try:
            path = Path(model).resolve()
            inside = any(path.is_relative_to(folder.resolve()) for folder in folders())
            fits = inside and path.suffix in _ENDINGS and (path.is_file() or not path.exists())
        except (OSError, RuntimeError, ValueError):
            raise refused from None
        if not fits:
            raise refused
