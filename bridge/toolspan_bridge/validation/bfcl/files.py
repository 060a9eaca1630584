"""The files of the Berkeley Function-Calling Leaderboard, version 4: JSON lines of cases, one file a
category, and beside them ``possible_answer/`` with the accepted calls by id."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ...errors import UsageError
from .cases import BfclCase
from .multi_turn.conversations import ConversationCase
from .multi_turn.programs import installed_programs, needed_programs
from .multi_turn.reading import CONVERSATIONS, conversation_of

PREFIX = "BFCL_v4_"
ANSWERS = "possible_answer"

CATEGORIES = (
    "simple_python",
    "simple_java",
    "simple_javascript",
    "multiple",
    "parallel",
    "parallel_multiple",
    "irrelevance",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
    "live_irrelevance",
    "live_relevance",
)
"""The categories that are scored by comparing calls. Those of ``multi_turn`` need programs that are installed
beside."""

_NOT_SCORED = {
    "memory": "its cases need the leaderboard's own memory stores over several conversations",
    "web_search": "its cases need the leaderboard's own search of the web",
    "format_sensitivity": "it is about ways to write a prompt, and holds no cases of its own",
}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file whose cases cannot be scored faithfully, and why."""

    category: str
    ids: frozenset[str]
    why: str


@dataclass(frozen=True, slots=True)
class BfclSuite:
    """The cases of one or more files, by id, and what was left out of them."""

    name: str
    cases: Mapping[str, BfclCase | ConversationCase]
    left_out: tuple[LeftOut, ...] = ()


def load_bfcl(path: Path) -> BfclSuite:
    """The cases in ``path``: a file, or a folder of files, with ``possible_answer/`` beside them.

    Of a folder the categories that cannot be scored faithfully, or not with what is installed, are left out,
    with the reason. Raises
    ``UsageError`` with file and line for what is no such file, and for a single file of such a category.
    """
    files = sorted(path.glob(f"{PREFIX}*.json")) if path.is_dir() else [path]
    if not files:
        raise UsageError(f"{path} has no file {PREFIX}*.json (name the folder of BFCL's data, or one file)")
    cases: dict[str, BfclCase | ConversationCase] = {}
    left_out: list[LeftOut] = []
    for file in files:
        if (why := _refusal(_category_of(file))) is None:
            _add(cases, file)
        elif path.is_dir():
            left_out.append(LeftOut(_category_of(file), _ids(file), why))
        else:
            raise UsageError(f"{file} is not scored: {why}")
    if not cases:
        raise UsageError(f"{path} has no case that can be scored: {left_out[0].why}")
    return BfclSuite(f"bfcl:{path.name}", cases, tuple(left_out))


def left_out_notes(suite: BfclSuite) -> list[str]:
    """A sentence for each category that was left out of ``suite``."""
    return [f"{each.category} is left out ({len(each.ids)} cases): {each.why}" for each in suite.left_out]


def _add(cases: dict[str, BfclCase | ConversationCase], file: Path) -> None:
    truths = _truths(file)
    for place, data in _lines(file):
        case = _case(place, data, truths)
        if case.id in cases:
            raise UsageError(f"{place}: the id {case.id!r} is there already")
        cases[case.id] = case


def _case(
    place: str, data: Mapping[str, Any], truths: Mapping[str, Any] | None
) -> BfclCase | ConversationCase:
    name = _text(place, data, "id")
    category = name.rsplit("_", 1)[0]
    if category in CONVERSATIONS:
        return conversation_of(place, data, truths, needed_programs())
    if category not in CATEGORIES:
        why = _refusal(category) or f"the category {category!r} is not known"
        raise UsageError(f"{place}: {name} is not scored: {why}")
    turns, functions = _items(data.get("question")), _objects_in(data.get("function"))
    messages = _objects_in(turns[0]) if turns is not None and len(turns) == 1 else None
    if messages is None:
        raise UsageError(f"{place}: 'question' must be a list of one turn, which is a list of messages")
    if functions is None or any(not isinstance(each.get("name"), str) for each in functions):
        raise UsageError(f"{place}: 'function' must be a list of functions, each with a name")
    accepted: list[Mapping[str, Any]] = []
    if "relevance" not in category:
        accepted = _accepted(place, name, truths)
        if not functions:
            raise UsageError(f"{place}: 'function' must hold at least one function")
    return BfclCase(name, category, tuple(messages), functions, accepted)


def _accepted(place: str, name: str, truths: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    if truths is None or name not in truths:
        raise UsageError(f"{place}: {name} has no accepted answer in {ANSWERS}/")
    found = _objects_in(truths[name])
    if not found or any(not _is_call(each) for each in found):
        shape = "{name: {argument: [values]}}"
        raise UsageError(f"{place}: the accepted answer of {name} must be a list of {shape}")
    return found


def _is_call(data: Mapping[str, Any]) -> bool:
    arguments = next(iter(data.values()), None)
    return isinstance(arguments, dict) and all(
        isinstance(values, list) for values in cast("dict[str, Any]", arguments).values()
    )


def _truths(file: Path) -> Mapping[str, Any] | None:
    beside = file.parent / ANSWERS / file.name
    if not beside.is_file():
        return None
    return {_text(place, data, "id"): data.get("ground_truth") for place, data in _lines(beside)}


def _ids(file: Path) -> frozenset[str]:
    return frozenset(str(data["id"]) for data in _objects(file) if "id" in data)


def _objects(file: Path) -> Iterable[Mapping[str, Any]]:
    """The objects of a file that is left out, whatever else it holds."""
    for line in _bytes(file).splitlines():
        try:
            data: object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict):
            yield cast("dict[str, Any]", data)


def _lines(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, line in enumerate(_bytes(file).split(b"\n"), 1):
        if not line.strip():
            continue
        place = f"{file}:{number}"
        try:
            data: object = json.loads(line)
        except (ValueError, RecursionError):
            raise UsageError(f"{place}: no JSON (BFCL's files are JSON lines)") from None
        if not isinstance(data, dict):
            raise UsageError(f"{place}: no JSON object")
        yield place, cast("dict[str, Any]", data)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None


def _text(place: str, data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value:
        raise UsageError(f"{place}: {key!r} must be a text")
    return value


def _items(value: object) -> list[object] | None:
    return cast("list[object]", value) if isinstance(value, list) else None


def _objects_in(value: object) -> list[Mapping[str, Any]] | None:
    items = _items(value)
    if items is None or not all(isinstance(each, dict) for each in items):
        return None
    return cast("list[Mapping[str, Any]]", items)


def _category_of(file: Path) -> str:
    return file.stem.removeprefix(PREFIX)


def _refusal(category: str) -> str | None:
    if category in CONVERSATIONS:
        return found if isinstance(found := installed_programs(), str) else None
    return next((why for name, why in _NOT_SCORED.items() if category.startswith(name)), None)
