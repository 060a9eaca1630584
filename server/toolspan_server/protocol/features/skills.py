"""``skills/list``, ``skills/get`` and ``resources/directory/read``. Importing this module imports ``mcp``."""

from __future__ import annotations

from typing import Any

import anyio.to_thread
from mcp.server.lowlevel.server import Server
from mcp_types import PaginatedRequestParams, RequestParams

from ...errors import RequestRefused
from ...live.views import ServerView
from ...resources.skills import Skills
from ..clients import RequestContext, offered, refusals
from ..messages.pagination import cache_hints, paged
from ..messages.wire import INVALID_PARAMS


class _SkillParams(RequestParams):
    uri: str


class _FolderParams(PaginatedRequestParams):
    uri: str


def register(server: Server[Any], view: ServerView) -> None:
    """Let ``server`` list ``view``'s skills."""

    async def list_skills(context: RequestContext, params: PaginatedRequestParams) -> dict[str, Any]:
        with refusals():
            listed = await anyio.to_thread.run_sync(_skills(view, context).entries)
            return paged(view, "skills", listed, params.cursor, context.protocol_version)

    async def get_skill(context: RequestContext, params: _SkillParams) -> dict[str, Any]:
        with refusals():
            listed = await anyio.to_thread.run_sync(_skills(view, context).entries)
            found = next((each for each in listed if each["uri"] == params.uri), None)
            if found is None:
                raise RequestRefused(INVALID_PARAMS, "Skill not found", {"uri": params.uri})
            return {"skill": found, **cache_hints(view, context.protocol_version)}

    async def read_folder(context: RequestContext, params: _FolderParams) -> dict[str, Any]:
        with refusals():
            skills = _skills(view, context)
            listed = await anyio.to_thread.run_sync(skills.children, params.uri)
            if listed is None:
                raise RequestRefused(INVALID_PARAMS, "No folder of a skill", {"uri": params.uri})
            return paged(view, "resources", listed, params.cursor, context.protocol_version)

    server.add_request_handler("skills/list", PaginatedRequestParams, list_skills)
    server.add_request_handler("skills/get", _SkillParams, get_skill)
    server.add_request_handler("resources/directory/read", _FolderParams, read_folder)


def _skills(view: ServerView, context: RequestContext) -> Skills:
    return offered(offered(view.resources, context).skills, context)
