"""Putting a config together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...files.yaml_text import block


@dataclass(frozen=True, slots=True)
class Entry:
    """One tool, or one source of tools, with the comment above it."""

    data: Mapping[str, Any]
    comments: Sequence[str] = ()


def config_text(name: str, tools: Sequence[Entry], sources: Sequence[Entry], schema: str = "") -> str:
    """A commented config of ``tools`` and ``sources``, as YAML; editors find its schema at ``schema``."""
    parts = [
        f"# yaml-language-server: $schema={schema}\n" if schema else "",
        "# A Toolspan config. Check it with `toolspan check`, try it with `toolspan tools list`,\n",
        "# serve it with `toolspan serve`, and add it to a client with `toolspan install CLIENT`.\n",
        block({"version": 1, "name": name}, 0),
        "# Instructions about the whole server for clients and models.\n",
        "# instructions: …\n\n",
        "tools:\n",
        "  # Longest time for one call, in milliseconds; a tool's own timeout_ms wins.\n",
        "  default_timeout_ms: 30000\n",
    ]
    if tools:
        parts += ["  registry:\n", "\n".join(_item(tool) for tool in tools)]
    if sources:
        parts += ["  # Sources of tools, which provide many at once.\n", "  sources:\n"]
        parts.append("\n".join(_item(source) for source in sources))
    return "".join(parts)


def _item(entry: Entry) -> str:
    comments = "".join(f"    # {line}\n" for line in entry.comments)
    lines = block(dict(entry.data), 6)
    return comments + "    - " + lines[6:]
