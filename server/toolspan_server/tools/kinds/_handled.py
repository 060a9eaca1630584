"""The common part of ``builtin`` and ``internal``: a tool implemented by a named Python function."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Collection, Coroutine, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, cast

from pydantic_core import ValidationError
from typing_extensions import override

from ...calls.context import Context
from ...common.tool_hints import Hints
from ...engines.registration import (
    Handler,
    HandlerTraits,
    find_handler,
    handler_file,
    handler_problem,
    handler_traits,
    is_ours,
    is_registered,
)
from ...errors import HandlerNotFound
from ...parts.environment import Environment
from ...parts.kind import Kind, KindConfig
from ...parts.reach import Reach, handler_reach
from ...parts.reference import Reference
from ...schema.constraints import ReadAs
from ...schema.keys import CHOICE, PARTS, Inert
from ...schema.records import (
    key,
)

if TYPE_CHECKING:
    from ...engines.definitions.call_preview import CallPreview
    from ._blocking import Blocking


def _is_inert(config: HandledConfig, _folder: Path) -> bool:
    return is_ours(_kind(config), config.handler) and _traits(config).inert is not None


class HandledConfig(KindConfig):
    """The config keys of both kinds."""

    inert = Inert("the handler is one of this package that is marked as inert", _is_inert)

    handler: str = key("The name that the Python function is registered under.", least=1, inert=CHOICE)
    options: Annotated[Any, ReadAs(dict[str, Any] | None)] = key(
        "Options for the handler, fixed in the config; calls add their arguments.", default=None, inert=PARTS
    )

    isolation: Literal["process", "thread"] | None = key(
        "Where the function runs. process: in a worker process, within limits.handler_memory_bytes "
        "and limits.handler_cpu_seconds. thread: in the server's process, a plain function in a "
        "thread and an async one on the event loop. Default: process for plain functions of the "
        "config's .py files, else thread.",
        default=None,
    )
    _options_given: Any = None

    @classmethod
    @override
    def model_validate(cls, data: Any, *, context: Any = None) -> Self:
        record = super().model_validate(data, context=context)
        made = record.model_copy(update={"options": _options(record, context)})
        made._options_given = record.options
        return made

    @override
    def problems(self) -> Iterable[tuple[str, str]]:
        problem = handler_problem(_kind(self), self.handler)
        if problem is not None:
            yield "handler", problem
        if self.isolation == "process" and self.type == "internal":
            yield "isolation", _NO_SERVICES

    @override
    def misfits(self, parameters: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        find = _traits(self).misfits
        for option, message in () if find is None else find(self.options, parameters):
            yield f"options/{option}", message

    @classmethod
    @override
    def references(cls, written: Mapping[str, Any]) -> Iterable[Reference]:
        kind, name, options = cls.model_fields["type"].default, written.get("handler"), written.get("options")
        find = _traits_of(kind, name).references if isinstance(name, str) else None
        given = cast("dict[str, Any]", options) if isinstance(options, dict) else {}
        for option, service, name in () if find is None else find(given):
            yield Reference(("options", option), service, name)

    @override
    def target(self) -> str | None:
        find = _traits(self).target
        if find is not None:
            return find(self.options)
        return None if is_ours(_kind(self), self.handler) else f"handler {self.handler!r}"

    @override
    def reach(self, tags: Collection[str], environment: Environment) -> Reach:
        ours = is_ours(_kind(self), self.handler)
        return handler_reach(self.handler, self.options, tags, environment.local_databases, ours=ours)

    @override
    def hints(self) -> Hints:
        find = _traits(self).hints
        return {} if find is None else find(self.options)

    @override
    def build(self, environment: Environment) -> Kind:
        own = Handled(_kind(self), self.handler, _traits(self).talks, self.options)
        if not _is_isolated(self):
            return own
        from ._isolated import Isolated

        return Isolated(_kind(self), self.handler, own.talks, self._options_given, environment)


_NO_SERVICES = (
    "an internal handler works on the server's services, which a worker process does not have: "
    "make it a builtin one, or write isolation: thread"
)


def _is_isolated(config: HandledConfig) -> bool:
    if config.isolation is not None or config.type == "internal":
        return config.isolation == "process"
    if handler_file(_kind(config), config.handler) is None:
        return False
    return not inspect.iscoroutinefunction(find_handler(_kind(config), config.handler))


def _kind(config: HandledConfig) -> Literal["builtin", "internal"]:
    return cast("Literal['builtin', 'internal']", config.type)


def _traits(config: HandledConfig) -> HandlerTraits:
    return _traits_of(_kind(config), config.handler)


def _traits_of(kind: str, name: str) -> HandlerTraits:
    """The traits that the handler declares; none when it cannot be loaded, which ``problems`` reports."""
    try:
        return handler_traits(kind, name)
    except (Exception, SystemExit):
        return HandlerTraits()


def _options(config: HandledConfig, context: Any) -> Any:
    """The options as an instance of the handler's model; ``None`` when it takes none. Raises ``Faulty``."""
    from ...problems import Fault, Faulty
    from ...schema.faults import faults_of

    model = _traits(config).options
    if model is None:
        if config.options and is_registered(_kind(config), config.handler):
            message = f"the handler {config.handler!r} takes no options"
            raise Faulty(Fault(("options",), message, "remove them", on_key=True))
        return None
    try:
        return model.model_validate(config.options or {}, context=context)
    except ValidationError as error:
        raise Faulty(*faults_of(error, model, ("options",))) from None


