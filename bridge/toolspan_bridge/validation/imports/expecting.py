"""An ``expect`` put together of single assertions, all of which must hold."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from ...providers.wire.json_types import is_list, is_object
from ..suites import Expect
from .contract import NotTaken

_MOST_TOGETHER = 3
_SPECIAL = frozenset("\\.+*?()[]{}|^$")


@dataclass(frozen=True, slots=True)
class Part:
    """A text that the answer holds, in ``any_case`` or to the letter."""

    text: str
    any_case: bool = True


@dataclass(slots=True)
class Expecting:
    """What has been asserted so far; each method adds to it and raises ``NotTaken`` for what a suite cannot
    say."""

    calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    order: str = "any"
    keys: dict[str, Any] = field(default_factory=dict[str, Any])
    answers: list[Sequence[Part | Mapping[str, Any]]] = field(
        default_factory=list[Sequence["Part | Mapping[str, Any]"]]
    )

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None, times: int = 1) -> None:
        """The tool is called so many times, once with ``arguments``; what is asserted of a tool is about one
        call of it."""
        tool = plain_name(tool)
        same = [each for each in self.calls if each["tool"] == tool]
        for _ in range(times - len(same)):
            self.calls.append({"tool": tool})
        if arguments:
            same = [each for each in self.calls if each["tool"] == tool]
            same[0]["arguments"] = {**same[0].get("arguments", {}), **arguments}

    def sequence(self, tools: Sequence[str], *, alone: bool) -> None:
        """The tools are called one after another; ``alone``: and no other."""
        if not tools:
            raise NotTaken("it names no tool")
        if self.calls and [each["tool"] for each in self.calls] != [plain_name(each) for each in tools]:
            known = {plain_name(each) for each in tools}
            if any(each["tool"] not in known for each in self.calls):
                raise NotTaken("a sequence beside calls of other tools has no equal here")
        told = {each["tool"]: each for each in self.calls}
        self.calls = [told.pop(plain_name(each), {"tool": plain_name(each)}) for each in tools]
        if len(tools) > 1:
            self.order = "ordered"
        if alone:
            self.most(len(tools))

    def never(self, tool: str) -> None:
        """The tool is not called."""
        self.keys["never"] = sorted({*self.keys.get("never", ()), plain_name(tool)})

    def most(self, calls: int) -> None:
        """At most so many calls are made."""
        if calls <= 0:
            self.keys["no_calls"] = True
        else:
            self.keys["max_calls"] = min(calls, self.keys.get("max_calls", calls))

    def answer(self, *alternatives: Part | Mapping[str, Any]) -> None:
        """The answer fulfils one of ``alternatives``: parts of it, or rules as a suite writes them."""
        self.answers.append(alternatives)

    def as_data(self) -> dict[str, Any]:
        """The ``expect`` of a suite. Raises ``NotTaken``."""
        data: dict[str, Any] = {"calls": self.calls} if self.calls else {}
        data |= {"order": self.order} if self.order != "any" and len(self.calls) > 1 else {}
        data |= self.keys | self._answer()
        if not data:
            raise NotTaken("nothing of what it asserts has an equal here")
        check_expect(data)
        return data

    def _answer(self) -> dict[str, Any]:
        if not self.answers:
            return {}
        if len(self.answers) == 1:
            alternatives = [_rule(each) for each in self.answers[0]]
            return {"answer": alternatives[0] if len(alternatives) == 1 else alternatives}
        parts = [each[0] for each in self.answers if len(each) == 1 and isinstance(each[0], Part)]
        if len(parts) < len(self.answers):
            raise NotTaken(
                "several assertions on the answer, other than parts of its text, have no equal here"
            )
        return {"answer": {"matches": together(parts)}}


def _rule(rule: Part | Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(rule, Part):
        return rule
    return {"contains": rule.text} if rule.any_case else {"matches": literal(rule.text)}


def plain_name(tool: Any) -> str:
    """``tool`` as a name. Raises ``NotTaken`` for none, and for a pattern of names."""
    if not isinstance(tool, str) or not tool.strip():
        raise NotTaken(f"a tool's name is needed, not {tool!r}")
    if set(tool) & set("*?") or "{{" in tool:
        raise NotTaken(f"{tool!r} stands for several names, and a suite names each tool")
    return tool.strip()


def exact(value: Any) -> Any:
    """The form of an argument that is ``value`` to the letter; of objects these members, perhaps others."""
    if isinstance(value, str) or is_object(value) or is_list(value):
        return {"schema": _schema(value)}
    return value


def literal(text: str, *, any_case: bool = False) -> str:
    """The RE2 pattern of ``text`` itself, over several lines if need be."""
    quoted = "".join(f"\\{each}" if each in _SPECIAL else each for each in text)
    return f"(?{'i' if any_case else ''}s:{quoted})"


def together(parts: Sequence[Part]) -> str:
    """The pattern of an answer that holds ``parts``, in any order. Raises ``NotTaken`` for more than
    three, and for more than two that could overlap."""
    wanted = [each for each in dict.fromkeys(parts) if not _is_within(each, parts)]
    joined = [each for first, then in itertools.permutations(wanted, 2) for each in _joined(first, then)]
    if len(wanted) > _MOST_TOGETHER or (joined and len(wanted) > 2):
        raise NotTaken("so many parts of the answer at once have no equal here")
    orders = itertools.permutations([literal(each.text, any_case=each.any_case) for each in wanted])
    return "|".join(["(?s:.*)".join(order) for order in orders] + joined)


def check_expect(data: Mapping[str, Any]) -> None:
    """Raise ``NotTaken`` when ``data`` is no ``expect`` of a suite."""
    try:
        Expect.model_validate(data)
    except ValidationError as error:
        raise NotTaken(error.errors()[0]["msg"].removeprefix("Value error, ")) from None


def _schema(value: Any) -> dict[str, Any]:
    if is_object(value):
        return {
            "type": "object",
            "properties": {key: _schema(part) for key, part in value.items()},
            "required": sorted(value),
        }
    if is_list(value):
        items = [_schema(each) for each in value]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    return {"const": value}


def _is_within(part: Part, others: Sequence[Part]) -> bool:
    """Whether another one holds ``part``, so that it need not be asked for."""
    return any(each != part and part.text in each.text and part.any_case >= each.any_case for each in others)


def _joined(first: Part, then: Part) -> list[str]:
    """The patterns of texts in which the end of ``first`` is the beginning of ``then``: row and owner in
    rowner."""
    any_case = first.any_case or then.any_case
    one, other = (each.text.casefold() if any_case else each.text for each in (first, then))
    sizes = [size for size in range(1, min(len(one), len(other))) if one[-size:] == other[:size]]
    if sizes and (first.any_case != then.any_case or len(other) != len(then.text)):
        raise NotTaken("parts of the answer that could overlap, one in any case, have no equal here")
    return [literal(first.text + then.text[size:], any_case=any_case) for size in sizes]
