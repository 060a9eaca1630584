"""What tools answer in a scenario, so that nothing is done in the world when it is asked."""

from __future__ import annotations

from typing import Any

from .choices import Choices
from .problems import NotGenerated
from .requests import Request
from .schemas import fits, properties_of, simple
from .subjects import Subject
from .values import Parameter, value_for

_DONE = {"status": "done"}


def result_of(request: Request, choices: Choices) -> Any:
    """A result of the call: that of the tool's own example of it, or one that its output schema describes."""
    for example in request.tool.examples:
        if example.get("arguments") == request.arguments and "result" in example:
            return example["result"]
    return made_result(request.tool, choices)


def made_result(tool: Subject, choices: Choices) -> Any:
    """A result that the tool's output schema describes; ``{"status": "done"}`` where that is not known."""
    made: dict[str, Any] = {}
    try:
        for name, schema in sorted(properties_of(simple(tool.output, tool.output)).items()):
            parameter = Parameter(name, schema, tool.output, tool.words)
            made[name] = value_for(parameter, choices.of("result", name))
    except NotGenerated:
        return _DONE
    return made if made and fits(made, tool.output, tool.output) else _DONE
