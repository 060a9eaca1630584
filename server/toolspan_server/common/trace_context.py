"""W3C trace context, which MCP carries in a request's ``_meta`` (SEP-414)."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any

from .json_values import repaired

_log = logging.getLogger(__name__)
_FORMS = {
    "traceparent": re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"),
    "tracestate": re.compile(r"[\x20-\x7e]{1,512}"),
    "baggage": re.compile(r"[\x20-\x7e]{1,8192}"),
}


def outgoing(meta: Mapping[str, Any]) -> dict[str, str]:
    """What of a request's ``_meta`` goes on to whom the tool asks: the trace that the call is part of.

    That is ``traceparent``, ``tracestate`` and ``baggage``. The values serve as HTTP headers and as
    ``_meta`` alike. One of another form is left out, and ``tracestate`` without its ``traceparent`` too (W3C
    Trace Context, 3.3; W3C Baggage, 3.3).
    """
    given = {name: meta.get(name) for name in _FORMS} if meta else {}
    known = {
        name: value
        for name, value in given.items()
        if isinstance(value, str) and _FORMS[name].fullmatch(value)
    }
    if "traceparent" not in known:
        known.pop("tracestate", None)
    return known


def log_call(tool: str, meta: Mapping[str, Any]) -> None:
    """Log, at debug, that ``tool`` is called, and within which trace."""
    if _log.isEnabledFor(logging.DEBUG):
        trace = " ".join(f"{name}={value}" for name, value in outgoing(meta).items())
        _log.debug("call of %s%s", repaired(tool), f" in {trace}" if trace else "")
