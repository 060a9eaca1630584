"""The tools of which scenarios are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from toolspan_server.engines.upstreams import ListedTool

from ...messages import ToolSpec
from ...providers.wire.json_types import is_list, is_object
from .english import telling_words, words_of
from .problems import LeftOut
from .schemas import properties_of, required_of
from .values import Parameter

_EXAMPLES = "dev.toolspan/examples"
_MOST_EXAMPLES = 20


@dataclass(frozen=True)
class Subject:
    """A tool: its ``name``, ``description``, the JSON Schema of its arguments and of its results, and its
    ``examples``, each with ``arguments`` and perhaps a ``result``."""

    name: str
    description: str
    schema: Mapping[str, Any]
    output: Mapping[str, Any] = field(default_factory=dict[str, Any])
    examples: Sequence[Mapping[str, Any]] = ()

    @cached_property
    def words(self) -> frozenset[str]:
        """What the tool is about."""
        return telling_words(f"{self.name} {self.description[:400]}")

    @cached_property
    def name_words(self) -> tuple[str, ...]:
        """The words of its name."""
        return tuple(words_of(self.name))

    @cached_property
    def named(self) -> frozenset[str]:
        """What its name alone says."""
        return telling_words(self.name)

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The arguments that must be given."""
        return tuple(required_of(self.schema))

    @cached_property
    def optional(self) -> tuple[str, ...]:
        """The arguments that may be left out, by name."""
        return tuple(sorted(set(properties_of(self.schema)) - set(self.required)))

    def parameter(self, name: str) -> Parameter:
        """The argument ``name``."""
        schema = properties_of(self.schema).get(name, {})
        return Parameter(name, schema, self.schema, self.words, self.name_words)


def subject_of(tool: ToolSpec, definition: ListedTool | None = None) -> Subject:
    """``tool`` with the examples of its ``definition``."""
    given: Any = definition.meta.get(_EXAMPLES) if definition else None
    examples = [each for each in given if is_object(each)] if is_list(given) else []
    return Subject(
        tool.name, tool.description, tool.schema, tool.output_schema or {}, tuple(examples[:_MOST_EXAMPLES])
    )


def _ordered(value: Any) -> Any:
    """The same JSON with the keys of its objects in one order, whatever order they came in."""
    if is_object(value):
        return {key: _ordered(value[key]) for key in sorted(value)}
    return [_ordered(each) for each in value] if is_list(value) else value


def told_apart(tools: Iterable[Subject]) -> tuple[tuple[Subject, ...], list[LeftOut]]:
    """``tools`` by name, and those whose name several servers have: a suite names tools without a server."""
    found: dict[str, Subject] = {}
    twice: set[str] = set()
    for tool in tools:
        twice |= {tool.name} if tool.name in found else set()
        examples = tuple(_ordered(each) for each in tool.examples)
        found[tool.name] = replace(
            tool, schema=_ordered(tool.schema), output=_ordered(tool.output), examples=examples
        )
    kept = tuple(found[name] for name in sorted(found) if name not in twice)
    why = "several servers have a tool of this name, and a suite names tools without a server"
    return kept, [LeftOut("all", name, why) for name in sorted(twice)]
