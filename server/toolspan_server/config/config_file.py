"""One config file while it is loaded: its data, its faults, its tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, cast

from pydantic_core import ValidationError

from ..common.modules.text import MOST_OF_MODULE
from ..common.regular_files import read_regular
from ..common.secrets.redaction import Renamed
from ..engines.registration import declared, load_handler_source, may_read, read_handler_source
from ..problems import Fault, Problem, cut
from ..problems import Path as Place
from ..schema.faults import faults_of
from ..schema.interpolation import Interpolated, interpolate
from ..schema.positions import Document, read_document
from .models.config import Config
from .models.original import Original
from .models.tool import ToolConfig
from .raw_data import entries, inside
from .secret_values import secret_values
from .served_text import is_served

_REGISTRY = ("tools", "registry")
_VALUE = "the value "
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)")
_LONGEST_MESSAGE = 2_000
MOST_REPORTED = 100
"""The most problems of a config that are reported."""

_MOST_FOUND = 2 * MOST_REPORTED

SERVER_KEYS = ("mcpServers", "mcp_servers", "servers")


@dataclass
class ConfigFile:
    """One file. ``config`` is without the tools, which are in ``tools`` by their index in the file.

    When more faults are found than are reported, the search stops, unless it is ``exhaustive``: then
    every faulty tool is still found.
    """

    path: Path
    document: Document
    interpolated: Interpolated
    exhaustive: bool = False
    handlers: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    hooks: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    faults: list[Fault] = field(default_factory=list[Fault])
    faulty_tools: set[int] = field(default_factory=set[int])
    config: Config | None = None
    tools: dict[int, ToolConfig] = field(default_factory=dict[int, ToolConfig])
    converted: set[Place] = field(default_factory=set[Place])
    _unread: set[Place] = field(default_factory=set[Place])

    @property
    def data(self) -> Any:
        return self.document.data

    @property
    def original(self) -> Original:
        """What it was read from."""
        return Original(self.path, self.document.text, self.handlers, self.hooks)

    def add(self, faults: Iterable[Fault], *, unread: bool = False) -> None:
        """Add ``faults``, except those of values that could not be read.

        With ``unread`` they mean that values could not be read: later faults of those values are dropped.
        """
        for fault in faults:
            if self.is_full:
                break
            if any(fault.path[:end] in self._unread for end in range(len(fault.path) + 1)):
                continue
            if (index := tool_index(fault.path)) is not None:
                self.faulty_tools.add(index)
            if index is None or not self._has_enough:
                self.faults.append(fault)
        if unread:
            self._unread.update(fault.path for fault in self.faults)

    def add_tool(self, index: int, error: ValidationError, place: Place) -> None:
        """Record that the tool at ``index`` is faulty; while faults are reported, add those of ``error``."""
        self.faulty_tools.add(index)
        if not self._has_enough:
            self.add(faults_of(error, ToolConfig, place))

    @property
    def is_full(self) -> bool:
        """Whether enough faults were found, so that the search stops."""
        return self._has_enough and not self.exhaustive

    @property
    def _has_enough(self) -> bool:
        return len(self.faults) >= _MOST_FOUND

    def problems(self, renamed: Renamed, *, of_tools: bool) -> tuple[list[Problem], int]:
        """The first problems of single tools, or of the rest, in file order, and the number of the others.

        ``renamed`` returns texts without variables' values.
        """
        found = [fault for fault in self.faults if (tool_index(fault.path) is not None) == of_tools]
        first = sorted(found, key=self.document.offset)[:MOST_REPORTED]
        written = self._written({fault.path for fault in first})
        reported = [self._problem(fault, renamed, written.get(fault.path, ())) for fault in first]
        return reported, len(found) - len(first)

    def _written(self, places: set[Place]) -> Mapping[Place, list[tuple[str, str]]]:
        """The changes of interpolation at or inside each of ``places``."""
        found: dict[Place, list[tuple[str, str]]] = {}
        for path, pair in self.interpolated.written.items():
            for end in range(len(path) + 1):
                if path[:end] in places:
                    found.setdefault(path[:end], []).append(pair)
        return found

    def _problem(self, fault: Fault, renamed: Renamed, written: Iterable[tuple[str, str]]) -> Problem:
        """``fault`` with its position; interpolated text is shown as in the file."""
        texts = [_naming_variables(fault.message, written), fault.hint]
        for old, new in written:
            texts = [text.replace(repr(new), repr(old)) for text in texts]
        message, hint = (cut(" ".join(renamed(text).split()), _LONGEST_MESSAGE) for text in texts)
        return self.document.problem(replace(fault, message=message, hint=hint))

    def secrets(self) -> Iterator[str]:
        """The values from variables that must not be shown."""
        for use in self.interpolated.used:
            if use.path not in self.converted and not is_served(self.data, use.path):
                yield use.value
        if self.config is not None:
            yield from secret_values(self.config, skip=("tools",))
        for tool in self.tools.values():
            yield from tool.implementation.secrets()
        for offering in self.config.tools.sources if self.config is not None else ():
            yield from offering.secrets()


def _naming_variables(message: str, written: Iterable[tuple[str, str]]) -> str:
    """``message`` about "the value", which it does not repeat, with the variables that it is made of."""
    names = dict.fromkeys(name for old, _ in written for name in _VARIABLE.findall(old))
    if not names or not message.startswith(_VALUE):
        return message
    return f"{_VALUE}of {' and '.join(f'${{{name}}}' for name in names)} {message.removeprefix(_VALUE)}"


def opened(
    path: Path, shown: str, environ: Mapping[str, str], *, exhaustive: bool, text: bytes | None = None
) -> ConfigFile:
    """Read, parse and interpolate one file, or ``text`` in its place. Raises ``ConfigError`` when it cannot
    be read at all."""
    document = read_document(path, shown, text)
    served = partial(is_served, document.data)
    interpolated = interpolate(document.data, environ, served)
    folder = path.absolute().parent
    handlers = _texts(entries(inside(document.data, "handlers")), folder)
    hooks = _texts(_hook_sources(document.data), folder)
    source = ConfigFile(path.absolute(), document, interpolated, exhaustive, handlers, hooks)
    source.add(document.faults, unread=True)
    source.add(source.interpolated.faults, unread=True)
    return source


def validate(source: ConfigFile) -> None:
    """Import the file's handlers, or read their source, then validate the data."""
    data = source.data
    if not isinstance(data, dict):
        source.add([Fault((), "a config is an object", "write a config, such as tools: {registry: []}")])
        return
    source.add(_import_handlers(source))
    registry = registry_of(data)
    if registry is not None:
        data = cast("dict[str, Any]", {**data, "tools": {**data["tools"], "registry": []}})
    try:
        source.config = Config.model_validate(data, context=source.converted)
    except ValidationError as error:
        source.add(_without_second_spelling(source.data, faults_of(error, Config)))
    for index, offering in enumerate(source.config.tools.sources if source.config is not None else ()):
        for key, message in offering.problems():
            source.add([Fault(("tools", "sources", index, *key.split("/", 1)), message)])
    for index, entry in enumerate(registry or ()):
        if source.is_full:
            break
        _validate_tool(source, index, entry)


