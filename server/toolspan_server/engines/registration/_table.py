"""The table of handlers, and where they come from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeVar

from ...calls.context import Context
from ...common.did_you_mean import nearest
from ...common.modules.bytecode import import_from_source, project_root
from ...common.modules.text import MOST_OF_MODULE, run_text
from ...common.regular_files import read_regular
from ...common.tool_hints import Hints
from ...schema.keys import Inert
from ._own_modules import PACKAGE, import_own
from ._without_import import declared

if TYPE_CHECKING:
    from ..definitions.call_preview import CallPreview

HandlerKind = Literal["builtin", "internal"]
_H = TypeVar("_H", bound=Callable[..., Any])

_ENTRY_POINTS = "toolspan.handlers"


class Handler(Protocol):
    """A function behind a tool, plain or ``async``."""

    def __call__(self, arguments: dict[str, Any], context: Context, /) -> Any:
        """Any JSON value for the validated ``arguments``."""
        ...


class OptionsModel(Protocol):
    """What options are held to: a pydantic model; our own are records, which start faster."""

    __pydantic_core_schema__: ClassVar[Any]

    @classmethod
    def model_validate(cls, data: Any, /, *, context: Any = None) -> Any: ...


Misfits = Callable[[Any, Mapping[str, Any]], Iterable[tuple[str, str]]]
"""From a tool's options and parameters to where they do not go together, as (option, message)."""


Preview = Callable[[dict[str, Any], Context], "CallPreview | Awaitable[CallPreview]"]
"""What a person is shown of a call before they allow it: made by the code that will run it."""


References = Callable[[Mapping[str, Any]], Iterable[tuple[str, str, object]]]
"""Returns the service entries that options refer to, as (option, service, name)."""


@dataclass(frozen=True, slots=True)
class HandlerTraits:
    """The declared traits of a handler: the model of its ``options``, whether it uses ``Context.client``,
    how to find where options and parameters do not go together, for options what a call depends on, the
    service entries that they refer to, why it is ``inert`` (may run in a folder that nobody trusts), and
    what a person is shown of a call, and by options whether calls change something."""

    options: type[OptionsModel] | None = None
    talks: bool = False
    misfits: Misfits | None = None
    target: Callable[[Any], str] | None = None
    references: References | None = None
    inert: Inert | None = None
    preview: Preview | None = None
    hints: Callable[[Any], Hints] | None = None


_NO_TRAITS = HandlerTraits()
_table: dict[tuple[str, str], Handler] = {}
_traits: dict[tuple[str, str], HandlerTraits] = {}
_files: dict[Path, str] = {}
_sources: dict[tuple[str, str], Path] = {}
_loading: list[Path] = []
_pins: dict[Path, str] = {}


def handler(
    name: str,
    *,
    kind: HandlerKind = "builtin",
    options: type[OptionsModel] | None = None,
    talks: bool = False,
    misfits: Misfits | None = None,
    target: Callable[[Any], str] | None = None,
    references: References | None = None,
    inert: Inert | None = None,
    preview: Preview | None = None,
    hints: Callable[[Any], Hints] | None = None,
) -> Callable[[_H], _H]:
    """Register the decorated function as the handler ``name`` of ``kind``.

    The function takes the validated arguments (a ``dict``) and a ``Context``, and returns any JSON
    value. A plain function may block: it runs in a worker thread. Raise ``ToolFailure`` to choose
    the words that the model reads.

    ``options`` is the model that ``implementation.options`` of a config is held to, as which the function
    finds them in ``Context.options``. ``talks`` says that it uses ``Context.client``. ``misfits`` looks, when
    the config is read, at these options and the tool's parameters, and gives each fault as (option, message).
    ``target`` gives, for the options, what a call depends on and hangs with, such as ``database 'sales'``:
    calls of one target run within ``limits.concurrent_calls_per_target``; the handler itself without it.
    ``references`` gives what options name of services, such as ``("database", "databases", "sales")``: what
    is not there is a problem of the config. ``inert`` says why the handler may run in a folder that nobody
    trusts; it counts for this package's own handlers alone. ``preview`` gives, for the arguments and the
    context of a call, what a person is shown of it; plain functions may block. Without it that is all
    arguments, as JSON. ``hints`` gives, for the options, whether calls change something, as ``{"read_only":
    True}``.

    Raises ``ValueError`` when another function already has the name.
    """

    def register(function: _H) -> _H:
        if not _is_of_this_package(function):
            import_own(name)
        known = _table.get((kind, name))
        if known is not None and _origin(known) != _origin(function):
            raise ValueError(f"{kind} handler {name!r} is already registered by {_origin(known)}")
        _table[kind, name] = function
        _traits[kind, name] = HandlerTraits(
            options, talks, misfits, target, references, inert, preview, hints
        )
        if _loading:
            _sources[kind, name] = _loading[-1]
        return function

    return register


