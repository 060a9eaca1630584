"""Suites of testmcpy: YAML with ``tests``, each a prompt and the evaluators of the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from toolspan_server.schema.positions import Document

from ...providers.wire.json_types import is_list, is_object
from .contract import Found, LeftOut, NotTaken
from .expecting import Expecting, Part, check_expect, exact, plain_name
from .reading import document

Path_ = tuple[str | int, ...]
_NEEDS_MORE = {
    "steps": "several turns, each with evaluators of its own",
    "auth": "a sign-in of its own",
    "auth_only": "a sign-in without a question",
    "load_test": "a load test",
    "setup": "calls that are made before",
    "teardown": "calls that are made afterwards",
    "system_prompt": "a system prompt of its own",
    "include_tools": "tools of its own",
    "exclude_tools": "tools of its own",
}


_LAST = ("execution_successful", "tool_call_count")
"""What is about the calls that other evaluators name."""


def samples_of(path: Path) -> Found:
    """The tests in ``path``. Raises ``ConfigError``."""
    read, found = document(path), Found()
    tests: Any = read.data.get("tests")
    for number, test in enumerate(tests if is_list(tests) else ()):
        _add(found, read, ("tests", number), test)
    return found


def _add(found: Found, read: Document, at: Path_, test: Any) -> None:
    if not is_object(test) or not isinstance(test.get("prompt"), str) or not test["prompt"].strip():
        found.left_out.append(LeftOut(read.place(at), "a test without a prompt"))
        return
    if key := next((key for key in _NEEDS_MORE if test.get(key)), None):
        why = f"the test {test.get('name')!r} needs {_NEEDS_MORE[key]} ({key})"
        found.left_out.append(LeftOut(read.place((*at, key)), why))
        return
    expecting, left = Expecting(), list[tuple[Path_, str]]()
    evaluators: Any = test.get("evaluators")
    given = list(enumerate(evaluators if is_list(evaluators) else ()))
    for number, each in sorted(given, key=lambda pair: _name_of(pair[1]) in _LAST):
        place = (*at, "evaluators", number)
        try:
            _apply(expecting, each)
        except NotTaken as why:
            left.append((place, f"{_name_of(each)}: {why}"))
    try:
        expect = expecting.as_data()
    except NotTaken as why:
        left.append((at, f"the test {test.get('name')!r} is not taken: {why}"))
    else:
        tags = {"tags": [test["category"]]} if isinstance(test.get("category"), str) else {}
        found.scenarios.append(
            {
                "name": str(test.get("name") or test["prompt"]),
                "query": test["prompt"],
                "expect": expect,
                **tags,
            }
        )
    found.left_out += [
        LeftOut(read.place(place), why) for place, why in sorted(left, key=lambda each: each[0][3:])
    ]


def _name_of(evaluator: Any) -> str:
    return str(evaluator.get("name")) if is_object(evaluator) else repr(evaluator)


def _apply(expecting: Expecting, evaluator: Any) -> None:
    if not is_object(evaluator):
        raise NotTaken("an evaluator has a name and args")
    apply = _EVALUATORS.get(str(evaluator.get("name")))
    if apply is None:
        raise NotTaken("there is no equal here")
    arguments: Any = evaluator.get("args") or {}
    apply(expecting, arguments if is_object(arguments) else {})


def _called(expecting: Expecting, args: Mapping[str, Any]) -> None:
    if args.get("tool_name") is None:
        raise NotTaken("any call at all has no equal here (name a tool)")
    expecting.call(args["tool_name"])


def _succeeded(expecting: Expecting, args: Mapping[str, Any]) -> None:
    """A call that a suite expects must have succeeded, so that there is nothing to add where there is one."""
    del args
    if not expecting.calls:
        raise NotTaken("that any call succeeded has no equal here before a tool is named")


def _with_parameter(expecting: Expecting, args: Mapping[str, Any]) -> None:
    value = args.get("parameter_value")
    wanted: Any = {"schema": {}} if value is None else exact(value)
    expecting.call(args.get("tool_name", ""), {str(args.get("parameter_name")): wanted})


def _with_parameters(expecting: Expecting, args: Mapping[str, Any]) -> None:
    parameters: Any = args.get("parameters")
    if not is_object(parameters):
        raise NotTaken("it has no parameters")
    expecting.call(args.get("tool_name", ""), {key: exact(value) for key, value in parameters.items()})


def _in_range(expecting: Expecting, args: Mapping[str, Any]) -> None:
    bounds = {"min": args.get("min_value"), "max": args.get("max_value")}
    given = {key: value for key, value in bounds.items() if value is not None}
    if not given:
        raise NotTaken("it has no bounds")
    expecting.call(args.get("tool_name", ""), {str(args.get("parameter_name")): {"range": given}})


def _counted(expecting: Expecting, args: Mapping[str, Any]) -> None:
    least, most = args.get("min_count"), args.get("max_count")
    if (number := args.get("expected_count")) is not None:
        least = most = number
    if not all(each is None or (isinstance(each, int) and 0 <= each <= 64) for each in (least, most)):
        raise NotTaken("a count is a whole number up to 64")
    if tool := args.get("tool_name"):
        if most == 0:
            expecting.never(tool)
        elif most is not None:
            raise NotTaken("how often one tool may be called at most has no equal here")
        elif least:
            expecting.call(tool, times=least)
        return
    if least and least > len(expecting.calls):
        raise NotTaken("how often tools are called has no equal here (name them)")
    if most is not None:
        expecting.most(most)


def _sequence(expecting: Expecting, args: Mapping[str, Any]) -> None:
    tools: Any = args.get("sequence")
    strict = args.get("strict", True)
    if not strict and not args.get("allow_intermediate"):
        raise NotTaken("a sequence with repetitions but without other tools has no equal here")
    expecting.sequence([plain_name(each) for each in tools] if is_list(tools) else [], alone=bool(strict))


def _contains(expecting: Expecting, args: Mapping[str, Any]) -> None:
    content: Any = args.get("expected_content", args.get("expected_substring"))
    texts = content if is_list(content) else [content]
    if not texts or not all(isinstance(each, str) and each for each in texts):
        raise NotTaken("it names no text")
    for each in texts:
        expecting.answer(Part(str(each), any_case=not args.get("case_sensitive")))


def _matches(expecting: Expecting, args: Mapping[str, Any]) -> None:
    if args.get("should_match", True) is not True:
        raise NotTaken("what an answer must not hold has no equal here")
    check_expect({"answer": {"matches": args.get("pattern")}})
    expecting.answer({"matches": args.get("pattern")})


_EVALUATORS: Mapping[str, Callable[[Expecting, Mapping[str, Any]], None]] = MappingProxyType(
    {
        "was_mcp_tool_called": _called,
        "execution_successful": _succeeded,
        "tool_called_with_parameter": _with_parameter,
        "tool_called_with_parameters": _with_parameters,
        "parameter_value_in_range": _in_range,
        "tool_call_count": _counted,
        "tool_call_sequence": _sequence,
        "final_answer_contains": _contains,
        "response_matches_pattern": _matches,
    }
)
