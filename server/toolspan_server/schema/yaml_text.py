"""Parses YAML text into data and positions, from libyaml's events.

Scalars follow the core schema of YAML 1.2: ``yes``, ``12:30:00`` and ``2024-01-31`` are strings.
Anchors and aliases are refused: 306 bytes of them can stand for 387 million values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import yaml

from ..problems import Fault, Path
from .syntax_trees import (
    DEPTH_LIMIT,
    DIGITS_LIMIT,
    NOT_FINITE,
    TOO_DEEP,
    TOO_LONG,
    Lines,
    Node,
    SyntaxFault,
    note,
    repeated_key,
)

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_BASED = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_REAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WRITTEN_OUT = "write the value out where it is needed: anchors and aliases are refused"
_QUOTED = "or a string in quotes"
_STRING_TAGS = ("!", "tag:yaml.org,2002:str")
_COLLECTION_TAGS = ("!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


def read_yaml(text: str, *, any_keys: bool = False) -> tuple[Any, Node, list[Fault]]:
    """The data, the positions, and the faults. Raises ``SyntaxFault``.

    With ``any_keys`` a key that is no text, as ``200``, is no fault, but the text that is written.
    """
    builder = _Builder(text, any_keys)
    for event in _events(text):
        builder.take(event)
    if builder.documents == 0:
        raise SyntaxFault(0, "the file is empty", "write a config, such as tools: {registry: []}")
    return builder.result, builder.root, builder.faults


def _events(text: str) -> Iterator[yaml.Event]:
    loader: Any = None
    try:
        loader = _Loader(text)
        while loader.check_event():
            yield cast("yaml.Event", loader.get_event())
    except yaml.reader.ReaderError as error:
        offset = min(error.position, len(text))
        raise SyntaxFault(offset, f"broken YAML: {error.reason}", "remove the character") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = ", ".join(part for part in (error.context, error.problem) if part)
        offset = min(mark.index, len(text)) if mark is not None else 0
        if text[offset : offset + 1] == "\t":
            raise SyntaxFault(offset, "broken YAML: a tab in the indentation", "indent with spaces") from None
        raise SyntaxFault(offset, f"broken YAML: {what}", "correct the text here") from None
    finally:
        if loader is not None:
            loader.dispose()


@dataclass(slots=True)
class _Open:
    node: Node
    path: Path
    data: dict[str, Any] | list[Any]
    key: str | None = None
    key_at: int = 0


@dataclass(slots=True)
class _Builder:
    text: str
    any_keys: bool = False
    result: Any = None
    root: Node = field(default_factory=lambda: Node(0, 0))
    faults: list[Fault] = field(default_factory=list[Fault])
    documents: int = 0
    stack: list[_Open] = field(default_factory=list[_Open])
    lines: Lines = field(init=False)

    def __post_init__(self) -> None:
        self.lines = Lines(self.text)

    def take(self, event: yaml.Event) -> None:
        offset = cast("yaml.Mark", event.start_mark).index
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event, offset)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._open(event, offset)
        elif isinstance(event, yaml.CollectionEndEvent):
            self.stack.pop()
        elif isinstance(event, yaml.AliasEvent):
            raise SyntaxFault(offset, f"alias {event.anchor!r}", _WRITTEN_OUT, self._path())
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise SyntaxFault(offset, "a second YAML document", "keep one document in a file")

    def _scalar(self, event: yaml.ScalarEvent, offset: int) -> None:
        self._refuse_anchor(event, offset)
        here = self.stack[-1] if self.stack else None
        if here is not None and here.key is None and isinstance(here.data, dict):
            self._key(here, event, offset)
            return
        value, fault = _resolve(event)
        if fault is not None:
            note(self.faults, Fault(self._path(), *fault))
        self._place(value, offset)

    def _key(self, here: _Open, event: yaml.ScalarEvent, offset: int) -> None:
        value, _ = _resolve(event)
        here.key, here.key_at = str(event.value), offset
        if not isinstance(value, str) and not self.any_keys:
            hint = f'keys are strings: write "{event.value}"'
            fault = Fault((*here.path, here.key), f"key {event.value} is not a string", hint, on_key=True)
            note(self.faults, fault)

    def _open(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent, offset: int) -> None:
        self._refuse_anchor(event, offset)
        path = self._path()
        if event.tag is not None and event.tag not in _COLLECTION_TAGS:
            note(self.faults, Fault(path, f"tag {event.tag!r} is not known", "remove the tag"))
        if len(self.stack) >= DEPTH_LIMIT:
            raise SyntaxFault(offset, TOO_DEEP, "make it flatter", path)
        here = self.stack[-1] if self.stack else None
        if here is not None and here.key is None and isinstance(here.data, dict):
            raise SyntaxFault(offset, "a key that is not a string", "keys are strings", here.path)
        data: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        self.stack.append(_Open(self._place(data, offset), path, data))

    def _refuse_anchor(self, event: yaml.NodeEvent, offset: int) -> None:
        if event.anchor is not None:
            raise SyntaxFault(offset, f"anchor {event.anchor!r}", _WRITTEN_OUT, self._path())

    def _path(self) -> Path:
        if not self.stack:
            return ()
        here = self.stack[-1]
        if isinstance(here.data, list):
            return (*here.path, len(here.data))
        return here.path if here.key is None else (*here.path, here.key)

    def _place(self, value: Any, offset: int) -> Node:
        if not self.stack:
            self.result, self.root = value, Node(offset, offset)
            return self.root
        here = self.stack[-1]
        if isinstance(here.data, list):
            node = here.node.children[len(here.data)] = Node(offset, offset)
            here.data.append(value)
            return node
        key, here.key = here.key or "", None
        node = Node(here.key_at, offset)
        if (first := here.node.children.get(key)) is None:
            here.node.children[key] = node
            here.data[key] = value
        else:
            message, hint = repeated_key(self.lines, first.key, node.key, key)
            note(self.faults, Fault((*here.path, key), message, hint, on_key=True, offset=node.key))
        return node


def _resolve(event: yaml.ScalarEvent) -> tuple[Any, tuple[str, str] | None]:
    """The scalar's value; a message and a hint when it has none."""
    text = str(event.value)
    if event.tag is not None and event.tag not in _STRING_TAGS:
        return text, (f"tag {event.tag!r} is not known", "remove the tag")
    if event.tag is not None or not event.implicit[0]:
        return text, None
    if text in _CONSTANTS:
        return _CONSTANTS[text], None
    if text[0] not in "-+.0123456789":
        return text, None
    return _number(text)


def _number(text: str) -> tuple[Any, tuple[str, str] | None]:
    if _INTEGER.match(text) or _BASED.match(text):
        if len(text) > DIGITS_LIMIT:
            return 0, (TOO_LONG, f"write a smaller number, {_QUOTED}")
        return int(text, 0 if text[1:2] in ("o", "x") else 10), None
    if _REAL.match(text):
        value = float(text)
        if math.isfinite(value):
            return value, None
        return 0.0, (
            f"{text[:20]} is {NOT_FINITE}: too large",
            f"write a smaller number, {_QUOTED}",
        )
    if _NOT_FINITE.match(text):
        return 0.0, (f"{text} is {NOT_FINITE}", f"write a finite number, {_QUOTED}")
    return text, None
