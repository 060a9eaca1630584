"""Configs of promptfoo: YAML or JSON with ``prompts``, and ``tests`` of ``vars`` and assertions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolspan_server.schema.positions import Document

from ...providers.wire.json_types import is_list, is_object
from .contract import Found, LeftOut, NotTaken
from .expecting import Expecting
from .promptfoo_assertions import apply
from .reading import document

_At = tuple[str | int, ...]
_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_SCORED = {
    "threshold": "it passes by a score, which has no equal here",
    "transform": "it transforms the answer",
}


def tests_of(path: Path) -> Found:
    """The tests in ``path``, each with each prompt. Raises ``ConfigError``."""
    read, found = document(path), Found()
    tools = _tools(read.data.get("providers"))
    prompts = list(_prompts(found, read))
    usual: Any = read.data.get("defaultTest")
    tests: Any = read.data.get("tests")
    if isinstance(tests, str):
        why = f"the tests are in another file ({tests}): name it, or write them here"
        found.left_out.append(LeftOut(read.place(("tests",)), why))
    for number, test in enumerate(tests if is_list(tests) else ()):
        _Test(read, ("tests", number), test, usual if is_object(usual) else {}).add(found, prompts, tools)
    return found


def _tools(providers: Any) -> frozenset[str] | None:
    """The names of the tools that the file itself gives its providers; ``None`` where it gives none."""
    given: list[Any] = []
    for provider in providers if is_list(providers) else ():
        config: Any = provider.get("config") if is_object(provider) else None
        tools: Any = (config.get("tools") or config.get("functions")) if is_object(config) else None
        given += tools if is_list(tools) else [tools] if tools else []
    return frozenset(name for tool in given for name in _names(tool)) if given else None


def _names(tool: Any) -> Iterator[str]:
    """The name of a tool in any provider's form: that of the object itself, or of the one it wraps."""
    if is_object(tool) and isinstance(tool.get("name"), str):
        yield tool["name"]
    elif is_object(tool):
        for part in tool.values():
            yield from _names(part)


def _prompts(found: Found, read: Document) -> Iterator[str]:
    given: Any = read.data.get("prompts")
    for number, each in enumerate(given if is_list(given) else [given]):
        at: _At = ("prompts", number) if is_list(given) else ("prompts",)
        text: Any = each.get("raw") if is_object(each) else each
        if not isinstance(text, str) or text.startswith(("file://", "exec:")) or _is_file(text):
            found.left_out.append(LeftOut(read.place(at), "a prompt in another file, or none at all"))
        elif text.lstrip()[:1] in ("[", "{") and not text.lstrip().startswith("{{"):
            found.left_out.append(LeftOut(read.place(at), "a prompt of several messages has no equal here"))
        else:
            yield text


def _is_file(text: str) -> bool:
    return "\n" not in text and bool(
        re.search(r"^\S+\.(?:txt|json|yaml|yml|js|ts|mjs|cjs|py|md|csv|j2)(?::\w+)?$", text)
    )


class _Test:
    """One entry of ``tests``, with what ``defaultTest`` adds."""

    def __init__(self, read: Document, at: _At, test: Any, usual: Mapping[str, Any]) -> None:
        self._read, self._at, self._usual = read, at, usual
        self._test: Mapping[str, Any] = test if is_object(test) else {}

    def add(self, found: Found, prompts: Sequence[str], tools: frozenset[str] | None) -> None:
        """Put what can be taken into ``found``; the file gives the model the ``tools``, or none."""
        expecting, left = Expecting(), list[LeftOut]()
        try:
            variables = self._variables()
            self._check()
            for at, assertion in self._assertions():
                try:
                    apply(expecting, filled(assertion, variables), tools)
                except NotTaken as why:
                    left.append(LeftOut(self._read.place(at), f"{_type_of(assertion)}: {why}"))
            expect = expecting.as_data()
            asked = [(filled(prompt, variables), prompt) for prompt in prompts]
        except NotTaken as why:
            left.append(LeftOut(self._read.place(self._at), f"the test is not taken: {why}"))
        else:
            for query, prompt in asked:
                found.scenarios.append(
                    {"name": self._name(query, prompt, prompts), "query": query, "expect": expect}
                )
        found.left_out += left

    def _name(self, query: str, prompt: str, prompts: Sequence[str]) -> str:
        name = str(self._test.get("description") or query)
        many = len(prompts) > 1 and self._test.get("description")
        return f"{name} (prompt {prompts.index(prompt) + 1})" if many else name

    def _variables(self) -> Mapping[str, Any]:
        both: dict[str, Any] = {}
        for each in (self._usual.get("vars"), self._test.get("vars")):
            if isinstance(each, str):
                raise NotTaken(f"its vars are in another file ({each})")
            both |= each if is_object(each) else {}
        if several := next((key for key, value in both.items() if is_list(value)), None):
            raise NotTaken(f"the variable {several!r} has several values: write a test for each")
        return both

    def _check(self) -> None:
        for each in (self._usual, self._test):
            options: Any = each.get("options")
            if key := next(
                (key for key in _SCORED if key in each or (is_object(options) and key in options)), None
            ):
                raise NotTaken(_SCORED[key])

    def _assertions(self) -> Iterator[tuple[_At, Any]]:
        for above, test in ((("defaultTest",), self._usual), (self._at, self._test)):
            given: Any = test.get("assert")
            for number, each in enumerate(given if is_list(given) else ()):
                yield from _flat((*above, "assert", number), each)


def _flat(at: _At, assertion: Any) -> Iterator[tuple[_At, Any]]:
    """The assertion, or those of a set that must all hold."""
    inner: Any = assertion.get("assert") if is_object(assertion) else None
    if _type_of(assertion) != "assert-set" or not is_list(inner) or "threshold" in assertion:
        yield at, assertion
        return
    for number, each in enumerate(inner):
        yield (*at, "assert", number), each


def _type_of(assertion: Any) -> str:
    return str(assertion.get("type")) if is_object(assertion) else repr(assertion)


def filled(value: Any, variables: Mapping[str, Any]) -> Any:
    """``value`` with ``{{ name }}`` replaced. Raises ``NotTaken`` for a variable without a value, and for
    what else a template may be."""
    if is_object(value):
        return {key: filled(part, variables) for key, part in value.items()}
    if is_list(value):
        return [filled(part, variables) for part in value]
    if not isinstance(value, str):
        return value
    text = _VARIABLE.sub(lambda match: _word(variables, match.group(1)), value)
    if "{{" in text or "{%" in text:
        raise NotTaken(f"the template {value[:60]!r} is more than variables")
    return text


def _word(variables: Mapping[str, Any], name: str) -> str:
    found = variables.get(name)
    if (
        isinstance(found, bool)
        or not isinstance(found, str | int | float)
        or str(found).startswith("file://")
    ):
        raise NotTaken(f"the variable {name!r} has no text")
    return str(found)
