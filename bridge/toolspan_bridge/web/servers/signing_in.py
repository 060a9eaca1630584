"""Sign-ins that begin over HTTP and that the person's browser completes by coming back to this machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import anyio

from toolspan_server.common.supervision import report_failure, run_contained

from ...errors import BridgeError
from ...oauth import SignInWay
from ..problems import Problem

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from ...oauth import DeviceCode, SignInRequest
    from ..app.state import App

__all__ = ["SignIns"]


@dataclass(eq=False, slots=True)
class _Begun:
    """A sign-in that goes on: ``known`` is set once its ``url`` is, or its ``error``, or it is over without
    any."""

    known: anyio.Event = field(default_factory=anyio.Event)
    url: str = ""
    error: BridgeError | None = None

    @property
    def has_browser(self) -> bool:
        """The person who asked has one."""
        return True

    async def allows(self, request: SignInRequest) -> bool:
        """They asked for it."""
        del request
        return True

    async def open(self, url: str, seconds: float) -> None:
        """The address is the answer to the request that began it."""
        del seconds
        self.url = url
        self.known.set()

    async def show_code(self, code: DeviceCode) -> None:
        """The address that has the code in it, or where it is typed."""
        self.url = code.whole_url or code.url
        self.known.set()


class SignIns:
    """The sign-ins of ``app`` that go on, one for each server, in ``tasks``."""

    def __init__(self, app: App, tasks: TaskGroup) -> None:
        self._app = app
        self._tasks = tasks
        self._begun: dict[str, _Begun] = {}

    async def begin(self, server: str, principal: str) -> str:
        """Where the person signs in to ``server``; the same address while a sign-in goes on. Raises
        ``BridgeError``, and ``Problem`` where none is needed."""
        begun = self._begun.get(server)
        if begun is None:
            begun = self._begun[server] = _Begun()
            self._tasks.start_soon(run_contained, "a sign-in", partial(self._run, server, begun, principal))
        await begun.known.wait()
        if begun.error is not None:
            raise begun.error
        if not begun.url:
            raise Problem(409, f"the server {server!r} lets everybody in: no sign-in is needed")
        return begun.url

    async def _run(self, server: str, begun: _Begun, principal: str) -> None:
        error = ""
        try:
            async with self._app.using(principal) as served:
                failure = await served.session.toolbox.sign_in(server, SignInWay(begun, anew=True))
            error = "" if failure is None else failure.reason
        except BridgeError as refused:
            begun.error, error = refused, refused.message
        except Exception as fault:
            report_failure("a sign-in", fault, "ended")
            error = f"the sign-in ended by a defect ({type(fault).__name__}): the server's log has more"
            begun.error = BridgeError(error)
        finally:
            del self._begun[server]
            begun.known.set()
        state = "failed" if error else "connected"
        self._app.events.tell("server_changed", {"name": server, "state": state, "error": error or None})
