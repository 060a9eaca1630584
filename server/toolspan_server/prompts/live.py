"""The live prompts of a config."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from ..calls.caller import Origin
from ..calls.client import Client
from ..calls.context import Context
from ..common.did_you_mean import nearest
from ..common.json_values import JsonSanitizer
from ..errors import RequestRefused, ToolFailure
from ..resources._metadata import described
from ..resources.completions import offered, values_of
from ..resources.errors import ResourceNotFound, ResourceUnreadable
from ._messages import Filling, Message, ReadResource

if TYPE_CHECKING:
    from ..config import Config
    from ..config.models.prompts import PromptConfig

_INVALID_PARAMS, _INTERNAL_ERROR = -32602, -32603


class Prompts:
    """The prompts by name. ``read`` reads the resources that they embed."""

    def __init__(self, config: Config, read: ReadResource) -> None:
        self._prompts = {each.name: _Prompt(each) for each in config.prompts}
        self._base = config.directory.absolute()
        self._limit = config.limits.resource_bytes
        self._redact = config.redact if config.has_secrets else None
        self._read = read

    @property
    def completable(self) -> bool:
        """Whether any prompt has arguments."""
        return any(prompt.config.arguments for prompt in self._prompts.values())

    @property
    def listed(self) -> list[dict[str, Any]]:
        """The prompts in MCP's form, in the config's order."""
        return [prompt.described() for prompt in self._prompts.values()]

    async def entries(self) -> list[dict[str, Any]]:
        """``listed``."""
        return self.listed

    def has(self, name: str) -> bool:
        """Whether there is a prompt ``name``."""
        return name in self._prompts

    async def get(
        self, name: str, arguments: Mapping[str, str], client: Client, origin: Origin
    ) -> dict[str, Any]:
        """The ``description`` and ``messages`` of the prompt ``name``, for ``origin``.

        Raises ``RequestRefused``, and ``InputRequired`` from ``client``, which its steps may ask.
        """
        prompt = self._found(name)
        prompt.check(arguments)
        try:
            messages = await prompt.filled(arguments, client, origin, self._filling)
        except ResourceNotFound as missing:
            message = f"Prompt {name!r} embeds a resource that is not there"
            raise RequestRefused(_INTERNAL_ERROR, message, {"uri": missing.uri}) from None
        except ResourceUnreadable as fault:
            raise RequestRefused(_INTERNAL_ERROR, f"Prompt {name!r}: {fault}", {"uri": fault.uri}) from None
        except ToolFailure as failure:
            raise RequestRefused(_INTERNAL_ERROR, f"Prompt {name!r}: {failure.error}") from None
        return self._sent(name, described(prompt.config, messages=messages))

    async def complete(
        self, name: str, argument: str, typed: str, given: Mapping[str, str], _origin: Origin
    ) -> dict[str, Any]:
        """Completions for ``argument`` of the prompt ``name``; see ``completions.offered``.

        Raises ``RequestRefused`` for an unknown prompt or argument, ``CompletionUnavailable`` when values are
        not available.
        """
        arguments = {each.name: each for each in self._found(name).config.arguments}
        if argument not in arguments:
            message = (
                f"Prompt {name!r} has no argument {argument[:100]!r} ({nearest(argument, list(arguments))})"
            )
            raise RequestRefused(_INVALID_PARAMS, message)
        config = arguments[argument]
        values = partial(values_of, config, given, self._base, self._limit)
        return offered(
            values() if config.values_from is None else await anyio.to_thread.run_sync(values), typed
        )

    def _found(self, name: str) -> _Prompt:
        try:
            return self._prompts[name]
        except KeyError:
            raise RequestRefused(_INVALID_PARAMS, f"Prompt {name[:200]!r} not found") from None

    def _filling(self, values: Mapping[str, Any], optional: frozenset[str]) -> Filling:
        return Filling(values, optional, self._read, self._base, self._limit)

    def _sent(self, name: str, result: dict[str, Any]) -> dict[str, Any]:
        """``description`` and ``messages`` as plain JSON without secrets, within the limit."""
        known = {member: result[member] for member in ("description", "messages") if member in result}
        plain: dict[str, Any] = JsonSanitizer(1_000_000, 1 << 30, on_text=self._redact).copy(known)
        size = len(json.dumps(plain, ensure_ascii=False).encode())
        if size > self._limit:
            message = (
                f"Prompt {name!r} has {size:,} bytes, more than {self._limit:,}, the limit of resource_bytes"
            )
            raise RequestRefused(_INTERNAL_ERROR, message)
        return plain


class _Prompt:
    def __init__(self, config: PromptConfig) -> None:
        self.config = config
        self._messages = [Message(message) for message in config.messages]
        self._names = [argument.name for argument in config.arguments]
        self._needed = frozenset(argument.name for argument in config.arguments if argument.required)
        self._optional = frozenset(self._names) - self._needed

    def described(self) -> dict[str, Any]:
        """The prompt in MCP's form."""
        members = ("name", "title", "description")
        arguments = [
            {**{name: value for name in members if (value := getattr(each, name))}, "required": each.required}
            for each in self.config.arguments
        ]
        return described(self.config, name=self.config.name, arguments=arguments or None)

    def check(self, arguments: Mapping[str, str]) -> None:
        """Raise ``RequestRefused`` for missing or unknown arguments."""
        missing = [name for name in self._names if name in self._needed and name not in arguments]
        if missing:
            names = ", ".join(map(repr, missing))
            raise RequestRefused(_INVALID_PARAMS, f"Prompt {self.config.name!r} needs the arguments: {names}")
        unknown = next((name for name in arguments if name not in self._names), None)
        if unknown is not None:
            message = f"Prompt {self.config.name!r} has no argument {unknown[:100]!r}"
            raise RequestRefused(_INVALID_PARAMS, f"{message} ({nearest(unknown, self._names)})")

    async def filled(
        self,
        arguments: Mapping[str, str],
        client: Client,
        origin: Origin,
        filling: Callable[[Mapping[str, Any], frozenset[str]], Filling],
    ) -> list[dict[str, Any]]:
        """The messages, after the steps. Raises what the steps and the templates raise."""
        values = await self._step_values(arguments, client, origin) if self.config.steps else arguments
        given = filling(values, self._optional)
        return [each for message in self._messages for each in await message.filled(given)]

    async def _step_values(
        self, arguments: Mapping[str, str], client: Client, origin: Origin
    ) -> Mapping[str, Any]:
        """The values for the messages, after the steps."""
        from ..engines.mock_steps import MockCall, MockSteps

        call = MockCall(arguments, Context(origin, self.config.name, client=client), 1)
        accepted = await MockSteps(self.config.steps, stops=True).run(call)
        call.end()
        if not accepted:
            message = f"Prompt {self.config.name!r} needs an answer that was not given"
            raise RequestRefused(_INVALID_PARAMS, message)
        return call.scope
