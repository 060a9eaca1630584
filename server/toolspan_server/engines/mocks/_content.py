"""Content blocks as a config writes them: checked when it is read, put together when they are sent.

A block is written as MCP has it (MCP 2026-07-28, server/tools), a text also as a plain text. ``file`` stands
for ``data``, ``text`` or ``blob``: a path that starts at the config's folder.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from ...common.did_you_mean import nearest
from ...common.regular_files import open_regular
from ...errors import ToolFailure
from ...problems import Fault, Faulty
from ...problems import Path as Place
from ...schema.keys import is_inside_folder
from ...schema.paths import is_inside
from ..templates import TemplateError, compiled

MAX_FILE = 16 << 20
"""Bytes of the largest file that a content block may hold; ``limits.result_bytes`` bounds the whole."""

_SHARED = ("type", "annotations", "_meta")
_KEYS: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("data", "file", "mimeType"),
    "audio": ("data", "file", "mimeType"),
    "resource_link": ("uri", "name", "title", "description", "mimeType", "size", "icons"),
    "resource": ("resource",),
}
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": (),
    "audio": (),
    "resource_link": ("uri", "name"),
    "resource": ("resource",),
}
_RESOURCE_KEYS = ("uri", "mimeType", "text", "blob", "file", "_meta")
_MAGIC = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("SUQz", "audio/mpeg"),
    ("T2dnUw", "audio/ogg"),
    ("ZkxhQ", "audio/flac"),
)


def content_blocks(blocks: Sequence[Any]) -> Sequence[Any]:
    """``blocks`` as they are. Raises ``Faulty`` with everything that is wrong in them."""
    faults = [fault for at, block in enumerate(blocks) for fault in _block_faults(block, (at,))]
    if faults:
        raise Faulty(*faults)
    return blocks


def has_files_inside(blocks: Any, folder: Path) -> bool:
    """Whether each file that ``blocks`` name lies in ``folder`` after links are followed."""
    return all(is_inside_folder(file, folder) and "{{" not in file for file in _files(blocks))


def _files(blocks: Any) -> Iterator[Any]:
    for block in cast("Sequence[Any]", blocks or ()):
        if isinstance(block, Mapping):
            given = cast("Mapping[str, Any]", block)
            held = [given, given.get("resource")]
            yield from (
                cast("Any", each)["file"] for each in held if isinstance(each, Mapping) and "file" in each
            )


def _block_faults(block: Any, place: Place) -> Iterator[Fault]:
    if isinstance(block, str):
        yield from _template_faults(block, place)
        return
    if not isinstance(block, Mapping) or "type" not in block:
        yield Fault(place, "must be a text, or an object with a 'type'", f"types: {', '.join(_KEYS)}")
        return
    given = cast("Mapping[str, Any]", block)
    sort = given["type"]
    if not isinstance(sort, str) or sort not in _KEYS:
        yield Fault((*place, "type"), f"unknown type of content {sort!r}", nearest(str(sort), _KEYS))
        return
    yield from _key_faults(given, (*_SHARED, *_KEYS[sort]), _NEEDED[sort], place)
    if sort in ("image", "audio"):
        yield from _media_faults(given, place, sort)
    if sort == "resource" and isinstance(given.get("resource"), Mapping):
        yield from _resource_faults(given["resource"], (*place, "resource"))
    yield from _template_faults({k: v for k, v in given.items() if k not in ("data", "file")}, place)


def _key_faults(
    given: Mapping[str, Any], known: Sequence[str], needed: Sequence[str], place: Place
) -> Iterator[Fault]:
    for name, value in given.items():
        if name not in known:
            yield Fault((*place, name), f"unknown key {name!r}", nearest(name, known), on_key=True)
        elif name in ("annotations", "_meta", "resource"):
            if not isinstance(value, Mapping):
                yield Fault((*place, name), "must be an object")
        elif name in ("size", "icons"):
            if not isinstance(value, list if name == "icons" else int) or isinstance(value, bool):
                yield Fault((*place, name), "must be " + ("a list" if name == "icons" else "an integer"))
        elif not isinstance(value, str):
            yield Fault((*place, name), "must be a string", "put it in quotes")
    for name in needed:
        if name not in given:
            yield Fault(place, f"{name!r} is missing", f"add {name}")


def _media_faults(block: Mapping[str, Any], place: Place, sort: str) -> Iterator[Fault]:
    yield from _file_faults(block, place)
    if ("data" in block) == ("file" in block):
        yield Fault(place, f"needs either 'data' (base64) or 'file' for the {sort}")
        return
    data = block.get("data")
    if isinstance(data, str) and not _is_base64(data):
        yield Fault((*place, "data"), "is not base64", "write file: and a path, or the bytes in base64")
    elif _media_type(block) is None:
        yield Fault(place, f"the media type of the {sort} is not known", "add mimeType, such as image/png")


def _resource_faults(resource: Mapping[str, Any], place: Place) -> Iterator[Fault]:
    yield from _key_faults(resource, _RESOURCE_KEYS, ("uri",), place)
    yield from _file_faults(resource, place)
    held = [name for name in ("text", "blob", "file") if name in resource]
    if len(held) != 1:
        yield Fault(place, "needs one of 'text', 'blob' (base64) and 'file'")
    blob = resource.get("blob")
    if isinstance(blob, str) and not _is_base64(blob):
        yield Fault((*place, "blob"), "is not base64")


def _file_faults(given: Mapping[str, Any], place: Place) -> Iterator[Fault]:
    file = given.get("file")
    if isinstance(file, str) and not is_inside(file):
        yield Fault((*place, "file"), f"{file!r} is outside of the config's folder", "put the file below it")


def _template_faults(value: Any, place: Place) -> Iterator[Fault]:
    try:
        compiled(value)
    except TemplateError as error:
        yield Fault((*place, *error.path), str(error))


def _is_base64(data: str) -> bool:
    try:
        return bool(base64.b64decode("".join(data.split()), validate=True))
    except (binascii.Error, ValueError):
        return False


def _media_type(block: Mapping[str, Any]) -> str | None:
    if isinstance(given := block.get("mimeType"), str):
        return given
    if isinstance(file := block.get("file"), str):
        return _guessed(file)
    data = str(block.get("data", "")).lstrip()
    if data.startswith("UklGR"):
        return "image/webp" if _decoded_start(data)[8:12] == b"WEBP" else "audio/wav"
    return next((known for start, known in _MAGIC if data.startswith(start)), None)


def _guessed(file: str) -> str | None:
    import mimetypes

    return mimetypes.guess_type(file)[0]


def _decoded_start(data: str) -> bytes:
    return base64.b64decode("".join(data[:64].split())[:16])


def whole_block(block: Any, directory: Path) -> dict[str, Any]:
    """``block``, whose templates are filled in, as MCP has it; files are read. Blocking.

    Raises ``ToolFailure`` when a file cannot be read.
    """
    if isinstance(block, str):
        return {"type": "text", "text": block}
    given = dict(cast("Mapping[str, Any]", block))
    match given["type"]:
        case "image" | "audio":
            given["mimeType"] = _media_type(given)
            given["data"] = "".join(given["data"].split()) if "data" in given else _base64(given, directory)
        case "resource":
            given["resource"] = _whole_resource(dict(given["resource"]), directory)
        case _:
            pass
    given.pop("file", None)
    return given


def _whole_resource(resource: dict[str, Any], directory: Path) -> dict[str, Any]:
    if "file" not in resource:
        return resource
    resource.setdefault("mimeType", _guessed(resource["file"]) or "application/octet-stream")
    data = _read(directory / resource.pop("file"))
    try:
        resource["text"] = data.decode()
    except UnicodeDecodeError:
        resource["blob"] = base64.b64encode(data).decode()
    return resource


def _base64(block: Mapping[str, Any], directory: Path) -> str:
    return base64.b64encode(_read(directory / block["file"])).decode()


def _read(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ToolFailure(
            f"The file {path.name!r} of the answer cannot be read: {reason}",
            user_action="Correct file: in the config, or put the file there.",
        ) from None
    if len(data) > MAX_FILE:
        raise ToolFailure(
            f"The file {path.name!r} of the answer has more than {MAX_FILE:,} bytes",
            user_action="Use a smaller file in the config.",
        )
    return data
