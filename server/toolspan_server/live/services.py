"""Runs services for as long as the server runs, whatever one of them raises."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, cast

from ..common.supervision import Work, keep_running, run_contained
from ..parts.service import Service

if TYPE_CHECKING:
    import anyio


class Start(Protocol):
    """Runs ``work`` in the background; returns a function that ends it. Work that fails is started again;
    what is to be done ``once`` is not."""

    def __call__(self, work: Work, *, once: bool = False) -> Callable[[], None]: ...


@asynccontextmanager
async def running_services(services: Mapping[str, Service]) -> AsyncGenerator[Start]:
    """Run every service beside the body, which does not wait for them to be ready, and whatever it starts.

    An error of the body comes out as it is. A service that fails is started again (see ``supervision``).
    """
    import anyio

    failure: Exception | None = None
    async with anyio.create_task_group() as group:

        def start(work: Work, *, once: bool = False) -> Callable[[], None]:
            scope = anyio.CancelScope()
            name, supervise = _name_of(work), run_contained if once else keep_running
            group.start_soon(_in, scope, partial(supervise, name, work))
            return scope.cancel

        for service in services.values():
            start(service.run)
        try:
            yield start
        except Exception as error:
            failure = error
        finally:
            group.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _in(scope: anyio.CancelScope, work: Work) -> None:
    with scope:
        await work()


def _name_of(work: Work) -> str:
    """``Upstream.run``, say."""
    inner: Any = cast("partial[object]", work).func if isinstance(work, partial) else work
    return str(getattr(inner, "__qualname__", type(inner).__name__))
