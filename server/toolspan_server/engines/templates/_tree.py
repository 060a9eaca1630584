"""Any JSON value whose texts may be templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast

from ._errors import Path, TemplateError
from ._filters import as_text
from ._render import (
    MAX_OUTPUT,
    Budget,
    Scope,
    rendered,
)
from ._template import Template


class TemplateTree:
    """A JSON value with templates in it. Keys of objects are no templates."""

    __slots__ = ("_node",)

    def __init__(self, node: _Node) -> None:
        self._node = node

    @property
    def static(self) -> bool:
        """Whether there is no template in it."""
        return isinstance(self._node, _Same)

    def render(self, scope: Scope, *, limit: int = MAX_OUTPUT) -> Any:
        """The value with every template filled in; ``limit`` bounds their characters together.

        Without templates it is the very value that was compiled. Raises as ``Template.render`` does.
        """
        return self._node.render(scope, Budget(limit))


def compiled(value: Any, *, texts: bool = False) -> TemplateTree:
    """``value``, every text in it read as a template. Raises ``TemplateError``, whose ``path`` says which.

    With ``texts`` each of them stays a text, also where it is one ``{{ }}`` and nothing else.
    """
    return TemplateTree(_node(value, (), texts))


def references(value: Any) -> set[Path]:
    """The paths that the templates in ``value`` use. Raises ``TemplateError``."""
    if isinstance(value, str):
        return Template.parse(value).references if "{{" in value else set()
    if isinstance(value, Mapping):
        return {path for part in cast("Mapping[str, Any]", value).values() for path in references(part)}
    if isinstance(value, list | tuple):
        return {path for part in cast("list[Any]", value) for path in references(part)}
    return set()


class _Node(Protocol):
    def render(self, scope: Scope, budget: Budget) -> Any: ...


class _Same:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def render(self, scope: Scope, budget: Budget) -> Any:
        return self.value


class _Text:
    __slots__ = ("stays", "template")

    def __init__(self, template: Template, stays: bool) -> None:
        self.template = template
        self.stays = stays

    def render(self, scope: Scope, budget: Budget) -> Any:
        value = rendered(self.template.parts, scope, budget)
        return as_text(value) if self.stays else value


class _Items:
    __slots__ = ("items",)

    def __init__(self, items: tuple[_Node, ...]) -> None:
        self.items = items

    def render(self, scope: Scope, budget: Budget) -> Any:
        return [item.render(scope, budget) for item in self.items]


class _Object:
    __slots__ = ("members",)

    def __init__(self, members: Mapping[str, _Node]) -> None:
        self.members = members

    def render(self, scope: Scope, budget: Budget) -> Any:
        return {name: member.render(scope, budget) for name, member in self.members.items()}


def _node(value: Any, path: Path, texts: bool) -> _Node:
    if isinstance(value, str):
        return _text(value, path, texts)
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, Any]", value).items()
        members = {name: _node(part, (*path, name), texts) for name, part in pairs}
        return _Same(value) if _all_same(members.values()) else _Object(members)
    if isinstance(value, list | tuple):
        items = tuple(_node(part, (*path, at), texts) for at, part in enumerate(cast("list[Any]", value)))
        return _Same(value) if _all_same(items) else _Items(items)
    return _Same(value)


def _text(value: str, path: Path, stays: bool) -> _Node:
    if "{{" not in value:
        return _Same(value)
    try:
        return _Text(Template.parse(value), stays)
    except TemplateError as error:
        raise TemplateError(error.message, error.offset, path) from None


def _all_same(nodes: Any) -> bool:
    return all(isinstance(node, _Same) for node in nodes)
