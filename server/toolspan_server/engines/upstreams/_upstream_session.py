"""How a server is spoken to, whichever way that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol

from ...common.sdk_import import imported_with_sdk
from ._listed_tool import Bounds, Listing
from ._listener import Listener, ToldOf
from ._results import InputNeeded, InputResponses, UpstreamResult
from ._spec import ServerSpec

if TYPE_CHECKING:
    from .child.process import Child

_NEED_SDK = ("_changes", "_sdk_session", "_stdio")
_WITH_SDK = tuple(f"{__package__}.{name}" for name in _NEED_SDK)


class UpstreamSession(Protocol):
    """How a server is spoken to: ``_sdk_session``, by the SDK, or ``_modern_session``."""

    def open_session(
        self, spec: ServerSpec, child: Child, listener: Listener | None
    ) -> AbstractAsyncContextManager[tuple[Any, Any]]: ...

    async def list_tools(self, session: Any, channel: Any, bounds: Bounds) -> Listing: ...

    async def call_tool(
        self,
        session: Any,
        name: str,
        arguments: Mapping[str, Any],
        meta: Mapping[str, Any],
        again: InputResponses | None,
    ) -> UpstreamResult | InputNeeded: ...

    async def request(self, session: Any, method: str, params: Mapping[str, Any]) -> dict[str, Any]: ...

    async def notify(self, session: Any, method: str) -> None: ...

    async def hear_of_changes(self, session: Any, channel: Any) -> None: ...

    async def hear_of_resources(
        self, session: Any, channel: Any, uris: Sequence[str], before: Set[str], told_of: ToldOf
    ) -> None: ...

    async def set_log_level(self, session: Any, level: str) -> None: ...


async def session_kind(spec: ServerSpec) -> UpstreamSession:
    """How the server of ``spec`` is spoken to."""
    if spec.own:
        from . import _modern_session

        return _modern_session
    await imported_with_sdk(*_WITH_SDK)
    from . import _sdk_session

    return _sdk_session
