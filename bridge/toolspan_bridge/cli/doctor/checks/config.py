"""The config: is there one, and can it be read?"""

from __future__ import annotations

from toolspan_server.config import contents, counted

from ..finding import Finding, ok, problem, warning
from ..surroundings import Surroundings

ORDER = 20


async def check(around: Surroundings) -> list[Finding]:
    """The config, every fault of it with its place."""
    if around.error is not None:
        return [
            problem(str(each), "correct it; toolspan check shows the same", 2)
            for each in around.error.problems
        ]
    if not around.files:
        return [warning("there is no config in this folder", "name one with --config, or: toolspan init")]
    names = ", ".join(map(str, around.files))
    there = [counted(sort, len(found)) for sort, found in contents(around.config).items() if found]
    found = [ok(f"{names}: {', '.join(there) or 'nothing in it'}")]
    found += [warning(f"skipped: {each}", "correct it") for each in around.config.skipped]
    if not around.config.tools.enabled:
        found.append(
            warning("tools.enabled is false: none of the tools is served", "remove it, or write true")
        )
    return found
