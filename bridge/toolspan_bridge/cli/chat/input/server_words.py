"""Words of servers: their names, prompts, resources, and what they propose for arguments."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from ....toolbox import Contents

__all__ = ["ServerWords"]

_KEPT_SECONDS = 30.0
_VARIABLE = re.compile(r"\{[+#./;?&]?(\w++)[^{}]*\}")


class ServerWords:
    """What the servers of ``contents``, as they are at the time, list and propose for ``/server:prompt ARG…``
    and ``@server:uri``."""

    def __init__(self, contents: Callable[[], Contents]) -> None:
        self._now = contents
        self._kept: dict[tuple[str, str], tuple[float, Any]] = {}

    @property
    def _contents(self) -> Contents:
        return self._now()

    async def prompts(self, typed: str) -> Iterable[str]:
        """``/server:`` of all, or ``/server:prompt`` of the one that is ``typed``."""
        server, colon, _ = typed.partition(":")
        if not colon:
            return [f"/{name}:" for name in self._contents.servers]
        if server not in self._contents.servers:
            return ()
        prompts = await self._list("prompts", server, self._contents.prompts)
        return [f"/{server}:{prompt.name}" for prompt in prompts]

    async def arguments(self, text: str, word: str) -> Iterable[str]:
        """What may stand for ``word``, an argument of the prompt that ``text`` names."""
        head, *before = text[1:].split(" ")
        server, _, name = head.partition(":")
        if server not in self._contents.servers:
            return ()
        prompts = await self._list("prompts", server, self._contents.prompts)
        arguments: list[str] = next(
            (list(each.arguments) for each in prompts if each.name == name), list[str]()
        )
        if len(before) > len(arguments):
            return ()
        reference = {"type": "ref/prompt", "name": name}
        return await self._contents.complete(server, reference, arguments[len(before) - 1], word)

    async def resources(self, typed: str) -> Iterable[str]:
        """``@server:`` of all, or ``@server:uri`` of the one that is ``typed``."""
        server, colon, uri = typed.partition(":")
        if not colon:
            return [f"@{name}:" for name in self._contents.servers]
        if server not in self._contents.servers:
            return ()
        found = list(await self._list("resources", server, self._contents.resources))
        for template in await self._list("templates", server, self._contents.templates):
            found += await self._of_template(server, template, uri)
        return [f"@{server}:{each}" for each in found]

    async def _of_template(self, server: str, template: str, uri: str) -> list[str]:
        """What stands for the first variable of ``template``, once ``uri`` has come to it."""
        variable = _VARIABLE.search(template)
        if variable is None:
            return [template]
        before, after = template[: variable.start()], template[variable.end() :]
        if not uri.startswith(before):
            return [before]
        reference = {"type": "ref/resource", "uri": template}
        values = await self._contents.complete(server, reference, variable[1], uri[len(before) :])
        rest = "" if _VARIABLE.search(after) else after
        return [f"{before}{value}{rest}" for value in values]

    async def _list(self, what: str, server: str, fetch: Callable[[str], Awaitable[Any]]) -> Any:
        """What ``fetch`` gives, kept for a while."""
        kept = self._kept.get((what, server))
        if kept is None or time.monotonic() - kept[0] > _KEPT_SECONDS:
            kept = self._kept[what, server] = (time.monotonic(), await fetch(server))
        return kept[1]
