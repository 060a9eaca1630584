"""What a request chooses by its model's name and its headers: the model, a preset or a route, and our tools.

model: openai/gpt-5.1                 a model of a provider
model: openai/gpt-5.1:notools         the same without our tools
model: best, best:anthropic           the cheapest validated model, of a provider
model: preset/Research                a preset, with its model, instructions and tools
model: auto, auto/support             the config's routes, for a caller of this service
X-Toolspan-Preset: Research           a preset beside a model of another name
X-Toolspan-Tools: none                our tools: none, or globs of names with commas
X-Toolspan-Toolset: weather           the tools of a toolset of the config
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolspan_server.common.call_patterns import LONGEST_GLOB

from ..faults import RequestFault

__all__ = ["AUTO", "PRESET_HEADER", "TOOLSET_HEADER", "TOOLS_HEADER", "Choice", "choice_of"]

AUTO = "auto"
"""The model's name that leaves the choice to the config's routes."""
PRESET_HEADER = "x-toolspan-preset"
TOOLS_HEADER = "x-toolspan-tools"
TOOLSET_HEADER = "x-toolspan-toolset"
_NO_TOOLS = ":notools"
_MOST_GLOBS = 200
_BEST = "best"


@dataclass(frozen=True, slots=True)
class Choice:
    """``model`` is ``provider/model``, ``best`` or ``best:provider``, and empty where the ``preset``, or with
    ``routed`` the config's routes for ``service``, say it. ``tools`` are globs of our tools, ``None`` for
    all, ``toolset`` one of the config's, ``bare`` a name that may be a preset's."""

    model: str = ""
    preset: str = ""
    routed: bool = False
    service: str = ""
    tools: tuple[str, ...] | None = None
    toolset: str = ""
    bare: str = ""

    @property
    def name(self) -> str:
        """The name under which it is asked for, as ``GET /v1/models`` lists it."""
        if self.routed:
            return f"{AUTO}/{self.service}" if self.service else AUTO
        preset = self.preset or self.bare
        return self.model or (f"preset/{preset}" if preset else "")


def choice_of(model: str, headers: Mapping[str, str]) -> Choice:
    """What a request for ``model`` with ``headers`` (names in small letters) chooses. Raises
    ``RequestFault``."""
    tools = _globs(headers.get(TOOLS_HEADER))
    if model.endswith(_NO_TOOLS):
        model, tools = model.removesuffix(_NO_TOOLS), ()
    preset, toolset = headers.get(PRESET_HEADER, ""), headers.get(TOOLSET_HEADER, "")
    kind, slash, name = model.partition("/")
    if kind == AUTO:
        if preset:
            raise RequestFault(
                f"{PRESET_HEADER}: a model of the config's routes has no preset", param="model"
            )
        return Choice(routed=True, service=name, tools=tools, toolset=toolset)
    if kind == "preset" and slash:
        if preset and preset != name:
            raise RequestFault(f"{PRESET_HEADER} and the model name two presets", param="model")
        return Choice(preset=name, tools=tools, toolset=toolset)
    if slash or kind == _BEST or kind.startswith(f"{_BEST}:") or ":" in kind:
        return Choice(model, preset, tools=tools, toolset=toolset)
    return Choice(preset=preset, tools=tools, toolset=toolset, bare=model)


def _globs(written: str | None) -> tuple[str, ...] | None:
    if written is None or written.strip() == "all":
        return None
    globs = tuple(filter(None, (each.strip() for each in written.split(","))))
    if len(globs) > _MOST_GLOBS:
        raise RequestFault(f"{TOOLS_HEADER} may have {_MOST_GLOBS} names, not {len(globs)}")
    if (longest := max(map(len, globs), default=0)) > LONGEST_GLOB:
        raise RequestFault(f"a name in {TOOLS_HEADER} may have {LONGEST_GLOB} characters, not {longest:,}")
    return () if globs == ("none",) else globs