def _validate_tool(source: ConfigFile, index: int, entry: Any) -> None:
    place: Place = (*_REGISTRY, index)
    try:
        tool = ToolConfig.model_validate(entry, context=source.converted)
    except ValidationError as error:
        source.add_tool(index, error, place)
        return
    source.tools[index] = tool
    kind = tool.implementation
    for key, message in chain(kind.problems(), kind.misfits(tool.parameters)):
        source.add([Fault((*place, "implementation", *key.split("/", 1)), message)])


def _import_handlers(source: ConfigFile) -> Iterator[Fault]:
    take = load_handler_source if declared() is None else read_handler_source
    listed = source.data.get("handlers")
    for index, name in enumerate(cast("Sequence[Any]", listed) if isinstance(listed, list) else ()):
        place = ("handlers", index)
        if not isinstance(name, str) or not name or any(fault.path == place for fault in source.faults):
            continue
        try:
            take(str(name), source.path.parent, source.handlers.get(name))
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}".rstrip(": ")
            message = f"the handlers of {str(name)!r} cannot be imported: {reason}"
            yield Fault(place, message, "correct the name, or install or repair the module")


def _hook_sources(data: Any) -> Iterator[str]:
    """What comes before the function's name in each ``python`` of ``hooks``."""
    for hook in entries(inside(data, "hooks")):
        written = inside(hook, "python")
        if isinstance(written, str):
            yield str(written).rpartition(":")[0]


def _texts(names: Iterable[Any], folder: Path) -> dict[str, bytes]:
    """The bytes of each ``.py`` file among ``names``, read once; without those that cannot be read."""
    found: dict[str, bytes] = {}
    for name in names:
        if isinstance(name, str) and name.endswith(".py") and may_read(name, folder):
            try:
                found[str(name)] = read_regular(folder / name, MOST_OF_MODULE)
            except (OSError, ValueError):
                continue  # taking it says what is wrong with it
    return found


def _without_second_spelling(data: Mapping[str, Any], faults: Iterable[Fault]) -> Iterator[Fault]:
    """Drop the fault of an unknown key for a second spelling of ``mcpServers``."""
    present = [key for key in SERVER_KEYS if key in data]
    for fault in faults:
        if fault.on_key and fault.path in [(key,) for key in present[1:]]:
            yield Fault(
                fault.path, f"{fault.path[0]!r} and {present[0]!r} mean the same", "keep one of them", True
            )
        else:
            yield fault


def registry_of(data: Any) -> Sequence[Any] | None:
    """``tools.registry`` of raw data when it is a list."""
    tools = cast("dict[str, Any]", data).get("tools") if isinstance(data, dict) else None
    registry = cast("dict[str, Any]", tools).get("registry") if isinstance(tools, dict) else None
    return cast("Sequence[Any]", registry) if isinstance(registry, list) else None


def servers_of(data: Any) -> tuple[str, dict[str, Any]]:
    """The key that raw data has its MCP servers under, and the servers."""
    for key in SERVER_KEYS:
        found = cast("dict[str, Any]", data).get(key) if isinstance(data, dict) else None
        if isinstance(found, dict):
            return key, cast("dict[str, Any]", found)
    return SERVER_KEYS[0], {}


def tool_index(path: Place) -> int | None:
    """The index of the tool of the registry that contains ``path``, if any."""
    if len(path) >= 3 and path[:2] == _REGISTRY and isinstance(path[2], int):
        return path[2]
    return None
