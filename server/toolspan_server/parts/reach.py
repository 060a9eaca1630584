"""How far a tool's calls reach: whether they carry data out of this machine, or bring content from outside.

Clients of ours ask about calls that reach outside once a conversation holds a secret or foreign content. So
this is a list of what stays: a kind or a handler that is not in it reaches outside.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

Reach = Literal["local", "code", "outside"]
"""``local``: nothing leaves the machine, and nothing comes from elsewhere. ``code``: a function of the
config's author, which may do either. ``outside``: arguments go to others, whose words come back."""

_TEXT = "computes with its arguments alone"
_FILES = "works on files in the workspace's folder"
_STATE = "reads or writes the state of its own conversation"
_PERSON = "shows something to the person"

LOCAL_HANDLERS: Mapping[str, str] = {
    "echo": _TEXT,
    "string_case": _TEXT,
    "string_count": _TEXT,
    "string_slice": _TEXT,
    "string_replace": _TEXT,
    "string_regex": _TEXT,
    "string_split": _TEXT,
    "string_join": _TEXT,
    "string_base64": _TEXT,
    "string_hash": _TEXT,
    "string_uuid": _TEXT,
    "datetime_now": _TEXT,
    "datetime_parse": _TEXT,
    "datetime_add": _TEXT,
    "datetime_difference": _TEXT,
    "datetime_format": _TEXT,
    "calculator": _TEXT,
    "math_eval": _TEXT,
    "rag_query": "searches an index of the config's own folders, on this machine",
    "Read": _FILES,
    "Write": _FILES,
    "Edit": _FILES,
    "NotebookEdit": _FILES,
    "Glob": _FILES,
    "Grep": _FILES,
    "Changes": _FILES,
    "Undo": _FILES,
    "BashOutput": "reads what a command that was started earlier wrote",
    "KillShell": "ends a command that was started earlier",
    "TodoWrite": _STATE,
    "Todos": _STATE,
    "EnterPlanMode": _STATE,
    "ExitPlanMode": _PERSON,
    "AskUserQuestion": _PERSON,
    "Task": "starts a sub-agent, whose calls are decided one by one",
}
"""Our own handlers whose calls stay on this machine, each with the reason."""

OUTSIDE_HANDLERS = frozenset({"WebFetch", "WebSearch"})
"""Our own handlers that always reach outside. A handler of ours in neither list is decided below."""

OPENED_META = "dev.toolspan/opened"
"""The key of a result's ``_meta`` with the paths of the files that were read, without links, where a call
named them otherwise."""

_CONFINED = "network:off"
_UNCONFINED = "sandbox:none"


def handler_reach(
    name: str, options: Any, tags: Collection[str], local_databases: Collection[str], *, ours: bool
) -> Reach:
    """The reach of the handler ``name`` with ``options``, of a tool with ``tags``."""
    if not ours:
        return "code"
    if name == "sql_query":
        return "local" if getattr(options, "database", None) in local_databases else "outside"
    if name == "Bash":
        return "local" if _CONFINED in tags and _UNCONFINED not in tags else "outside"
    return "local" if name in LOCAL_HANDLERS else "outside"
