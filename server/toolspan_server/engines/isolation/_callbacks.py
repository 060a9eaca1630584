"""What the server does for a handler that runs in a worker: it is the handler's client, and calls tools."""

from __future__ import annotations

import asyncio
from typing import Any, get_args

from ...calls.client import Ability, Question
from ...calls.context import Context
from ...common.changes import Change
from ._framing import Message
from ._result_encoding import encoded_error


async def answered(message: Message, context: Context) -> Message | None:
    """The answer to a worker's ``message`` during the call of ``context``; ``None`` for a notification."""
    if "publish" in message:
        context.publish(Change(*message["publish"]))
        return None
    number = message.get("number")
    try:
        return {"number": number, "answer": await _done(message["ask"], message["values"], context)}
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return {"number": number, "error": encoded_error(error)}


async def _done(what: str, values: list[Any], context: Context) -> Any:
    client = context.client
    match what, values:
        case "questions", [questions]:
            answers = await client.ask({key: Question(*each) for key, each in questions.items()})
            return {key: dict(each) for key, each in answers.items()}
        case "progress", [progress, total, message]:
            return await client.progress(progress, total, message)
        case "log", [level, data, logger]:
            return await client.log(level, data, logger)
        case "release", []:
            return await client.release()
        case "tool", [name, arguments]:
            return _encoded_result(await context.call(name, arguments))
        case _:
            raise ValueError(f"a worker asked for {what!r}")


def abilities(context: Context) -> list[str]:
    """What the client of a call can be asked."""
    return [ability for ability in get_args(Ability) if context.client.accepts(ability)]


def _encoded_result(result: Any) -> dict[str, Any]:
    names = (
        "success",
        "tool_name",
        "execution_time_ms",
        "result",
        "error",
        "error_code",
        "user_action",
        "has_value",
        "meta",
    )
    fields = {name: getattr(result, name) for name in names}
    blocks = result.content
    return {**fields, "content": None if blocks is None else [dict(block) for block in blocks]}