def find_handler(kind: str, name: str) -> Handler | None:
    """The handler ``name`` of ``kind``: registered, ours, or an installed package's; else ``None``.

    Raises whatever the installed package's module raises when it is imported; ``reading_only`` imports none.
    """
    if (kind, name) not in _table:
        import_own(name)
    if (kind, name) not in _table and declared() is None:
        _load_entry_points(name)
    return _table.get((kind, name))


def is_registered(kind: str, name: str) -> bool:
    """Whether the handler ``name`` of ``kind`` was found before."""
    return (kind, name) in _table


def handler_traits(kind: str, name: str) -> HandlerTraits:
    """The traits of the handler ``name`` of ``kind``; empty when there is no such handler."""
    return _NO_TRAITS if find_handler(kind, name) is None else _traits.get((kind, name), _NO_TRAITS)


def is_ours(kind: str, name: str) -> bool:
    """Whether the handler ``name`` of ``kind`` is one of this package."""
    found = find_handler(kind, name)
    return found is not None and _is_of_this_package(found)


def handler_file(kind: str, name: str) -> Path | None:
    """The ``.py`` file of a config that registered the handler; ``None`` when it came from elsewhere."""
    return _sources.get((kind, name))


def pin_handlers(pins: Mapping[Path, str]) -> None:
    """Have worker processes run the handlers of these files only while they have these SHA-256 hashes."""
    _pins.update({path.resolve(): pin for path, pin in pins.items()})


def handler_pin(file: Path) -> str | None:
    """The hash that ``file`` is pinned to, if it is."""
    return _pins.get(file)


def handler_names(kind: str, *, wanted: str) -> list[str]:
    """The names registered for ``kind``, once ``wanted`` has been looked for everywhere."""
    find_handler(kind, wanted)
    import_own()
    known = declared()
    return sorted(name for of, name in {*_table, *(known.names if known else ())} if of == kind)


def handler_problem(kind: HandlerKind, name: str) -> str | None:
    """What is wrong with naming ``name`` in a config; ``None`` when the handler is there."""
    try:
        if find_handler(kind, name) is not None or _is_declared(kind, name):
            return None
        names = handler_names(kind, wanted=name)
    except (Exception, SystemExit) as error:
        return f"{kind.capitalize()} handler '{name}' cannot be loaded ({type(error).__name__}: {error})"
    return f"{kind.capitalize()} handler '{name}' not found ({nearest(name, names)})"


def load_handler_source(source: str, config_dir: Path, text: bytes | None = None) -> None:
    """Import what a config names under ``handlers``: a dotted module, or a ``.py`` file beside the config.
    Of a file, ``text`` is run if it was read before, never what is compiled of it.

    Raises ``ImportError`` or ``OSError`` when it is not there, and whatever the module raises.
    """
    import_from_source(project_root(config_dir))
    if not source.endswith(".py"):
        import_module(source)
        return
    path = (config_dir / source).resolve()
    if path in _files:
        return
    name = _files[path] = f"_toolspan_handlers_{path.stem}_{len(_files)}"
    try:
        _load_file(name, path, read_regular(path, MOST_OF_MODULE) if text is None else text)
    except BaseException:
        del _files[path]
        raise


def _load_file(name: str, path: Path, text: bytes) -> None:
    _loading.append(path)
    try:
        run_text(name, path, text)
    finally:
        _loading.pop()


def _is_of_this_package(function: Callable[..., Any]) -> bool:
    return function.__module__.startswith(f"{PACKAGE}.")


def _origin(function: Callable[..., Any]) -> str:
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{function.__module__}.{name}"


def _is_declared(kind: str, name: str) -> bool:
    """Whether a module that was only read, or an installed package then, may have the handler."""
    from importlib.metadata import entry_points

    known = declared()
    return known is not None and (
        known.may_have(kind, name) or bool(entry_points(group=_ENTRY_POINTS, name=name))
    )


@cache
def _load_entry_points(name: str) -> None:
    """Load the entry points ``name``: modules that register it, or the function itself."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=_ENTRY_POINTS, name=name):
        loaded = entry.load()
        if callable(loaded) and ("builtin", name) not in _table and ("internal", name) not in _table:
            handler(name)(loaded)
