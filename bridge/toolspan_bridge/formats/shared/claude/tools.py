"""Compiles tools for Claude: strict only where it loses nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ....messages import ToolSpec
from ...names import NameTable
from ..contract import Loss
from ..schemas import ANTHROPIC_STRICT, Plan
from ..tools.compile import CompiledTools, compile_tools
from ..tools.compile import restore as restore_arguments

PLAN = Plan(keys=re.compile(r"[A-Za-z0-9_.-]{1,64}"))


def compiled(tools: Sequence[ToolSpec], names: NameTable) -> CompiledTools:
    """``tools`` compiled by Claude's rules for schemas."""
    return compile_tools(tools, names, PLAN, strict=ANTHROPIC_STRICT)


def losses(tools: Sequence[ToolSpec]) -> list[Loss]:
    """The losses of ``tools`` by Claude's rules for schemas."""
    return list(compiled(tools, NameTable.of(tools)).losses)


def restore(tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Unwrapped, keys renamed back, and whole floats as integers."""
    return restore_arguments(tool, arguments, PLAN, ANTHROPIC_STRICT)
