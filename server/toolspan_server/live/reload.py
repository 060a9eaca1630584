"""Reloads a config that changes while it is served: read again, validated, and applied if valid.

The files are looked at twice a second, which needs no thread of its own, sees files that are replaced,
and links that are pointed elsewhere, and works without change notifications (network file systems).
"""

from __future__ import annotations

import logging

import anyio
import anyio.to_thread

from ..config import Config, LimitsConfig
from ..errors import ConfigError, ServeError
from .config_files import ConfigFiles, Marks
from .runtime import Runtime

_log = logging.getLogger(__name__)
LOOK_EVERY_S = 0.5
SETTLE_S = 0.1
_MOST_LOOKS = 50
_LIVE_LIMITS = frozenset(
    {"result_bytes", "page_size", "upstream_connect_seconds", "resources", "resource_bytes"}
)
"""The limits that a server takes from a changed config; what carries messages keeps to its first ones."""


async def reloading(runtime: Runtime, files: ConfigFiles) -> None:
    """Let ``runtime`` serve the content of ``files``, whenever that changes, until cancelled.

    An invalid config is logged and reported to ``runtime``, which keeps serving the one before.
    """
    limiter = anyio.CapacityLimiter(1)
    first = runtime.config
    while True:
        await anyio.sleep(LOOK_EVERY_S)
        if await anyio.to_thread.run_sync(files.changed, limiter=limiter):
            await _settled(files, limiter)
            before = runtime.config
            if await _reload(runtime, files, limiter):
                _log_changes(runtime, first, before)


async def _settled(files: ConfigFiles, limiter: anyio.CapacityLimiter) -> None:
    """Wait until nobody writes any more, as far as that shows: a file may be written bit by bit."""
    before: Marks | None = None
    for _ in range(_MOST_LOOKS):
        now = await anyio.to_thread.run_sync(files.contents, limiter=limiter)
        if now == before:
            return
        before = now
        await anyio.sleep(SETTLE_S)


async def _reload(runtime: Runtime, files: ConfigFiles, limiter: anyio.CapacityLimiter) -> bool:
    try:
        config = await anyio.to_thread.run_sync(files.load, limiter=limiter)
        await runtime.replace(config)
    except (ConfigError, ServeError) as error:
        problems = [str(each) for each in getattr(error, "problems", ())] or [str(error)]
        runtime.refuse(problems)
        _log.error("the changed config is not served, the one before goes on:\n%s", "\n".join(problems))
    except Exception as error:
        runtime.refuse([f"it could not be started: {type(error).__name__}: {error}"])
        _log.exception("the changed config could not be started, the one before goes on")
    else:
        return True
    return False


def _log_changes(runtime: Runtime, first: Config, before: Config) -> None:
    """Log that another config is served than ``before``, and which keys take effect only after a restart."""
    _log.info("the changed config is served: %d tools", len(runtime.registry))
    known = _fixed(before)
    for name, value in _fixed(runtime.config).items():
        if value not in (known[name], _fixed(first)[name]):
            _log.warning("%s takes effect only when the server is started again", name)


def _fixed(config: Config) -> dict[str, object]:
    """The settings that cannot change while the server runs."""
    limits = (name for name in LimitsConfig.model_fields if name not in _LIVE_LIMITS)
    return {
        "name": config.name,
        "serving.reload": config.serving.reload,
        **{f"limits.{name}": getattr(config.limits, name) for name in limits},
    }
