"""The assertions of promptfoo that a suite can make, by their type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ...providers.wire.json_types import is_list, is_object
from .contract import NotTaken
from .expecting import Expecting, Part, check_expect, exact, literal, plain_name

_CODE = frozenset(("javascript", "python", "ruby", "webhook"))
_JUDGED = (
    "llm-rubric",
    "model-graded",
    "factuality",
    "g-eval",
    "answer-relevance",
    "context-",
    "similar",
    "classifier",
    "moderation",
    "trajectory:goal-success",
    "agent-rubric",
    "search-rubric",
    "conversation-relevance",
    "pi",
)


def apply(expecting: Expecting, assertion: Any, tools: frozenset[str] | None) -> None:
    """Add what ``assertion`` says, where the file gives the model ``tools``, or none. Raises ``NotTaken``."""
    if not is_object(assertion) or not isinstance(assertion.get("type"), str):
        raise NotTaken("an assertion has a type")
    kind = assertion["type"]
    if kind.removeprefix("not-") in _CODE:
        raise NotTaken("code is not run; write what it checks as an expectation")
    if kind.removeprefix("not-").startswith(_JUDGED):
        raise NotTaken("a judgement of another model has no equal here")
    if "transform" in assertion or assertion.get("weight") == 0:
        raise NotTaken("a transformed answer, or a figure that decides nothing, has no equal here")
    if kind in _VALID:
        _only_tool(expecting, tools)
        return
    if tools is not None and kind in _OF_TEXT:
        raise NotTaken(
            "beside tools the output there may be the call itself (use trajectory:tool-args-match)"
        )
    check = _TYPES.get(kind)
    if check is None:
        told = "what must not be has" if kind.startswith("not-") else "this type has"
        raise NotTaken(f"{told} no equal here")
    value: Any = assertion.get("value")
    if isinstance(value, str) and value.startswith("file://"):
        raise NotTaken(f"its value is in another file ({value})")
    check(expecting, value, assertion)


def _only_tool(expecting: Expecting, tools: frozenset[str] | None) -> None:
    """Any call that fits its tool's schema: where there is one tool, that one."""
    if tools is None or len(tools) != 1:
        raise NotTaken("a call of any tool has no equal here (name it)")
    expecting.call(next(iter(tools)))


def _texts(value: Any) -> list[str]:
    given = (
        value
        if is_list(value)
        else [part.strip() for part in value.split(",")]
        if isinstance(value, str)
        else []
    )
    texts = [str(each) for each in given if isinstance(each, str | int | float) and str(each)]
    if not texts or len(texts) != len(given):
        raise NotTaken("it names no texts")
    return texts


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not str(value):
        raise NotTaken("it names no text")
    return str(value)


def _contains(expecting: Expecting, value: Any, _: Any) -> None:
    expecting.answer(Part(_text(value), any_case=False))


def _contains_in_any_case(expecting: Expecting, value: Any, _: Any) -> None:
    expecting.answer(Part(_text(value)))


def _contains_any(expecting: Expecting, value: Any, _: Any) -> None:
    expecting.answer(*(Part(each, any_case=False) for each in _texts(value)))


def _contains_any_in_any_case(expecting: Expecting, value: Any, _: Any) -> None:
    expecting.answer(*(Part(each) for each in _texts(value)))


def _contains_all(expecting: Expecting, value: Any, _: Any) -> None:
    for each in _texts(value):
        expecting.answer(Part(each, any_case=False))


def _contains_all_in_any_case(expecting: Expecting, value: Any, _: Any) -> None:
    for each in _texts(value):
        expecting.answer(Part(each))


def _starts(expecting: Expecting, value: Any, _: Any) -> None:
    expecting.answer({"matches": rf"\A{literal(_text(value))}"})


def _ends(expecting: Expecting, value: Any, _: Any) -> None:
    expecting.answer({"matches": rf"{literal(_text(value))}\z"})


def _equals(expecting: Expecting, value: Any, _: Any) -> None:
    if is_object(value) or is_list(value):
        raise NotTaken("an answer that is this JSON has no equal here (is-json with a schema has)")
    expecting.answer({"matches": rf"\A{literal(_text(value))}\z"})


