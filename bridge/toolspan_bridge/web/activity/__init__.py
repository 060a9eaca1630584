"""What was done: requests of the gateway, runs of conversations and tool calls, in a bounded file.

``Activity`` is provided by the app (``App.of``): ``watched`` records a run as its events pass, ``record`` any
other entry. Texts of questions and answers are not kept unless the config says so, secrets and keys never.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .activity import Activity, Began
    from .entry import About, Entry
    from .log import ACTIVITY_FILE, ActivityLog
    from .recording import Recording

__all__ = ["ACTIVITY_FILE", "About", "Activity", "ActivityLog", "Began", "Entry", "Recording"]

_MODULES = {
    "ACTIVITY_FILE": ".log",
    "About": ".entry",
    "Activity": ".activity",
    "ActivityLog": ".log",
    "Began": ".activity",
    "Entry": ".entry",
    "Recording": ".recording",
}

if not TYPE_CHECKING:
    from toolspan_server.common.lazy_exports import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__, _MODULES)
