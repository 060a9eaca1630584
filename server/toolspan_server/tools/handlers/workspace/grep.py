"""``Grep``: lines of the workspace's files that match a regular expression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ....calls.content import Content
from ....calls.context import Context
from ....engines.registration import handler
from ....errors import InvalidParameters
from ._commands import told_opened
from ._previewing import previews_path
from ._tool import Definition, Options, references, workspace_of

if TYPE_CHECKING:
    from ....engines.workspace import Workspace
    from ....engines.workspace._patterns import Pattern
    from ....engines.workspace._search import FileMatches, Query, SearchState
    from ....engines.workspace.opening.paths import Place

_LONGEST_PATTERN = 1_000
_MAX_MEMORY = 16 << 20
_MOST_CONTEXT = 100
_MOST_OPENED = 10_000
_LINES = {"type": "integer", "minimum": 0, "maximum": _MOST_CONTEXT}

DEFINITION = Definition(
    name="Grep",
    description=(
        "Search the files of the workspace with a regular expression (RE2: no lookaround, no "
        "backreferences). Files that .gitignore names are left out. output_mode: files_with_matches (the "
        "default) lists paths, content gives the lines as path:line:text, count how many lines match in each "
        "file. truncated says when there are more."
    ),
    properties={
        "pattern": {"type": "string", "description": "The regular expression"},
        "path": {"type": "string", "description": "A file or folder; the whole workspace by default"},
        "glob": {"type": "string", "description": "Only files that match this, such as *.py or src/**/*.ts"},
        "output_mode": {"type": "string", "enum": ["files_with_matches", "content", "count"]},
        "context": {**_LINES, "description": "Lines to show before and after each match (content)"},
        "before": {**_LINES, "description": "Lines to show before each match (content)"},
        "after": {**_LINES, "description": "Lines to show after each match (content)"},
        "ignore_case": {"type": "boolean", "description": "Whether A and a are the same"},
        "multiline": {"type": "boolean", "description": "Whether . and a match may go over ends of lines"},
        "limit": {"type": "integer", "minimum": 1, "description": "Most files or lines to return"},
        "include_ignored": {"type": "boolean", "description": "Search files that .gitignore names as well"},
    },
    required=("pattern",),
    read_only=True,
    idempotent=True,
)


@handler(
    "Grep",
    kind="internal",
    options=Options,
    references=references,
    preview=previews_path("path"),
)
def grep(arguments: dict[str, Any], context: Context) -> dict[str, Any] | Content:
    """``{"pattern", "path"?, "glob"?, "output_mode"?, "context"?, …}`` → ``{"files", …}``."""
    from ....engines.workspace._search import SearchState, search
    from ....engines.workspace._tree import Budget

    workspace = workspace_of(context, arguments)
    mode = arguments.get("output_mode", "files_with_matches")
    state = SearchState()
    query = _query(arguments)
    budget = Budget(workspace.limits, context.cancelled.is_set)
    found = search(
        workspace,
        workspace.place(arguments.get("path", ".")),
        query,
        budget,
        state,
        glob=_glob(arguments.get("glob")),
        everything=arguments.get("include_ignored", False),
    )
    most = min(arguments.get("limit", workspace.limits.results), workspace.limits.results)
    start = workspace.place(arguments.get("path", "."))
    opened = _Opened(start, workspace.other_start(start))
    values = _shown(opened.noted(found), query, workspace, mode)
    taken = _taken(values, state, most, workspace.limits.read_bytes)
    key = {"content": "lines", "count": "counts"}.get(mode, "files")
    result = {
        key: dict(each for each in taken) if mode == "count" else taken,
        "files_searched": state.files,
        "truncated": state.truncated is not None,
        **({} if state.truncated is None else {"truncated_by": state.truncated}),
        **({"too_large": state.too_large[:20]} if state.too_large else {}),
        **({"denied_by_rules": budget.denied} if budget.denied else {}),
    }
    return told_opened(result, opened.paths)


@dataclass
class _Opened:
    """The ``paths`` of files in which was found something, where a link leads from ``start`` to ``real``."""

    start: Place
    real: str
    paths: list[str] = field(default_factory=list[str])

    def noted(self, found: Iterator[FileMatches]) -> Iterator[FileMatches]:
        """``found``, each of which is noted when it is taken."""
        for each in found:
            if self.real and len(self.paths) < _MOST_OPENED:
                inside = each.place.parts[len(self.start.parts) :]
                self.paths.append("/".join((self.real, *inside)))
            yield each


def _query(arguments: dict[str, Any]) -> Query:
    from ....common.re2_patterns import compiled
    from ....engines.workspace._search import Query

    written: str = arguments["pattern"]
    multiline = arguments.get("multiline", False)
    if not written or len(written) > _LONGEST_PATTERN:
        raise InvalidParameters([f"'pattern' must have 1 to {_LONGEST_PATTERN:,} characters"])
    try:
        pattern = compiled(
            f"(?m){written}",
            ignore_case=arguments.get("ignore_case", False),
            any_character=multiline,
            max_memory=_MAX_MEMORY,
        )
    except ValueError as error:
        raise InvalidParameters([f"'pattern' is no RE2 pattern: {str(error)[:200]}"]) from None
    around = arguments.get("context", 0)
    return Query(pattern, arguments.get("before", around), arguments.get("after", around), multiline)


def _glob(written: str | None) -> Pattern | None:
    from ....engines.workspace._patterns import Pattern

    if written is None:
        return None
    try:
        return Pattern.of(written if "/" in written else f"**/{written}")
    except ValueError as fault:
        raise InvalidParameters([f"'glob' cannot be used: {fault}"]) from None


def _shown(found: Iterator[FileMatches], query: Query, workspace: Workspace, mode: str) -> Iterator[Any]:
    from ....engines.workspace._search import with_context

    most = workspace.limits.line_characters
    first = True
    for each in found:
        path = each.place.shown
        if mode == "count":
            yield path, len(each.numbers)
        elif mode != "content":
            yield path
        else:
            if not first and (query.before or query.after):
                yield "--"
            first = False
            for line in with_context(each, query):
                yield "--" if line is None else _line(path, each.lines, *line, most)


def _line(path: str, lines: list[bytes], number: int, matches: bool, most: int) -> str:
    text = lines[number - 1].removesuffix(b"\r").decode("utf-8", "replace")
    cut = f"… [cut: {len(text):,} characters]" if len(text) > most else ""
    mark = ":" if matches else "-"
    return f"{path}{mark}{number}{mark}{text[:most]}{cut}"


def _taken(values: Iterator[Any], state: SearchState, most: int, characters: int) -> list[Any]:
    """The first of ``values``; what limits them is noted in ``state``."""
    taken: list[Any] = []
    for each in values:
        characters -= len(str(each))
        if len(taken) == most or characters < 0:
            state.truncated = (
                f"limits.results or limit ({most:,})" if len(taken) == most else "limits.read_bytes"
            )
            break
        taken.append(each)
    return taken