def _regex(expecting: Expecting, value: Any, _: Any) -> None:
    check_expect({"answer": {"matches": value}})
    expecting.answer({"matches": value})


def _json(expecting: Expecting, value: Any, _: Any) -> None:
    if value is not None and not is_object(value):
        raise NotTaken("its schema is no object")
    rule = {"json": {"path": "$", "is": {"schema": value or {}}}}
    check_expect({"answer": rule})
    expecting.answer(rule)


def _tools_named(expecting: Expecting, value: Any, assertion: Mapping[str, Any]) -> None:
    """F1 of 1: these tools and no others; that there are no others cannot be said without naming them."""
    if assertion.get("threshold", 1) != 1:
        raise NotTaken("a share of the tools has no equal here")
    for each in _texts(value):
        expecting.call(each)
    raise NotTaken("the calls are taken; that no other tool is called is not (add never: to the scenario)")


def _used(expecting: Expecting, value: Any, _: Any) -> None:
    if not is_object(value):
        for each in value if is_list(value) else [value]:
            expecting.call(each)
        return
    name = plain_name(value.get("name") or value.get("pattern"))
    least, most = value.get("min", 1), value.get("max")
    if most == 0 and least in (0, 1):
        expecting.never(name)
        return
    if not isinstance(least, int) or not 0 <= least <= 64 or most is not None:
        raise NotTaken("how often one tool may be called at most has no equal here")
    expecting.call(name, times=least)


def _not_used(expecting: Expecting, value: Any, _: Any) -> None:
    if is_object(value):
        if value.get("min", 1) != 1 or value.get("max") is not None:
            raise NotTaken("how often one tool is not to be called has no equal here")
        value = value.get("name") or value.get("pattern")
    for each in value if is_list(value) else [value]:
        expecting.never(each)


def _sequence(expecting: Expecting, value: Any, _: Any) -> None:
    steps: Any = value.get("steps") if is_object(value) else value
    mode = value.get("mode", "in_order") if is_object(value) else "in_order"
    names = [each.get("name") or each.get("pattern") if is_object(each) else each for each in steps or ()]
    expecting.sequence([plain_name(each) for each in names], alone=mode == "exact")


def _with_arguments(expecting: Expecting, value: Any, _: Any) -> None:
    if not is_object(value):
        raise NotTaken("it names no tool and arguments")
    wanted: Any = value.get("args", value.get("arguments"))
    if not is_object(wanted):
        raise NotTaken("its arguments are no object")
    ignored: Any = value.get("ignore") or []
    names = ignored if is_list(ignored) else [ignored]
    if any(set(str(each)) & set("*?") for each in names):
        raise NotTaken("patterns of arguments that do not count have no equal here")
    name = plain_name(value.get("name") or value.get("pattern"))
    expecting.call(name, {key: exact(part) for key, part in wanted.items() if key not in names})
    if value.get("mode") == "exact":
        raise NotTaken(
            "the arguments are taken; that there are no others is not (add {absent: true} for each)"
        )


_VALID = (
    "is-valid-openai-tools-call",
    "is-valid-openai-function-call",
    "is-valid-function-call",
)
_TYPES: Mapping[str, Callable[[Expecting, Any, Mapping[str, Any]], None]] = MappingProxyType(
    {
        "contains": _contains,
        "icontains": _contains_in_any_case,
        "contains-any": _contains_any,
        "icontains-any": _contains_any_in_any_case,
        "contains-all": _contains_all,
        "icontains-all": _contains_all_in_any_case,
        "starts-with": _starts,
        "ends-with": _ends,
        "equals": _equals,
        "regex": _regex,
        "is-json": _json,
        "tool-call-f1": _tools_named,
        "trajectory:tool-used": _used,
        "not-trajectory:tool-used": _not_used,
        "trajectory:tool-sequence": _sequence,
        "trajectory:tool-args-match": _with_arguments,
    }
)

_OF_TEXT = frozenset(kind for kind in _TYPES if "trajectory" not in kind and kind != "tool-call-f1")
"""The types that are about the output as a text."""
