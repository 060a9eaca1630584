"""The members that lists have for a resource, a resource template or a prompt."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..config.models.resources import ContentAnnotationsConfig, OfferedConfig
    from ..config.models.tool_options import IconConfig
    from ._folder import FileEntry


def described(config: OfferedConfig, **members: Any) -> dict[str, Any]:
    """``members`` that have a value, with the title, description and icons of ``config``, in MCP's form."""
    offered = {"title": config.title, "description": config.description, "icons": _icons(config)}
    return {name: value for name, value in {**members, **offered}.items() if value is not None}


def hints(config: ContentAnnotationsConfig | None, file: FileEntry | None = None) -> dict[str, Any] | None:
    """The annotations; for a ``file`` its modification time is added."""
    written = {} if config is None else config.written()
    if file is not None:
        moment = datetime.fromtimestamp(file.modified_ns // 1_000_000_000, UTC)
        written.setdefault("lastModified", moment.strftime("%Y-%m-%dT%H:%M:%SZ"))
    return written or None


def _icons(config: OfferedConfig) -> list[dict[str, Any]] | None:
    return [_icon(icon) for icon in config.icons] if config.icons else None


def _icon(icon: IconConfig) -> dict[str, Any]:
    sizes = None if icon.sizes is None else list(icon.sizes)
    members = {"src": icon.src, "mimeType": icon.mime_type, "sizes": sizes, "theme": icon.theme}
    return {name: value for name, value in members.items() if value is not None}
