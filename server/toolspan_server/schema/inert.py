"""Marks of what is inert: config keys and parts that take effect in a folder that nobody trusts.

A found config is used in restricted mode until a person trusts its folder. Restricted, only what carries a
mark is taken from it. A key or a part without one is left out, so that a new one is left out until somebody
writes down why it is harmless:

    text: str | None = key("The content.", inert=DATA)
    file: str | None = key("The file.", inert=FILE_INSIDE)
    calls: Count = key("Most calls.", default=16, inert=at_most(16))

A mark holds for the value alone; the keys of records inside of it need marks of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

Test = Callable[[Any, Path], bool]


def _always(_value: Any, _folder: Path) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Inert:
    """Says why a value is inert; ``when`` is called with the value and the config's folder, and says whether
    it is. ``holds_variables``: it may have variables in it, as it is neither shown nor sent."""

    reason: str
    when: Test = _always
    holds_variables: bool = False


DATA = Inert("it is data that is shown to clients and models")
CHOICE = Inert("it selects among things that are inert themselves")
PURE = Inert("it computes its result from its arguments alone")
CONDITION = Inert("it is compared with what is called, and neither shown nor sent", holds_variables=True)
PARTS = Inert("its parts are judged one by one")


NARROWER = Inert("there is no limit by default, so that any narrows")


def at_most(limit: float) -> Inert:
    """A number that allows no more than ``limit``, the default, does."""
    return Inert(
        "it only narrows what the default allows", lambda value, _: value is not None and value <= limit
    )


def only(*values: Any, reason: str = "the value is no less strict than the default") -> Inert:
    """One of ``values``."""
    return Inert(reason, lambda value, _: value in values)


def _lies_inside(value: Any, folder: Path) -> bool:
    paths = cast("Iterable[Any]", value) if isinstance(value, tuple | list) else (value,)
    return all(path is None or is_inside_folder(path, folder) for path in paths)


FILE_INSIDE = Inert("it is read as text, and lies in the folder", _lies_inside)


def is_inside_folder(path: Any, folder: Path) -> bool:
    """Whether ``path``, relative to ``folder``, lies inside it after links are followed. Of a glob or a name
    with variables, the part before the first of these counts: what is found below is opened without leaving
    the folder."""
    if not isinstance(path, str) or "\0" in path or path.startswith("~"):
        return False
    fixed: list[str] = []
    for part in Path(path).parts:
        if any(sign in part for sign in "*?[{"):
            break
        fixed.append(part)
    if ".." in Path(path).parts:
        return False
    try:
        root = folder.resolve()
        return root.joinpath(*fixed).resolve().is_relative_to(root)
    except (OSError, RuntimeError, ValueError):
        return False
