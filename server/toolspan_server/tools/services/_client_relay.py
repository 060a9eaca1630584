"""Relays an upstream's notifications and requests to the clients whose calls run there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

from ...calls.client import Ability
from ...engines.upstreams import RefusedQuestion
from ._ongoing_call import OngoingCall

MAX_PARKED = 100
"""Calls of one upstream that may wait for their client to come back with answers."""

PARKED_SECONDS = 300.0
"""How many seconds such a call is kept."""

LATE_SECONDS = 30.0
"""How many seconds an upstream may continue to send messages of a cancelled call."""

_INVALID_REQUEST = -32600
_ABILITIES: Mapping[str, Ability] = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
_TASKS: Mapping[str, Any] = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
_DECLARED: Mapping[Ability, Mapping[str, Any]] = {"elicitation": {"form": {}}, "sampling": {}, "roots": {}}


class ClientRelay:
    """The ``Listener`` of the upstream ``name``, which may send clients the requests in ``may_ask``.

    A message within the response stream of a call belongs to that call. A server over stdio does not say
    which call a message belongs to: it is relayed while only one call runs and none was cancelled a moment
    ago, and refused otherwise, so that no client gets a notification or a request that belongs to another.
    """

    def __init__(self, name: str, may_ask: frozenset[Ability]) -> None:
        self._name = name
        self.on_notice: Callable[[str, Mapping[str, Any]], bool] = _unheard
        self.may_ask = may_ask
        self._calls: dict[str, OngoingCall] = {}
        self._parked: dict[str, float] = {}
        self._sweeper: asyncio.TimerHandle | None = None
        self._late_until = 0.0

    @property
    def is_idle(self) -> bool:
        """Whether no call is under way."""
        return not self._calls

    def begin(self, call: OngoingCall) -> None:
        """Relay the upstream's messages to ``call`` until it is done."""
        self._calls[call.id] = call
        call.start(self._over)

    def park(self, call: OngoingCall) -> None:
        """Keep ``call`` running, for a while, until its client comes back with the answers."""
        while len(self._parked) >= MAX_PARKED:
            self._drop(next(iter(self._parked)))
        self._parked[call.id] = time.monotonic() + PARKED_SECONDS
        if self._sweeper is None:
            self._sweeper = asyncio.get_running_loop().call_later(PARKED_SECONDS, self._sweep)

    def taken_up(self, call_id: object) -> OngoingCall | None:
        """The parked call ``call_id``, which is no longer parked; ``None`` when it is gone."""
        if not isinstance(call_id, str) or self._parked.pop(call_id, None) is None:
            return None
        return self._calls.get(call_id)

    def end(self) -> None:
        """Cancel every call."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        self._parked.clear()
        calls, self._calls = self._calls, {}
        for call in calls.values():
            call.cancel()

    def capabilities(self, call: str | None) -> Mapping[str, Any]:
        """The capabilities declared to the upstream; within a call, those that the call's client has."""
        made = self._calls.get(call) if call is not None else None
        able: dict[str, Any] = {
            ability: declared
            for ability, declared in _DECLARED.items()
            if ability in self.may_ask and (made is None or made.client.accepts(ability))
        }
        return {**able, **_TASKS} if made is None or made.client.accepts("task") else able

    def notify(self, method: str, params: Mapping[str, Any], call: str | None) -> bool:
        """Forward progress and log messages to the call that they belong to; ``on_notice`` gets all else."""
        if method == "notifications/progress":
            made = self._calls.get(str(params.get("progressToken")))
        elif method == "notifications/message":
            made = self._meant(call)
        else:
            return self.on_notice(method, params)
        if made is not None:
            made.notify(method, params)
        return True

    async def answer(self, method: str, params: Mapping[str, Any], call: str | None) -> dict[str, Any]:
        """The client's answer to a request of the upstream."""
        ability = _ABILITIES[method]
        if ability not in self.may_ask:
            raise RefusedQuestion(_INVALID_REQUEST, f"{ability} is not allowed here")
        made = self._meant(call)
        if made is None:
            several = (
                "several calls run, or one was just cancelled: the request does not say to which it belongs"
            )
            raise RefusedQuestion(_INVALID_REQUEST, several if self._calls else "no call runs that could ask")
        return await made.ask_client(ability, params)

    def _meant(self, call: str | None) -> OngoingCall | None:
        if call is not None:
            return self._calls.get(call)
        sure = len(self._calls) == 1 and time.monotonic() >= self._late_until
        return next(iter(self._calls.values())) if sure else None

    def _over(self, call_id: str, cancelled: bool) -> None:
        if self._calls.pop(call_id, None) is not None and cancelled:
            self._late_until = time.monotonic() + LATE_SECONDS

    def _sweep(self) -> None:
        now = time.monotonic()
        for call_id in [call_id for call_id, end in self._parked.items() if end <= now]:
            self._drop(call_id)
        self._sweeper = None
        if self._parked:
            wait = next(iter(self._parked.values())) - now
            self._sweeper = asyncio.get_running_loop().call_later(wait, self._sweep)

    def _drop(self, call_id: str) -> None:
        del self._parked[call_id]
        if (call := self._calls.get(call_id)) is not None:
            call.cancel()


def _unheard(_method: str, _params: Mapping[str, Any]) -> bool:
    return False
