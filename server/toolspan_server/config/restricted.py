"""Restricted mode: the part of a config that may take effect in a folder that nobody trusts.

The list is of what may. A key is taken when its declaration is marked ``inert`` and the mark's test holds for
its value, and when no variable of the environment is in it. A kind, a source, a service, a handler or a step
needs such a mark too. Everything else is left out, and reported with its place. An entry that lacks a part
that it needs is left out whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from ..parts.typed import TypedConfig
from ..problems import Path as Place
from ..schema.keys import PARTS, Inert, Key
from ..schema.records import NamedRecords, Record
from .config_file import ConfigFile, registry_of
from .models.config import Config
from .models.tool import ToolConfig

R = TypeVar("R", bound=Record)


class _LeftOut(Exception):
    """The value cannot be used without what was left out of it."""


@dataclass(frozen=True, slots=True)
class Restricted:
    """A config file in restricted mode: its ``config`` with the inert ``tools``, by their index in the file,
    and the places of what is left out."""

    config: Config
    tools: Mapping[int, ToolConfig]
    left_out: Sequence[Place]


def restrict(source: ConfigFile) -> Restricted:
    """The inert part of ``source``, which was validated and has a config."""
    assert source.config is not None, "only a valid file is restricted"
    walk = _Walk(source.path.parent, _variables(source))
    config = walk.record(source.config, source.data, ())
    registry = registry_of(source.data) or ()
    tools: dict[int, ToolConfig] = {}
    for index, tool in source.tools.items():
        place: Place = ("tools", "registry", index)
        try:
            tools[index] = walk.record(tool, registry[index], place)
        except _LeftOut:
            walk.left_out.append(place)
    return Restricted(config, tools, walk.outermost())


def _variables(source: ConfigFile) -> frozenset[Place]:
    """The places of texts with a variable in them. One that is read as a number or a flag is no text."""
    return frozenset(use.path for use in source.interpolated.used if use.path not in source.converted)


@dataclass
class _Walk:
    folder: Path
    variables: frozenset[Place]
    left_out: list[Place] = field(default_factory=list[Place])

    def outermost(self) -> tuple[Place, ...]:
        """The places of what is left out, without those inside of another."""
        found = dict.fromkeys(self.left_out)
        return tuple(place for place in found if not any(place[:end] in found for end in range(len(place))))

    def record(self, record: R, raw: Any, place: Place) -> R:
        """``record`` with its inert keys. Raises ``_LeftOut`` when it cannot be used so."""
        mark: Inert | None = getattr(type(record), "inert", PARTS)
        if mark is None or not mark.when(record, self.folder):
            raise _LeftOut
        if isinstance(record, NamedRecords):
            return record.model_copy(update={"root": self._named(record.root, raw, place)})
        changes: dict[str, Any] = {}
        for name in record.model_fields:
            if name not in record.model_fields_set:
                continue
            value = getattr(record, name)
            kept = self._key(record.model_fields[name], name, value, raw, place)
            if kept is not value:
                changes[name] = kept
        if not changes:
            return record
        if isinstance(record, TypedConfig):
            raise _LeftOut  # a kind or a source that says less than was written is another one
        changed = record.model_copy(update=changes)
        changed.__pydantic_fields_set__ -= {
            name for name in changes if _is_initial(record.model_fields[name], changes[name])
        }
        try:
            changed.check()
        except ValueError:
            raise _LeftOut from None
        if not mark.when(changed, self.folder):
            raise _LeftOut
        return changed

    def _key(self, key: Key, name: str, value: Any, raw: Any, place: Place) -> Any:
        """The inert part of the ``value`` of ``key``, or its default. Raises ``_LeftOut`` without one."""
        if not key.required and _is_initial(key, value):
            return value
        spelled, inside, found = _written(key, name, raw)
        at = (*place, spelled) if found else place
        try:
            if key.inert is None or not key.inert.when(value, self.folder):
                raise _LeftOut
            kept = self._value(value, inside, at, mark=key.inert)
        except _LeftOut:
            if key.required:
                raise
            self.left_out.append((*place, spelled))
            return key.initial()
        if kept is not value and _is_empty(kept):
            if key.required:
                raise _LeftOut
            return key.initial()
        return kept

    def _value(self, value: object, raw: Any, place: Place, mark: Inert | None = None) -> object:
        whole: object = value
        if isinstance(value, Record):
            return self.record(value, raw, place)
        if isinstance(value, tuple) and any(isinstance(part, Record) for part in cast("Any", value)):
            return self._listed(cast("Any", value), raw, place)
        if isinstance(value, dict) and any(isinstance(part, Record) for part in cast("Any", value).values()):
            return self._named(cast("dict[str, Any]", value), raw, place)
        may_hold = mark is not None and mark.holds_variables
        if not may_hold and any(variable[: len(place)] == place for variable in self.variables):
            raise _LeftOut
        return whole

    def _listed(self, value: tuple[Any, ...], raw: Any, place: Place) -> tuple[Any, ...]:
        written = cast("Sequence[Any]", raw) if isinstance(raw, list) else ()
        parts = [
            (part, written[index] if index < len(written) else None, (*place, index))
            for index, part in enumerate(value)
        ]
        kept = tuple(self._kept(parts))
        return value if _are_same(kept, value) else kept

    def _named(self, value: Mapping[str, Any], raw: Any, place: Place) -> Mapping[str, Any]:
        written: Mapping[str, Any] = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
        kept: dict[str, Any] = {}
        for name, part in value.items():
            for each in self._kept([(part, written.get(name), (*place, name))]):
                kept[name] = each
        return value if _are_same(tuple(kept.values()), tuple(value.values())) else kept

    def _kept(self, parts: Sequence[tuple[Any, Any, Place]]) -> Iterator[Any]:
        for part, raw, place in parts:
            try:
                yield self._value(part, raw, place)
            except _LeftOut:
                self.left_out.append(place)


def _written(key: Key, name: str, raw: Any) -> tuple[str, Any, bool]:
    """The spelling of ``key`` in ``raw``, what it has there, and whether it is there."""
    spellings = (name, *key.spellings)
    if isinstance(raw, dict):
        written = cast("dict[str, Any]", raw)
        for spelling in spellings:
            if spelling in written:
                return spelling, written[spelling], True
    return (key.spellings or (name,))[0], None, False


def _is_empty(value: Any) -> bool:
    return isinstance(value, tuple | dict) and not value


def _is_initial(key: Key, value: Any) -> bool:
    initial = key.initial()
    return type(value) is type(initial) and bool(value == initial)


def _are_same(kept: tuple[Any, ...], value: tuple[Any, ...]) -> bool:
    return len(kept) == len(value) and all(one is other for one, other in zip(kept, value, strict=True))
