"""The principal that a request names in its ``_meta``: taken from one program, and from nobody else.

Who starts a server over stdio owns its pipe. With ``--principals meta`` that program speaks for several
people and names one in each request; without it, and over HTTP always, a request that names one is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ...calls.caller import LOCAL_USER, PRINCIPAL_KEY
from . import jsonrpc
from .wire import INVALID_PARAMS

_LONGEST = 10_000
_OF_SOMEBODY = frozenset(
    {
        "completion/complete",
        "prompts/get",
        "resources/read",
        "tasks/cancel",
        "tasks/get",
        "tasks/update",
        "tools/call",
    }
)
"""The requests that are made for somebody; the others give everybody the same."""


def refuse_named(message: Mapping[str, Any]) -> None:
    """Raise ``Refusal`` where the request ``message`` names a principal."""
    if PRINCIPAL_KEY in _meta(message):
        text = (
            f"Invalid params: _meta '{PRINCIPAL_KEY}' is only taken from the program that started this "
            "server over stdio with --principals meta: leave it out"
        )
        raise jsonrpc.Refusal(INVALID_PARAMS, text, message.get("id"))


def named(message: Mapping[str, Any]) -> str | None:
    """The principal that the request ``message`` names; ``None`` for the local user, and where it is made for
    nobody. Raises ``Refusal`` where it has to name one and does not."""
    found = _meta(message).get(PRINCIPAL_KEY)
    if found is None and message["method"] not in _OF_SOMEBODY:
        return None
    if not isinstance(found, str) or not 1 <= len(found) <= _LONGEST:
        text = (
            f"Invalid params: _meta '{PRINCIPAL_KEY}' must be a text of 1 to {_LONGEST} characters: this "
            "server was started with --principals meta, so that each request names whom it is made for"
        )
        raise jsonrpc.Refusal(INVALID_PARAMS, text, message.get("id"))
    return None if found == LOCAL_USER else found


def _meta(message: Mapping[str, Any]) -> Mapping[str, Any]:
    params: Any = message.get("params")
    meta: Any = cast("dict[str, Any]", params).get("_meta") if isinstance(params, dict) else None
    return cast("dict[str, Any]", meta) if isinstance(meta, dict) else {}
