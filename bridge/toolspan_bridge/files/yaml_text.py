"""Data as YAML that people like to edit, and that means the same when the config is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

import yaml
from typing_extensions import override

_BREAKS = re.compile("[\x85\u2028\u2029]")
"""What YAML takes for the end of a line, and JSON does not."""


class _Dumper(yaml.SafeDumper):
    """Writes no aliases, which configs do not take, and lists a step further in."""

    @override
    def ignore_aliases(self, data: Any) -> bool:
        return True

    @override
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless=False)


def _written(_dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return yaml.ScalarNode("tag:yaml.org,2002:str", text, style='"' if _BREAKS.search(text) else None)


_Dumper.add_representer(str, _written)


def block(data: Any, indent: int, *, escaped: bool = True) -> str:
    """``data`` as lines of YAML, ``indent`` spaces in. What looks like a variable stays what it is, unless
    ``data`` is not to be ``escaped``."""
    text = yaml.dump(
        with_escapes(data) if escaped else data,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=100,
        default_flow_style=False,
    )
    return "".join(f"{' ' * indent}{line}\n" if line else "\n" for line in text.splitlines())


def line(data: Any) -> str:
    """``data`` as YAML on one line; nothing in it is escaped as a variable."""
    text = yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2**31, default_flow_style=True
    )
    return text.removesuffix("\n").removesuffix("\n...")


def with_escapes(value: Any) -> Any:
    """``value``, whose texts have no variables where a config is read."""
    if isinstance(value, str):
        return value.replace("${", "$${")
    if isinstance(value, dict):
        named: dict[Any, Any] = value  # pyright: ignore[reportUnknownVariableType]  # of anything
        return {str(name): with_escapes(part) for name, part in named.items()}
    if isinstance(value, list | tuple):
        return [with_escapes(part) for part in cast("Sequence[Any]", value)]
    return value
