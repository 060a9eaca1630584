"""Ollama's error answers."""

from __future__ import annotations

from collections.abc import Mapping

from ..shared.contract import WireError
from ..shared.json_values import at, text
from ..shared.replies.errors import error_body, wire_error


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> WireError:
    """``{"error": "text"}``, with an address to sign in at where a cloud model needs it."""
    answer = error_body(body)
    said = (text(answer.get("error")), text(at(answer, "error", "message")), text(answer.get("message")))
    message = ": ".join(dict.fromkeys(filter(None, said)))
    sign_in = text(answer.get("signin_url"))
    if sign_in:
        message = f"{message} (sign in at {sign_in})"
    kinds = {
        400: "bad_request",
        401: "unauthorized",
        404: "not_found",
        429: "rate_limited",
        503: "overloaded",
    }
    return wire_error(status, headers, body, kind=kinds.get(status, ""), message=message)
