"""``Read``: a file of the workspace."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from ....calls.content import Block, Content
from ....calls.context import Context
from ....engines.registration import handler
from ....parts.reach import OPENED_META
from ._previewing import previews_path
from ._tool import Definition, Options, references, workspace_of

if TYPE_CHECKING:
    from ....engines.workspace import OpenFile, WorkspaceLimits

_FIRST_BYTES = 16

DEFINITION = Definition(
    name="Read",
    description=(
        "Read a file of the workspace. A text is returned with line numbers, a page at a time: continue with "
        "offset when the result says that more lines follow. Images and PDF files are returned as such, a "
        "Jupyter notebook as its cells with their ids and outputs."
    ),
    properties={
        "file_path": {
            "type": "string",
            "description": "Path of the file: relative to the workspace, or absolute",
        },
        "offset": {"type": "integer", "minimum": 1, "description": "Line to start from; the first is 1"},
        "limit": {"type": "integer", "minimum": 1, "description": "Most lines to read"},
    },
    required=("file_path",),
    read_only=True,
    idempotent=True,
)


@handler(
    "Read",
    kind="internal",
    options=Options,
    references=references,
    preview=previews_path("file_path"),
)
def read(arguments: dict[str, Any], context: Context) -> Content:
    """``{"file_path", "offset"?, "limit"?}`` → content blocks: the lines with their numbers, or an image."""
    from ....engines.workspace import Fingerprint
    from ....engines.workspace._media import media_type_of

    workspace = workspace_of(context, arguments)
    place = workspace.place(arguments["file_path"])
    with workspace.open_file(place) as file:
        opened = workspace.other_path(file)
        # Before the content: what changes in between is then not taken as known.
        fingerprint = Fingerprint.of_file(file, workspace.limits)
        sort = media_type_of(file.read(0, _FIRST_BYTES))
        if sort is not None:
            blocks = [_media(file, sort, workspace.limits)]
        elif place.parts[-1].endswith(".ipynb") and "offset" not in arguments and "limit" not in arguments:
            blocks = _notebook(file, workspace.limits)
        else:
            blocks = _lines(file, workspace.limits, arguments.get("offset", 1), arguments.get("limit"))
    workspace.files_read.note(context.caller, place, fingerprint)
    return Content(tuple(blocks), meta={OPENED_META: [opened]} if opened else {})


def _lines(file: OpenFile, limits: WorkspaceLimits, offset: int, limit: int | None) -> list[Block]:
    """The lines as one block; what is to be said about them as another, which no file can forge."""
    from ....engines.workspace._pages import page_of

    page = page_of(file, limits, offset, limit)
    notes: list[str] = []
    if not page.lines:
        notes.append("The file is empty.")
    if page.more:
        after = page.first + len(page.lines)
        notes.append(f"More lines follow in this file of {file.size:,} bytes: go on with offset={after}.")
    if page.cut:
        lines = ", ".join(map(str, page.cut[:10])) + ", …" * (len(page.cut) > 10)
        notes.append(f"Cut to limits.line_characters ({limits.line_characters:,}): line {lines}.")
    if page.encoding.codec != "utf-8" or page.encoding.bom:
        mark = " with a byte order mark" if page.encoding.bom else ""
        notes.append(f"Its encoding is {page.encoding.codec}{mark}.")
    text = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(page.lines, page.first))
    blocks = [{"type": "text", "text": text}] if page.lines else []
    return [*blocks, {"type": "text", "text": f"({' '.join(notes)})"}] if notes else list(blocks)


def _media(file: OpenFile, sort: str, limits: WorkspaceLimits) -> Block:
    from ....engines.workspace.opening.errors import too_large

    data = file.read(0, limits.media_bytes + 1)
    if len(data) > limits.media_bytes:
        raise too_large(file.place.path, file.size, "limits.media_bytes", limits.media_bytes)
    encoded = base64.b64encode(data).decode()
    if sort.startswith("image/"):
        return {"type": "image", "data": encoded, "mimeType": sort}
    uri = f"workspace:///{_in_uri(file.place.path)}"
    return {"type": "resource", "resource": {"uri": uri, "mimeType": sort, "blob": encoded}}


def _in_uri(path: str) -> str:
    import os
    from urllib.parse import quote

    return quote(os.fsencode(path.lstrip("/")))


def _notebook(file: OpenFile, limits: WorkspaceLimits) -> list[Block]:
    from ....engines.workspace._pages import whole_text
    from ....engines.workspace.editing.notebooks import Notebook, NotNotebook, cell_texts

    text, _ = whole_text(file, limits)
    try:
        notebook = Notebook.parse(text)
    except NotNotebook:
        return _lines(file, limits, 1, None)
    texts: list[str] = []
    images: list[Block] = []
    room = limits.read_bytes
    for number, (cell, pictures) in enumerate(cell_texts(notebook), 1):
        shown = cell[: limits.line_characters * 10]
        room -= len(shown)
        if room < 0 and texts:
            texts.append(
                f"(Cells {number} to {len(notebook.cells)} are left out, by limits.read_bytes: read the "
                "file's lines with offset.)"
            )
            break
        texts.append(shown + ("… [cut]" if shown != cell else ""))
        images += pictures
    size = 0
    kept = [each for each in images if (size := size + len(each["data"])) <= limits.media_bytes]
    if len(kept) < len(images):
        texts.append(f"({len(images) - len(kept)} images are left out, by limits.media_bytes.)")
    return [{"type": "text", "text": "\n\n".join(texts) or "(The notebook has no cells.)"}, *kept]
