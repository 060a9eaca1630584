"""Mocks of a scenario: answers in place of tools, in the words of a config's mocks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator
from pydantic_core import ValidationError
from typing_extensions import override

from toolspan_server.engines.mocks import MockReplies, MockReply, RuledReplies, unknown_names
from toolspan_server.engines.upstreams import ListedTool, UpstreamResult
from toolspan_server.problems import Fault, Faulty
from toolspan_server.schema.faults import InvalidRecord
from toolspan_server.schema.records import key

from ...provenance.outward import LOCAL
from ...providers.wire.json_types import is_object
from ...toolbox.local import LocalFailure
from ...toolbox.outcomes import TOOL_ERROR_ACTION

if TYPE_CHECKING:
    from ...toolbox.local import LocalCall

__all__ = ["Mock", "MockData", "MockedTool", "is_described"]

_INVALID_PARAMS = "-32602"


class Mock(RuledReplies):
    """What a tool answers in a scenario, by the keys of a config's mock without steps. With ``description``
    and ``parameters`` it is a tool that no server has."""

    description: str | None = key("What the tool does, as models read it.", least=1, default=None)
    parameters: Any = key("The JSON Schema of its parameters, an object.", default=None)

    @override
    def check(self) -> None:
        super().check()
        faults = [*_description_faults(self), *_file_faults(self), *unknown_names(self, ())]
        if not (self.main_ways or self.rules):
            known = "mock_response, response, content, error, sequence, random or rules"
            faults.append(Fault((), "says no answer", f"add {known}"))
        if faults:
            raise Faulty(*faults)


def _description_faults(mock: Mock) -> Iterator[Fault]:
    given = {name: getattr(mock, name) is not None for name in ("description", "parameters")}
    for name, other in (("description", "parameters"), ("parameters", "description")):
        if given[name] and not given[other]:
            yield Fault((name,), f"{name!r} without {other!r}", f"add {other}; a server's tool needs neither")
    if given["parameters"] and (why := _why_no_schema(mock.parameters)):
        yield Fault(("parameters",), why)


def _why_no_schema(parameters: object) -> str:
    if not is_object(parameters) or parameters.get("type") != "object":
        return "must be a JSON Schema of type object"
    import jsonschema_rs

    from toolspan_server.engines.parameters import compile_schema

    try:
        compile_schema(dict(parameters))
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        return f"is no JSON Schema: {str(error).splitlines()[0]}"
    return ""


def _file_faults(mock: Mock) -> Iterator[Fault]:
    """Files change unseen: what a scenario answers stands in the suite, whose hash it is part of."""
    for place, reply in _replies(mock, ()):
        for at, block in enumerate(reply.content or ()):
            inner: object = block.get("resource") if is_object(block) else None
            if (is_object(block) and "file" in block) or (is_object(inner) and "file" in inner):
                path = (*place, "content", at)
                yield Fault(path, "a mock of a scenario reads no file", "write data, text or blob")


def _replies(
    reply: MockReply, place: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], MockReply]]:
    yield place, reply
    if isinstance(reply, MockReplies):
        for at, each in enumerate(reply.sequence or ()):
            yield from _replies(each, (*place, "sequence", at))
        for at, choice in enumerate(reply.random.choices if reply.random else ()):
            yield from _replies(choice, (*place, "random", "choices", at))
    if isinstance(reply, RuledReplies):
        for at, rule in enumerate(reply.rules):
            yield from _replies(rule, (*place, "rules", at))


def _checked(value: Any) -> Any:
    if not is_object(value):
        raise Faulty(Fault((), "must be an object, such as {response: …}"))
    try:
        json.dumps(value, allow_nan=False)
        Mock.model_validate(value)
    except ValidationError as error:
        raise InvalidRecord(Mock, error) from None
    return value


MockData = Annotated[Any, AfterValidator(_checked)]
"""The data of a ``Mock``, as JSON. Its sequences begin anew with each trial, and so does the record."""


def is_described(data: Mapping[str, Any]) -> bool:
    """Whether the mock is a tool of its own."""
    return "parameters" in data


class MockedTool:
    """The tool ``name`` that answers what the mock ``data`` says, for one trial; ``listed`` is its definition
    where a server has it."""

    def __init__(self, name: str, data: Mapping[str, Any], listed: ListedTool | None = None) -> None:
        from toolspan_server.engines.mocks.outside import OutsideMock

        mock = Mock.model_validate(data)
        self._definition = listed or ListedTool(name, mock.description or "", mock.parameters, LOCAL)
        self._mock = OutsideMock(self._definition.name, mock, Path())

    @property
    def definition(self) -> ListedTool:
        """That of the server, or the mock's own."""
        return self._definition

    async def call(self, call: LocalCall) -> Any:
        """The mock's answer; parameters that are not given have the defaults of the schema."""
        from toolspan_server.engines.mocks.outside import MockedContent, MockFailure

        try:
            answer = await self._mock.call({**_defaults(self._definition.schema), **call.arguments})
        except MockFailure as failure:
            raise _failure(failure) from None
        if not isinstance(answer, MockedContent):
            return answer
        return UpstreamResult(answer.blocks, False, answer.structured, answer.has_structured)


def _failure(failure: Any) -> LocalFailure:
    """The failure as the model sees it of a server."""
    if not failure.refuses:
        return LocalFailure(str(failure), failure.code, failure.user_action)
    code = "invalid_parameters" if failure.code == _INVALID_PARAMS else "tool_error"
    return LocalFailure(str(failure), code, TOOL_ERROR_ACTION)


def _defaults(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties")
    if not is_object(properties):
        return {}
    return {
        name: each["default"] for name, each in properties.items() if is_object(each) and "default" in each
    }
