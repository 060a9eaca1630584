"""The secrets of a config: what the keys that are marked ``hidden`` where they are declared hold.

``secret_values`` gives them of a loaded config, for what takes known values out of texts. ``shown_text``
gives a file's text without them, for whoever may read the config: a value is shown only where the schema
knows its key and does not mark it, so that a key that nobody thought of is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast
from urllib.parse import parse_qsl, unquote, urlsplit

from ..common.secrets.key_shapes import LOOKS_LIKE_KEY, SECRET_NAME, without_keys
from ..schema.positions import parse_document
from ..schema.records import NamedRecords, Record

PLACEHOLDER = "***"

_REFERENCE = re.compile(r"(?:(?:Bearer|Basic|Token) )?\$\{(?:env:)?[A-Za-z_][A-Za-z0-9_]*\}")
"""A value that is only a variable's: which one it is, is no secret."""
_DEFAULT = re.compile(r"(\$\{(?:env:)?[A-Za-z_][A-Za-z0-9_]*:-)[^}]*(?=\})")
_IN_QUERY = re.compile(
    r"([?&][\w.-]*(?:key|token|secret|passw|sig|auth|credential)[\w.-]*=)(?![{$])[^&#\s\"']+", re.IGNORECASE
)
"""What stands under a name of secrets in the query of an address."""
_Schema = Mapping[str, Any]


def secret_values(record: Any, *, skip: tuple[str, ...] = ()) -> Iterator[str]:
    """The secret texts of ``record``, whose keys ``skip`` are left out, and of the records in it.

    Of an address they are its password and the values of its query, and of an object (``env``, ``headers``)
    what stands under a name of secrets: the rest of these occurs in harmless texts too.
    """
    if isinstance(record, NamedRecords):
        yield from secret_values(record.root)
    elif isinstance(record, Record):
        for name, key in type(record).model_fields.items():
            value = getattr(record, name)
            if value is None or name in skip:
                continue
            yield from _texts(value) if key.hidden else secret_values(value)
    elif isinstance(record, Mapping):
        for each in cast("Mapping[str, Any]", record).values():
            yield from secret_values(each)
    elif isinstance(record, tuple | list):
        for each in cast("list[Any]", record):
            yield from secret_values(each)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _in_address(value) if "://" in value else (value,)
    elif isinstance(value, Mapping):
        for name, each in cast("Mapping[str, Any]", value).items():
            if isinstance(each, str) and (SECRET_NAME.search(name) or LOOKS_LIKE_KEY.search(each)):
                yield from (each, each.partition(" ")[2] or each)
    elif isinstance(value, tuple | list):
        yield from (each for each in cast("list[Any]", value) if LOOKS_LIKE_KEY.search(str(each)))


def _in_address(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    if parts.password:
        yield from {parts.password, unquote(parts.password)}
    yield from (value for _, value in parse_qsl(parts.query))


def shown_text(text: str, file: str) -> str:
    """``text``, that of the config ``file``, with ``***`` for every secret and for whatever the schema does
    not know.

    Raises ``ConfigError`` where it cannot be parsed.
    """
    parse_document(text, file)
    spans = sorted(_spans(text), reverse=True)
    for start, end, written in spans:
        text = text[:start] + written + text[end:]
    for secret in (_DEFAULT, _IN_QUERY):
        text = secret.sub(rf"\g<1>{PLACEHOLDER}", text)
    return without_keys(text, lambda _name, _value: PLACEHOLDER)


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