@dataclass
class Handled:
    """Calls the handler ``name`` of the table ``kind``.

    An ``async`` handler runs on the event loop; tasks that it begins end with its call. Any other runs in a
    worker thread, so that it can block; when the call is cancelled or times out, that thread is no longer
    awaited, and ``Context.cancelled`` is set to let the handler know.
    """

    kind: str
    name: str
    talks: bool = False
    options: Any = None

    @cached_property
    def _handler(self) -> Handler:
        found = find_handler(self.kind, self.name)
        if found is None:
            raise HandlerNotFound(self.kind, self.name)
        return found

    @cached_property
    def _is_async(self) -> bool:
        return inspect.iscoroutinefunction(self._handler)

    @cached_property
    def _is_ours(self) -> bool:
        return is_ours(self.kind, self.name)

    @cached_property
    def _blocking(self) -> Blocking:
        from ._blocking import Blocking

        return Blocking(self.name, self._is_ours)

    async def call(self, arguments: Mapping[str, Any], context: Context) -> Any:
        """The handler's return value for ``arguments``."""
        handler = self._handler
        if self.options is not None:
            context = replace(context, options=self.options)
        if self._is_async:
            return await self._alone(handler(dict(arguments), context))
        result = await self._blocking.run(partial(handler, dict(arguments), context))
        if not inspect.isawaitable(result):
            return result
        return await self._alone(_awaited(result))

    async def _alone(self, work: Coroutine[Any, Any, Any]) -> Any:
        """What comes of ``work``, after which none of its tasks runs on; our own handlers leave none."""
        if self._is_ours:
            return await work
        from ...calls.child_tasks import with_children_ended

        return await with_children_ended(work, self.name)

    @property
    def has_preview(self) -> bool:
        """Whether the handler itself says what a person is shown of a call."""
        return handler_traits(self.kind, self.name).preview is not None

    async def preview(self, arguments: Mapping[str, Any], context: Context) -> CallPreview:
        """What the handler shows of a call with ``arguments``."""
        function = handler_traits(self.kind, self.name).preview
        assert function is not None
        if self.options is not None:
            context = replace(context, options=self.options)
        if inspect.iscoroutinefunction(function):
            made: Any = function(dict(arguments), context)
            return cast("CallPreview", await made)
        shown: Any = await self._blocking.run(partial(function, dict(arguments), context))
        return cast("CallPreview", shown)


async def _awaited(work: Awaitable[Any]) -> Any:
    return await work
