"""Refuses files that the model of a question does not take, before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ...errors import UsageError
from ...formats import left_out_files
from ...loop import Question
from ...messages import Part, Request
from ...providers import Provider

_OFFLINE = "offline"


def check_files(question: Question, provider: Provider) -> None:
    """Raise ``UsageError`` where ``question`` has files that its model does not take, as far as the wire
    format tells."""
    files = [part for part in question.parts if "text" not in _inner(part)]
    if not files:
        return
    left_out = files if provider.name == _OFFLINE else _left_out(question, provider)
    if left_out:
        kinds = ", ".join(dict.fromkeys(str(_inner(part).get("mimeType")) for part in left_out))
        way = f" by the format {_format(question, provider)}" if provider.name != _OFFLINE else ""
        raise UsageError(
            f"{provider.name}/{question.model} takes no {kinds}{way}, or not as large: name another "
            "model, or pass its text (pdftotext FILE - | toolspan ask …)"
        )


def _left_out(question: Question, provider: Provider) -> Sequence[Part]:
    name = _format(question, provider)
    request = Request(question.model, (question.asked,), vision=question.vision)
    return left_out_files(name, request) if name else ()


def _format(question: Question, provider: Provider) -> str:
    from ...providers.wire.two_wires import TwoWires

    if isinstance(provider, TwoWires):
        return provider.wire_for(question.model).format_name
    return provider.format_name


def _inner(part: Part) -> Mapping[str, object]:
    resource = part.data.get("resource")
    return cast("Mapping[str, object]", resource) if isinstance(resource, Mapping) else part.data
