"""The versions of Python, Toolspan and the libraries that it needs."""

from __future__ import annotations

import platform
import re
from importlib.metadata import PackageNotFoundError, requires, version

from ..finding import Finding, ok, problem
from ..surroundings import Surroundings

ORDER = 10
_NAMED = ("mcp", "httpx2", "pydantic")


async def check(around: Surroundings) -> list[Finding]:
    """What is installed."""
    libraries = ", ".join(f"{name} {_version(name) or 'missing'}" for name in _NAMED)
    system = f"{platform.system()} {platform.release()}"
    found = [
        ok(f"Toolspan {_version('toolspan')}, Python {platform.python_version()}, {system}; {libraries}")
    ]
    if missing := [name for name in _needed() if not _version(name)]:
        todo = "install Toolspan again, with its dependencies: pip install --force-reinstall toolspan"
        found.append(problem(f"not installed: {', '.join(missing)}", todo))
    return found


def _needed() -> list[str]:
    wanted = [each for each in requires("toolspan") or () if "extra ==" not in each]
    return [match[0] for each in wanted if (match := re.match(r"[A-Za-z0-9_.-]+", each))]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
