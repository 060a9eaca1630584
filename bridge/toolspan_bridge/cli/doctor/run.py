"""Runs the checks, one after the other."""

from __future__ import annotations

import pkgutil
from collections.abc import AsyncGenerator
from importlib import import_module
from typing import cast

from ...errors import BridgeError
from . import checks
from .finding import Finding, problem
from .surroundings import Surroundings


def check_names() -> list[str]:
    """The name of every check, in the order of the report."""
    found = [module.name for module in pkgutil.iter_modules(checks.__path__)]
    return sorted(found, key=lambda name: (import_module(f"{checks.__name__}.{name}").ORDER, name))


async def findings(around: Surroundings) -> AsyncGenerator[tuple[str, list[Finding]]]:
    """Each check's name with what it found, as soon as it is known."""
    for name in check_names():
        check = import_module(f"{checks.__name__}.{name}").check
        try:
            found = cast("list[Finding]", await check(around))
        except BridgeError as error:
            found = [problem(error.message, "see the message", error.exit_code)]
        yield name, found
