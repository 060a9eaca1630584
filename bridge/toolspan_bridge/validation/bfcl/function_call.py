"""One call against one accepted call, by the rules of BFCL's checker of abstract syntax trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from . import java, javascript
from .unscorable import Unscorable
from .values import misfit

Language = Literal["python", "java", "javascript"]

PYTHON_TYPES: dict[str, type] = {
    "string": str,
    "any": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
}

_TYPES = {"python": PYTHON_TYPES, "java": java.TYPES, "javascript": javascript.TYPES}
_WITH_ITEMS = {
    "python": ("array", "tuple"),
    "java": ("Array", "ArrayList"),
    "javascript": ("array",),
}


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A call that a model made."""

    name: str
    arguments: Mapping[str, Any]


def call_misfit(
    function: Mapping[str, Any],
    call: MadeCall,
    truth: Mapping[str, Any],
    language: Language,
    *,
    underscored: bool = False,
) -> str:
    """Why ``call`` is not the accepted call ``truth`` of ``function``, as BFCL's file has them; empty where
    it is. With ``underscored``, the model's names have ``_`` for ``.``.

    Raises ``Unscorable``.
    """
    name = written_name(str(function["name"]), underscored=underscored)
    if call.name != name:
        return f"wrong tool {call.name!r} for {name!r}"
    accepted: Mapping[str, list[Any]] = next(iter(truth.values()))
    parameters = _part(function, "parameters")
    for required in _part(parameters, "required"):
        if required not in call.arguments:
            return f"the required argument {required!r} is missing"
    properties = _part(parameters, "properties")
    for key, value in call.arguments.items():
        if key not in properties or key not in accepted:
            return f"argument {key!r} is not expected"
        if why := _argument_misfit(value, properties[key], accepted[key], language):
            return f"argument {key!r} {why}"
    lacking = [key for key, values in accepted.items() if key not in call.arguments and "" not in values]
    return f"argument {lacking[0]!r} is missing, and may not be left out here" if lacking else ""


def written_name(name: str, *, underscored: bool) -> str:
    """The function's ``name`` as the model sees it."""
    return name.replace(".", "_") if underscored else name


def _argument_misfit(
    value: Any, parameter: Mapping[str, Any], accepted: list[Any], language: Language
) -> str:
    kind = str(_part(parameter, "type"))
    nested = str(_part(_part(parameter, "items"), "type")) if kind in _WITH_ITEMS[language] else None
    types = _TYPES[language]
    for name in (kind, nested):
        if name is not None and name not in types:
            raise Unscorable(f"the type {name!r} is not known")
    if language != "python":
        if type(value) is not str:
            return f"was {value!r}, which is no text: {language} values are written as text"
        read = java.java_value if language == "java" else javascript.javascript_value
        value = read(value, kind, nested)
    elif kind == "float" and type(value) is int:
        value = _as_float(value)
    return misfit(value, accepted, types[kind], types[nested] if nested else None)


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise Unscorable("an integer is too large for a number") from error


def _part(data: Mapping[str, Any], key: str) -> Any:
    try:
        return data[key]
    except (KeyError, TypeError) as error:
        raise Unscorable(f"the function's definition has no {key!r}") from error


def function_of(functions: list[Mapping[str, Any]], name: str) -> Mapping[str, Any]:
    """The first of ``functions`` that is called ``name``. Raises ``Unscorable`` without one."""
    for function in functions:
        if function["name"] == name:
            return function
    raise Unscorable(f"no function is called {name!r}")
