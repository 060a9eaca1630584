"""The worker's side: one call after another, and what they say to the server meanwhile."""

from __future__ import annotations

import asyncio
import inspect
import os
import queue
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ...calls.caller import Origin
from ...calls.child_tasks import with_children_ended
from ...calls.context import Context
from ...common.flags import Flag
from ...common.modules.text import MOST_OF_MODULE
from ...common.regular_files import read_regular
from ...errors import HandlerNotFound, ToolFailure
from ..registration import find_handler, handler_traits, load_handler_source
from ._framing import Frames, Message, framed
from ._remote_client import NoServices, RemoteClient, RemoteStore, encoded_change
from ._resource_limits import end_group, spend
from ._result_encoding import decoded_error, encoded_error, encoded_result

_CHUNK = 1 << 16


class Serving:
    """Makes the calls that come. A thread of its own reads, so that a call can be cancelled."""

    def __init__(
        self, frames: Frames, incoming: BinaryIO, outgoing: BinaryIO, cpu_seconds: int, result_bytes: int
    ) -> None:
        self._frames = frames
        self._incoming = incoming
        self._outgoing = outgoing
        self._cpu_seconds = cpu_seconds
        self._result_bytes = result_bytes
        self._calls: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._writing = threading.Lock()
        self._current: _Current | None = None
        self._asked = 0
        self._open: dict[int, Callable[[Message], object]] = {}

    def run(self) -> None:
        """Serve until the server is gone, which ends the process."""
        threading.Thread(target=self._read, name="toolspan calls", daemon=True).start()
        with asyncio.Runner() as runner:
            while True:
                message = self._calls.get()
                self._current = current = _Current()
                reply = self._made(message, current, runner)
                self._current = None
                self.send({"done": reply, "memory": current.memory})
                if "out_of_memory" in reply:
                    os._exit(0)

    def send(self, message: Message) -> None:
        """Send ``message`` to the server."""
        data = framed(message)
        with self._writing:
            while data:
                data = data[self._outgoing.write(data) :]

    async def ask(self, what: str, *values: Any) -> Any:
        """What the server gives for ``what``. Raises what it raised."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Message] = loop.create_future()

        def deliver(message: Message) -> None:
            loop.call_soon_threadsafe(_settle, answer, message)

        with self._asked_for(what, values, deliver):
            return _given(await answer)

    def ask_blocking(self, what: str, *values: Any) -> Any:
        """The same, for a handler that waits in its thread."""
        answers: queue.SimpleQueue[Message] = queue.SimpleQueue()
        with self._asked_for(what, values, answers.put):
            return _given(answers.get())

    @contextmanager
    def _asked_for(
        self, what: str, values: Sequence[Any], deliver: Callable[[Message], object]
    ) -> Generator[None]:
        """Ask the server; ``deliver`` is called with the answer, by another thread, unless the block ends
        before."""
        with self._writing:
            self._asked += 1
            number = self._asked
        self._open[number] = deliver
        try:
            self.send({"ask": what, "number": number, "values": values})
            yield
        finally:
            del self._open[number]

    def _made(self, message: Message, current: _Current, runner: asyncio.Runner) -> Message:
        try:
            spend(self._cpu_seconds)
            handler = _handler(message)
            context = self._context(message, current)
            arguments = message["arguments"]
            if inspect.iscoroutinefunction(handler):
                work = with_children_ended(handler(arguments, context), message["name"])
                result = runner.run(current.run(work))
            else:
                result = handler(arguments, context)
                if inspect.isawaitable(result):
                    work = with_children_ended(_awaited(result), message["name"])
                    result = runner.run(current.run(work))
            return encoded_result(result, self._result_bytes)
        except BaseException as error:
            return encoded_error(error)

    def _context(self, message: Message, current: _Current) -> Context:
        client = RemoteClient(self.ask, message["accepts"], message["memory"])
        current.memory = client.memory
        options = message["options"]
        model = handler_traits(message["kind"], message["name"]).options

        def publish(change: Any) -> None:
            self.send({"publish": encoded_change(change)})

        return Context(
            Origin(message["principal"]),
            tool_name=message["tool_name"],
            services=NoServices(),
            config_dir=Path(message["config_dir"]),
            meta=message["meta"],
            cancelled=current.cancelled,
            client=client,
            depth=message["depth"],
            call_tool=client.call_tool,
            options=None if model is None else model.model_validate(options or {}),
            publish=publish,
            store=RemoteStore(self.ask_blocking),
        )

    def _read(self) -> None:
        while True:
            while (message := self._frames.next()) is not None:
                self._take(message)
            data = self._incoming.read(_CHUNK)
            if not data:
                end_group()
            self._frames.feed(data)

    def _take(self, message: Message) -> None:
        current = self._current
        if "handler" in message:
            self._calls.put(message["handler"])
        elif "number" in message:
            deliver = self._open.get(message["number"])
            if deliver is not None:
                deliver(message)
        elif current is not None:
            current.cancel()


class _Current:
    """The call that is made now."""

    def __init__(self) -> None:
        self.cancelled = Flag()
        self.memory: Any = {}
        self._task: asyncio.Task[Any] | None = None

    async def run(self, work: Any) -> Any:
        self._task = asyncio.current_task()
        try:
            return await work
        finally:
            self._task = None

    def cancel(self) -> None:
        """Nobody waits for it any more. Called by another thread."""
        self.cancelled.set()
        task = self._task
        if task is not None:
            task.get_loop().call_soon_threadsafe(task.cancel)


def _handler(message: Message) -> Any:
    """The function. Raises ``ToolFailure`` when it cannot be had here."""
    source = message["source"]
    try:
        if source is not None:
            load_handler_source(source, Path(), _pinned(source, message["pin"]))
        found = find_handler(message["kind"], message["name"])
    except Exception as error:
        raise ToolFailure(
            f"The handler {message['name']!r} cannot be loaded in a worker process: "
            f"{type(error).__name__}: {error}",
            user_action="Correct its module, or set implementation.isolation: thread for the tool.",
        ) from error
    if found is None:
        raise HandlerNotFound(message["kind"], message["name"])
    return found


def _given(reply: Message) -> Any:
    if "answer" in reply:
        return reply["answer"]
    raise decoded_error(reply["error"])


def _pinned(source: str, pin: str | None) -> bytes | None:
    """The content of the file ``source``, which has the hash ``pin``. Raises ``ImportError`` for another."""
    if pin is None:
        return None
    from hashlib import sha256

    text = read_regular(source, MOST_OF_MODULE)
    if sha256(text).hexdigest() != pin:
        raise ImportError(f"{source} is not as it was allowed (start again, which shows what it is now)")
    return text


async def _awaited(work: Any) -> Any:
    return await work


def _settle(answer: asyncio.Future[Message], message: Message) -> None:
    if not answer.done():
        answer.set_result(message)
