"""The outcome of a call or a question, encoded as JSON values by one process and decoded by the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...calls.client import InputRequired, Question
from ...calls.content import ABSENT, Content
from ...common.exceptions import innermost, message_of, traceback_of
from ...common.json_values import JsonSanitizer, NotJson, dotted
from ...errors import RequestRefused, ToolFailure

_FIX = "Report it to the maintainer of the tool: it must return JSON values."


class HandlerRaised(Exception):
    """A handler raised in its worker. Its traceback there is this one's note."""


class OutOfMemory(Exception):
    """A handler had not enough memory."""


def encoded_result(result: Any, result_bytes: int) -> dict[str, Any]:
    """A handler's result; more than the server ever sends of it is left out. Raises ``ToolFailure``."""
    values, size = max(200_000, result_bytes), max(32 << 20, 2 * result_bytes)
    sanitizer = JsonSanitizer(values, size, partial=True)
    what = "content" if isinstance(result, Content) else "a result"
    try:
        if not isinstance(result, Content):
            return {"result": sanitizer.copy(result)}
        encoded: dict[str, Any] = {
            "blocks": [sanitizer.copy(dict(block)) for block in result.blocks],
            "meta": sanitizer.copy(dict(result.meta)),
        }
        if result.structured is not ABSENT:
            encoded["structured"] = sanitizer.copy(result.structured)
        return {"content": encoded}
    except NotJson as fault:
        field = f" in '{dotted(fault.path)}'" if fault.path else ""
        raise ToolFailure(f"The tool gave {what}{field} that {fault.what}", user_action=_FIX) from None


def decoded_result(encoded: Mapping[str, Any]) -> Any:
    """The result that ``encoded`` holds. Raises the exception that it holds instead of one."""
    if "result" in encoded:
        return encoded["result"]
    if "content" in encoded:
        content = encoded["content"]
        return Content(tuple(content["blocks"]), content.get("structured", ABSENT), content["meta"])
    raise decoded_error(encoded)


def encoded_error(error: BaseException) -> dict[str, Any]:
    """What was raised. Of a group with one member, that one."""
    cause = innermost(error)
    match cause:
        case ToolFailure():
            return {"failure": _encoded_failure(cause)}
        case InputRequired():
            questions = {key: [each.ability, dict(each.params)] for key, each in cause.questions.items()}
            return {"questions": _plain(questions)}
        case RequestRefused():
            return {"refused": [cause.code, cause.message, _plain(cause.data)]}
        case SystemExit():
            return {"exit": _plain(cause.code)}
        case MemoryError():
            return {"out_of_memory": True}
        case _:
            return {"raised": message_of(cause), "trace": traceback_of(error)[-100_000:]}


def decoded_error(encoded: Mapping[str, Any]) -> BaseException:
    """The exception that ``encoded`` holds."""
    for name, make in _ERRORS.items():
        if name in encoded:
            return make(encoded[name])
    error = HandlerRaised(str(encoded.get("raised", "The worker answered nothing that is known")))
    error.add_note(str(encoded.get("trace", "")))
    return error


def _failure(encoded: Mapping[str, Any]) -> ToolFailure:
    content = encoded["content"]
    return ToolFailure(
        encoded["error"],
        error_code=encoded["error_code"],
        user_action=encoded["user_action"],
        content=None if content is None else tuple(content),
    )


_ERRORS: Mapping[str, Callable[[Any], BaseException]] = {
    "failure": _failure,
    "questions": lambda encoded: InputRequired({key: Question(*each) for key, each in encoded.items()}),
    "refused": lambda encoded: RequestRefused(*encoded),
    "exit": SystemExit,
    "out_of_memory": lambda _: OutOfMemory(),
}


def _encoded_failure(failure: ToolFailure) -> dict[str, Any]:
    encoded = {"error": failure.error, "error_code": failure.error_code, "user_action": failure.user_action}
    plain = {key: str(value) for key, value in encoded.items()}
    content = None if failure.content is None else [dict(block) for block in failure.content]
    return {**plain, "content": _plain(content)}


def _plain(value: Any) -> Any:
    """``value`` as JSON; what cannot be is left out."""
    try:
        return JsonSanitizer(100_000, 16 << 20).copy(value)
    except ValueError:
        return None
