"""Checks, when the config is read, of where a tool's arguments go in a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...common.did_you_mean import nearest
from ...problems import Fault
from ..parameters import known_parameters
from ..parameters._schema_access import is_object, members
from ..templates import references
from ._parameter_mapping import HttpParameter, ParameterMapping

_NO_BODY = frozenset(("GET", "HEAD"))
_FIXED_HEADERS = frozenset(
    ("host", "content-length", "transfer-encoding", "connection", "accept-encoding", "te", "cookie")
)
_HEADER_LETTERS = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")


def place_faults(mapping: Mapping[str, HttpParameter], method: str, templated: bool) -> Iterator[Fault]:
    """Places that the request does not have, and names that they cannot take."""
    bodies = [name for name, parameter in mapping.items() if parameter.whole]
    for name in bodies[1:] or (bodies if templated else []):
        yield Fault(("params_mapping", name, "whole"), "there is another body", "keep one of them")
    for argument, parameter in mapping.items():
        path = ("params_mapping", argument)
        name = parameter.name or argument
        if parameter.place in ("body", "form", "file") and method in _NO_BODY:
            yield Fault((*path, "in"), f"a {method} request has no body", "put it into the query")
        if parameter.whole and parameter.place != "body":
            yield Fault((*path, "whole"), "only an argument in the body can be all of it", "add in: body")
        if parameter.place == "header" and name.lower() in _FIXED_HEADERS:
            yield Fault((*path, "name"), f"the header {name!r} is set by the server", "choose another")
        if parameter.place in ("header", "cookie") and not set(name.lower()) <= _HEADER_LETTERS:
            yield Fault((*path, "name"), f"{name!r} cannot be a {parameter.place}", "use letters and hyphens")


def argument_misfits(
    parameters: Mapping[str, Any], places: ParameterMapping, body: Any, *, fill_defaults: bool
) -> Iterator[tuple[str, str]]:
    """Arguments that the tool does not have, as (key, message): in the URL, the mapping, the ``body``; and
    those of the URL that a call may leave out, though their default is not sent."""
    known = known_parameters(parameters)
    if known is None:
        return
    for argument in places.mapping:
        if argument not in known:
            message = f"the tool has no parameter {argument!r} ({nearest(argument, known)})"
            yield f"params_mapping/{argument}", message
    in_path = {name for place, name in map(places.of_argument, known) if place == "path"}
    for name in sorted(places.in_url - in_path):
        yield "url", f"no parameter of the tool fills {{{name}}} (add it to parameters, or map one to it)"
    if not fill_defaults:
        required = parameters.get("required", ())
        for name, part in members(parameters, "properties").items():
            place, there = places.of_argument(name)
            if place == "path" and name not in required and is_object(part) and "default" in part:
                yield (
                    "url",
                    f"a call may leave out {name!r}, which fills {{{there}}}, and its default is not sent "
                    "(make it required, or set send_defaults: true)",
                )
    for path in sorted(references(body), key=str):
        if path[0] != "input" and path[0] not in known:
            yield "body", f"the tool has no parameter {path[0]!r} ({nearest(str(path[0]), known)})"
