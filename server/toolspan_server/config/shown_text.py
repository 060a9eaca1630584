"""The text of a config without its secrets, for whoever may read the config.

A value is shown only where the schema knows its key and does not mark it as one that holds a secret
(``hidden``, in the schema ``writeOnly``), so that a key that nobody thought of is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast

from ..common.secrets.key_shapes import SECRET_NAME, without_keys
from ..errors import ConfigError
from ..problems import Fault, Path
from ..schema.positions import parse_document

PLACEHOLDER = "***"

_REFERENCE = re.compile(r"(?:(?:Bearer|Basic|Token) )?\$\{(?:env:)?[A-Za-z_][A-Za-z0-9_]*\}")
"""A value that is only a variable's: which one it is, is no secret."""
_DEFAULT = re.compile(r"(\$\{(?:env:)?[A-Za-z_][A-Za-z0-9_]*:-)[^}]*(\}?)")
_IN_QUERY = re.compile(r"([?&]([\w.-]*+)=)(?![{$])[^&#\s\"']+")
_SECRET_IN_QUERY = re.compile("key|token|secret|passw|sig|auth|credential", re.IGNORECASE)
_Schema = Mapping[str, Any]


def shown_text(text: str, file: str) -> str:
    """``text``, that of the config ``file``, with ``***`` for every secret and for whatever the schema does
    not know.

    Raises ``ConfigError`` where it cannot be parsed.
    """
    parse_document(text, file)
    spans = sorted(_spans(text), reverse=True)
    for start, end, written in spans:
        text = text[:start] + written + text[end:]
    text = _DEFAULT.sub(lambda found: f"{found[1]}{PLACEHOLDER}}}" if found[2] else found[0], text)
    text = _IN_QUERY.sub(
        lambda found: found[1] + PLACEHOLDER if _SECRET_IN_QUERY.search(found[2]) else found[0], text
    )
    return without_keys(text, lambda _name, _value: PLACEHOLDER)


def places_left_open(text: str, file: str) -> frozenset[tuple[int, int]]:
    """Lines and columns of the values of which ``text`` does not say what they are: those that
    ``shown_text`` left out, and those of variables. Of a text that cannot be parsed, none."""
    try:
        document = parse_document(text, file)
    except ConfigError:
        return frozenset()
    found = document.problems(Fault(path, "") for path in _open_paths(document.data, ()))
    return frozenset((each.line, each.column) for each in found)


def _open_paths(data: Any, path: Path) -> Iterator[Path]:
    if isinstance(data, dict | list):
        inside = cast("Any", data)
        for part, value in inside.items() if isinstance(data, dict) else enumerate(inside):
            yield from _open_paths(value, (*path, part))
    elif isinstance(data, str) and (PLACEHOLDER in data or _REFERENCE.fullmatch(data)):
        yield path


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    """The places of values that are not shown, and what is written there."""
    import yaml

    root: yaml.Node | None = yaml.compose(text, Loader=yaml.CSafeLoader)
    if root is not None:
        for node in _hidden(root, [_schema()], "", secret=False):
            start, end = node.start_mark.index, node.end_mark.index
            line_end = "\n" if node.style in ("|", ">") else ""
            yield start, end, f'"{PLACEHOLDER}"{line_end}'


def _hidden(node: Any, schemas: list[_Schema], name: str, *, secret: bool) -> Iterator[Any]:
    """The scalars at or under ``node`` that are not shown; ``schemas`` describe it, none where it is
    unknown."""
    import yaml

    known = [branch for schema in schemas for branch in _branches(schema)]
    secret = secret or not known or any(branch.get("writeOnly") for branch in known)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = str(key.value)
            yield from _hidden(
                value, [s for each in known for s in _of_key(each, inner)], inner, secret=secret
            )
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            inside = [found for each in known for found in _of_item(each)]
            yield from _hidden(value, inside, name, secret=secret)
    elif node.tag == "tag:yaml.org,2002:null" or _REFERENCE.fullmatch(node.value):
        return
    elif secret or (SECRET_NAME.search(name) and all(_is_free(each) for each in known)):
        yield node


def _branches(schema: _Schema) -> Iterator[_Schema]:
    """``schema`` and all that it may be instead; a mark on it is one on each."""
    marked = {"writeOnly": True} if schema.get("writeOnly") else {}
    if (reference := schema.get("$ref")) is not None:
        yield from ({**each, **marked} for each in _branches(_definitions()[reference.rpartition("/")[2]]))
    choices = [each for word in ("anyOf", "oneOf", "allOf") for each in schema.get(word, ())]
    for choice in choices:
        yield from ({**each, **marked} for each in _branches(choice))
    if reference is None and (not choices or "properties" in schema):
        yield schema


def _of_key(schema: _Schema, name: str) -> Iterator[_Schema]:
    if (found := schema.get("properties", {}).get(name)) is not None:
        yield found
        return
    for pattern, found in schema.get("patternProperties", {}).items():
        if re.search(pattern, name):
            yield found
    more = schema.get("additionalProperties", True if _is_free(schema) else None)
    if more is True:
        yield {"title": _FREE}
    elif isinstance(more, Mapping):
        yield {**cast("_Schema", more), "title": _FREE}


def _of_item(schema: _Schema) -> Iterator[_Schema]:
    if (found := schema.get("items")) is not None:
        yield found
    elif _is_free(schema):
        yield {"title": _FREE}


_FREE = "named by the config"


def _is_free(schema: _Schema) -> bool:
    """Whether the schema says nothing of what is there: its name is the config's, and so may say it."""
    return schema.get("title") == _FREE or not schema.keys() & {
        "$ref",
        "additionalProperties",
        "anyOf",
        "const",
        "enum",
        "items",
        "oneOf",
        "patternProperties",
        "properties",
        "required",
        "type",
    }


@cache
def _schema() -> _Schema:
    from .published_schema import config_schema

    return config_schema()


def _definitions() -> Mapping[str, _Schema]:
    return cast("Mapping[str, _Schema]", _schema()["$defs"])
