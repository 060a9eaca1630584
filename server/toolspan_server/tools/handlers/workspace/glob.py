"""``Glob``: files of the workspace by a pattern of their paths."""

from __future__ import annotations

from typing import Any

from ....calls.context import Context
from ....engines.registration import handler
from ....errors import InvalidParameters
from ._previewing import previews_path
from ._tool import Definition, Options, references, workspace_of

DEFINITION = Definition(
    name="Glob",
    description=(
        "Find files of the workspace by a pattern such as **/*.py, src/*.{js,ts} or docs/** (a pattern that "
        "ends with / finds folders). Files that .gitignore names are left out. truncated says when there are "
        "more."
    ),
    properties={
        "pattern": {"type": "string", "description": "The pattern, relative to path"},
        "path": {"type": "string", "description": "The folder to look in; the whole workspace by default"},
        "include_ignored": {"type": "boolean", "description": "Find files that .gitignore names as well"},
    },
    required=("pattern",),
    read_only=True,
    idempotent=True,
)


@handler(
    "Glob",
    kind="internal",
    options=Options,
    references=references,
    preview=previews_path("path"),
)
def glob(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"pattern", "path"?}`` → ``{"files": [path], "truncated": false}``, sorted by their paths."""
    from ....engines.workspace._patterns import Pattern
    from ....engines.workspace._tree import Budget, Exhausted, walk

    workspace = workspace_of(context, arguments)
    written: str = arguments["pattern"]
    try:
        pattern = Pattern.of(written)
    except ValueError as fault:
        raise InvalidParameters([f"'pattern' cannot be used: {fault}"]) from None
    start = workspace.place(arguments.get("path", "."))
    budget = Budget(workspace.limits, context.cancelled.is_set)
    everything = arguments.get("include_ignored", False)
    folders, most = written.endswith("/"), workspace.limits.results
    found: list[str] = []
    limit: str | None = None
    try:
        for each in walk(
            workspace, start, budget, state=pattern.start(), step=pattern.step, everything=everything
        ):
            if each.is_folder == folders and pattern.accepts(each.state):
                if len(found) == most:
                    limit = f"limits.results ({most:,})"
                    break
                found.append(each.place.shown + "/" * folders)
    except Exhausted as reached:
        limit = str(reached)
    return {
        "files": sorted(found),
        "truncated": limit is not None,
        **({} if limit is None else {"truncated_by": limit}),
        **({"denied_by_rules": budget.denied} if budget.denied else {}),
    }
