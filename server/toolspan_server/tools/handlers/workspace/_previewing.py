"""What the tools of a workspace show of a call before it is allowed: parts that several need."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ....calls.context import Context
from ....engines.definitions.call_preview import CallPreview, Section, arguments_section
from ._tool import workspace_of

if TYPE_CHECKING:
    from ....engines.workspace import Place, Workspace


def with_rest(made: CallPreview, arguments: Mapping[str, Any], shown: frozenset[str]) -> CallPreview:
    """``made``, which shows the arguments ``shown``, with all others as JSON."""
    rest = {name: value for name, value in arguments.items() if name not in shown}
    return made.with_sections([arguments_section(rest, "further arguments")] if rest else ())


def path_section(label: str, workspace: Workspace, place: Place) -> Section:
    """The file or folder that ``place`` is: absolute, links followed."""
    from ....engines.workspace import real_path

    root = workspace.roots[place.root].path
    return Section("code", label, str(real_path(root.joinpath(*place.parts), place.path)))


def basis(*contents: bytes | None) -> str:
    """What stands for these contents of files."""
    whole = hashlib.sha256()
    for each in contents:
        whole.update(b"-" if each is None else hashlib.sha256(each).digest())
    return whole.hexdigest()


def previews_path(name: str) -> Callable[[dict[str, Any], Context], CallPreview]:
    """The preview of a tool that reads at the path of its argument ``name``, or in the whole workspace."""

    def preview(arguments: dict[str, Any], context: Context) -> CallPreview:
        workspace = workspace_of(context, arguments)
        section = path_section("reads", workspace, workspace.place(arguments.get(name, ".")))
        return with_rest(CallPreview((section,), basis=section.text), arguments, frozenset((name,)))

    return preview
