"""Whether a value is one of those that BFCL accepts for a parameter.

``accepted`` is a list of values; ``""`` in it means that the parameter may be left out. Types are Python's,
and exact: ``True`` is no integer. Where the accepted values are of another type than the parameter, they are
names of variables, and are compared as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from ...providers.wire.json_types import is_list
from .unscorable import Unscorable

_IGNORED = re.compile(r"[ ,./\-_*^]")


def plain(text: str) -> str:
    """``text`` as BFCL compares it: without spaces and ``,./-_*^``, in lower case, with double quotes."""
    return _IGNORED.sub("", text).lower().replace("'", '"')


def misfit(value: Any, accepted: list[Any], kind: type, items: type | None) -> str:
    """Why ``value`` is not accepted as a ``kind`` whose items are ``items``; empty where it is.

    Raises ``Unscorable``.
    """
    fits_type, is_variable = _typed(value, accepted, kind, items)
    if not fits_type:
        return _wrong_type(value, kind, items)
    if is_variable:
        return "" if value in accepted else _not_among(value, accepted)
    if kind is dict:
        return _dict_misfit(value, accepted)
    if kind is list and items is dict:
        return _dicts_misfit(value, accepted)
    if kind is str:
        ok = plain(value) in [plain(each) for each in accepted if type(each) is str]
    elif kind is list:
        ok = _plain_items(value) in [_plain_items(each) for each in accepted]
    else:
        ok = value in accepted
    return "" if ok else _not_among(value, accepted)


def _typed(value: Any, accepted: list[Any], kind: type, items: type | None) -> tuple[bool, bool]:
    """Whether the type of ``value`` is right, and whether it stands for a variable."""
    usual = _usual_type(accepted)
    is_variable = usual is not None and usual is not kind
    if type(value) is not kind:
        return usual is not None and type(value) is usual, True
    if items is None:
        return True, is_variable
    return any(_items_typed(value, each, items) for each in accepted), is_variable


def _usual_type(accepted: list[Any]) -> type | None:
    kinds: list[type] = [type(each) for each in accepted if each != ""]
    return kinds[0] if kinds else None


def _items_typed(value: Any, accepted: Any, items: type) -> bool:
    return not is_list(accepted) or all(_typed(item, accepted, items, None)[0] for item in value)


def _plain_items(items: Any) -> list[Any]:
    """A list with its texts made plain. Raises ``Unscorable`` for what BFCL does not take for one."""
    return [plain(item) if type(item) is str else item for item in _listed(items)]


def _listed(items: Any) -> list[Any]:
    if isinstance(items, list | str):
        return list(cast("list[Any]", items))
    if isinstance(items, Mapping) and not items:
        return []
    raise Unscorable(f"the accepted value {items!r} is no list")


def _dict_misfit(value: Mapping[str, Any], accepted: list[Any]) -> str:
    why = f"no value is accepted, but it was {value!r}"
    for each in accepted:
        if each == "":
            continue
        why = _one_dict_misfit(value, each)
        if not why:
            return ""
    return why


def _one_dict_misfit(value: Any, accepted: Any) -> str:
    if not isinstance(value, Mapping) or not isinstance(accepted, Mapping):
        raise Unscorable(f"{value!r} is compared with {accepted!r}, and one of them is no object")
    given, wanted = cast("Mapping[str, Any]", value), cast("Mapping[str, Any]", accepted)
    why = ""
    for key, item in given.items():
        if key not in wanted:
            why = f"its key {key!r} is not expected"
            break
        choices = _plain_items(wanted[key])
        if (plain(item) if type(item) is str else item) not in choices:
            why = f"its {key!r} {_not_among(item, wanted[key])}"
            break
    absent = [key for key, choices in wanted.items() if key not in given and not _may_lack(choices)]
    return why or (f"its key {absent[0]!r} is missing" if absent else "")


def _may_lack(choices: Any) -> bool:
    try:
        return "" in choices
    except TypeError as error:
        raise Unscorable(f"the accepted value {choices!r} is no list") from error


def _dicts_misfit(value: list[Any], accepted: list[Any]) -> str:
    why = f"no value is accepted, but it was {value!r}"
    for each in accepted:
        if not hasattr(each, "__len__"):
            raise Unscorable(f"the accepted value {each!r} is no list")
        if len(value) != len(each):
            why = f"it has {len(value)} objects, expected {len(each)}"
            continue
        faults = (_dict_misfit(item, [wanted]) for item, wanted in zip(value, each, strict=True))
        why = next((fault for fault in faults if fault), "")
        if not why:
            return ""
    return why


def _wrong_type(value: Any, kind: type, items: type | None) -> str:
    wanted = _NAMES[kind] + (f" of {_NAMES[items]}" if items else "")
    return f"was {value!r}, which is no {wanted}"


_NAMES: dict[type, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "list",
    dict: "object",
    set: "set",
}


def _not_among(value: Any, accepted: Any) -> str:
    given = accepted if is_list(accepted) else [accepted]
    choices = [each for each in given if each != ""]
    return f"was {value!r}, expected one of {choices!r}"
