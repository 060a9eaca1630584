"""Toolspan's server: tools from a config file, served over MCP.

For handlers: ``handler``, ``Context``, ``Content``, ``ToolFailure``. For programs that embed the server:
``load_config`` gives a ``Config``, ``running`` a ``Runtime`` whose ``execute`` runs its tools for an
``Origin``, which is ``LOCAL`` for the user of this machine.
What is named here is imported when it is first asked for.
"""

import os
import sys

if sys.argv[:1] == ["-m"] and any(word.startswith((__name__, f"-m{__name__}")) for word in sys.orig_argv):
    # ``python -m`` without -P looks into the working folder first: a file there would stand for any module,
    # also one of the standard library, so it is taken off before anything else is imported
    try:  # noqa: SIM105 (contextlib would be looked for there)
        sys.path[:1] = [each for each in sys.path[:1] if sys.flags.safe_path or each != os.getcwd()]  # noqa: PTH109
    except OSError:
        pass  # there is no such folder any more, nor is it on the path

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .calls.caller import LOCAL, Origin
    from .calls.client import Client, InputRequired, Question
    from .calls.content import Content
    from .calls.context import Context
    from .calls.results import ToolResult
    from .calls.storage import ToolStorage
    from .common.changes import Change
    from .config import Config, load_config
    from .engines.registration import Handler, handler
    from .engines.storage import FileStore
    from .errors import (
        ConfigError,
        HandlerNotFound,
        InvalidParameters,
        RequestRefused,
        ServeError,
        ToolFailure,
        ToolspanError,
        ToolTimeout,
    )
    from .live.runtime import Runtime, running
    from .problems import Problem
    from .tools.executor import Executor
    from .tools.registry import Registry, Tool

__all__ = [
    "LOCAL",
    "Change",
    "Client",
    "Config",
    "ConfigError",
    "Content",
    "Context",
    "Executor",
    "FileStore",
    "Handler",
    "HandlerNotFound",
    "InputRequired",
    "InvalidParameters",
    "Origin",
    "Problem",
    "Question",
    "Registry",
    "RequestRefused",
    "Runtime",
    "ServeError",
    "Tool",
    "ToolFailure",
    "ToolResult",
    "ToolStorage",
    "ToolTimeout",
    "ToolspanError",
    "handler",
    "load_config",
    "running",
]

_MODULES = {
    "LOCAL": ".calls.caller",
    "Change": ".common.changes",
    "Client": ".calls.client",
    "Config": ".config",
    "ConfigError": ".errors",
    "Content": ".calls.content",
    "Context": ".calls.context",
    "Executor": ".tools.executor",
    "FileStore": ".engines.storage",
    "Handler": ".engines.registration",
    "HandlerNotFound": ".errors",
    "InputRequired": ".calls.client",
    "InvalidParameters": ".errors",
    "Origin": ".calls.caller",
    "Problem": ".problems",
    "Question": ".calls.client",
    "Registry": ".tools.registry",
    "RequestRefused": ".errors",
    "Runtime": ".live.runtime",
    "ServeError": ".errors",
    "Tool": ".tools.registry",
    "ToolFailure": ".errors",
    "ToolResult": ".calls.results",
    "ToolStorage": ".calls.storage",
    "ToolTimeout": ".errors",
    "ToolspanError": ".errors",
    "handler": ".engines.registration",
    "load_config": ".config",
    "running": ".live.runtime",
}

if not TYPE_CHECKING:
    from .common.lazy_exports import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__, _MODULES)
