"""Shell commands: confined to a folder, held to limits, ended with everything that came of them.

A supervisor (``engines.supervisor``) runs each command in a process of its own. Linux confines it by
bubblewrap, macOS by ``sandbox-exec``; where neither works, nothing does but its limits and its environment.
"""

from __future__ import annotations

from ._background import BackgroundShells, Shell
from ._command import Command, Ending
from ._limits import CommandLimits
from ._output import Output
from ._runner import CommandRunner, Mode, SandboxSettings
from ._watch import finish_killed

__all__ = [
    "BackgroundShells",
    "Command",
    "CommandLimits",
    "CommandRunner",
    "Ending",
    "Mode",
    "Output",
    "SandboxSettings",
    "Shell",
    "finish_killed",
]
