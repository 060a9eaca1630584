"""Generated scenarios as a suite's file has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..suites.suite_text import suite_text
from .categories import CATEGORIES
from .drafts import Draft
from .generate import Generated
from .subjects import Subject

_ABOUT = {
    "selection": "The right one of tools that are alike.",
    "irrelevance": "No tool serves these: none is to be called.",
    "missing_parameter": "Something that a tool needs is not said: the model must ask.",
    "parallel": "Two calls that do not depend on each other: both in one turn.",
    "sequential": "One tool's result is what the next one needs.",
    "error_recovery": "The first call fails, and says that it may be tried again.",
    "long_lists": "The tool among 10, 50 and 100 others, which are made up.",
    "perturbed": "The tool under another name, with its description, a short or a misspelt one.",
}
_DONE = {"status": "done"}


def generated_text(generated: Generated, name: str, comments: Sequence[str]) -> str:
    """The suite ``name`` of what was ``generated``, as YAML with ``comments`` at its beginning."""
    sections = [
        (_ABOUT[category], [as_scenario(each) for each in generated.drafts if each.category == category])
        for category in CATEGORIES
    ]
    return suite_text(name, sections, comments)


def as_scenario(draft: Draft) -> dict[str, Any]:
    """``draft`` as a scenario of a suite's file."""
    scenario: dict[str, Any] = {"name": draft.name, "query": draft.query, "expect": dict(draft.expect)}
    if draft.offered or draft.defined:
        scenario["tools"] = [_as_glob(name) for name in draft.offered]
    mocks = {name: _mock(results) for name, results in draft.results.items()}
    for tool in draft.defined:
        mocks[tool.name] = _defined(tool) | mocks.get(tool.name, {"mock_response": _DONE})
    return scenario | ({"mocks": mocks} if mocks else {}) | {"tags": [draft.category]}


def _mock(results: Sequence[Any]) -> dict[str, Any]:
    if len(results) == 1:
        return _reply(results[0])
    return {"sequence": [_reply(each) for each in results]}


def _reply(result: Any) -> dict[str, Any]:
    if isinstance(result, Exception):
        return {"error": {"message": str(result)}}
    return {"mock_response": result}


def _defined(tool: Subject) -> dict[str, Any]:
    parameters = {"type": "object", **tool.schema}
    return {"description": tool.description or tool.name, "parameters": parameters}


def _as_glob(name: str) -> str:
    """``name`` as a glob of itself."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in name)
