"""What the server does for a handler in a worker: it is its client, calls tools, and stores what it keeps."""

from __future__ import annotations

import asyncio
from typing import Any, get_args

import anyio.to_thread

from ...calls.client import Capability, Question
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
        case "read", []:
            storage = context.storage
            return list(await anyio.to_thread.run_sync(storage.store.read, storage.place))
        case "replace", [version, data]:
            storage = context.storage
            return await anyio.to_thread.run_sync(storage.store.replace, storage.place, version, data)
        case _:
            raise ValueError(f"a worker asked for {what!r}")


def abilities(context: Context) -> list[str]:
    """What the client of a call can be asked."""
    return [each for each in get_args(Capability) if context.client.accepts(each)]


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
