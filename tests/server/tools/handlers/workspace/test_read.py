"""``Read``: text by pages, in any encoding; images, PDF files and notebooks; nothing else."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.pdf import pdf_with
from tests.support.workspaces import WorkspaceTools, workspace_tools, write_files

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.3.4")]

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
LIMITS = {
    "read_lines": 5,
    "line_characters": 20,
    "read_bytes": 60,
    "media_bytes": 2_000,
    "scan_bytes": 5_000_000,
}
SPARSE = 20 * 1024**3


@pytest.fixture
async def tools(tmp_path: Path) -> AsyncIterator[WorkspaceTools]:
    async with workspace_tools(tmp_path / "ws", limits=LIMITS) as found:
        yield found


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "ws", {"a.txt": "one\ntwo\nthree\n"})


async def blocks(tools: WorkspaceTools, path: str, **more: Any) -> list[Any]:
    result = await tools.result("Read", file_path=path, **more)
    assert result.success, result.error
    return list(result.content or ())


async def texts(tools: WorkspaceTools, path: str, **more: Any) -> list[str]:
    return [block["text"] for block in await blocks(tools, path, **more)]


async def test_a_text_has_the_numbers_of_its_lines(tools: WorkspaceTools) -> None:
    assert await texts(tools, "a.txt") == ["     1\tone\n     2\ttwo\n     3\tthree"]


@pytest.mark.parametrize(
    ("offset", "limit", "shown"),
    [(2, None, ["     2\ttwo\n     3\tthree"]), (3, 1, ["     3\tthree"])],
)
async def test_a_page_starts_and_ends_where_it_is_asked_to(
    tools: WorkspaceTools, offset: int, limit: int | None, shown: list[str]
) -> None:
    more = {} if limit is None else {"limit": limit}
    assert await texts(tools, "a.txt", offset=offset, **more) == shown


async def test_what_follows_is_said_in_a_block_of_its_own(tools: WorkspaceTools, folder: Path) -> None:
    write_files(folder, {"long.txt": "".join(f"line {number}\n" for number in range(1, 100))})
    lines, note = await texts(tools, "long.txt")
    assert lines.splitlines()[-1] == "     5\tline 5"
    assert "go on with offset=6" in note
    lines, note = await texts(tools, "long.txt", offset=6, limit=1_000)
    assert (lines.splitlines()[0], lines.count("\n")) == ("     6\tline 6", 4)
    last = await texts(tools, "long.txt", offset=99)
    assert last == ["    99\tline 99"]


@pytest.mark.parametrize("offset", [5, 1_000_000])
async def test_a_line_that_is_not_there_is_an_error(tools: WorkspaceTools, offset: int) -> None:
    refused = await tools.refused("Read", file_path="a.txt", offset=offset)
    assert refused.startswith("offset_out_of_range: a.txt has 3 lines")


async def test_a_long_line_is_cut_and_the_next_one_is_found(tools: WorkspaceTools, folder: Path) -> None:
    write_files(folder, {"wide.txt": "x" * 3_000_000 + "\nnext\n"})
    lines, note = await texts(tools, "wide.txt")
    assert lines == "     1\t" + "x" * 20 + "\n     2\tnext"
    assert "limits.line_characters (20): line 1." in note


async def test_a_page_is_bounded_by_its_bytes_too(tools: WorkspaceTools, folder: Path) -> None:
    write_files(folder, {"bytes.txt": "\n".join(["y" * 19] * 5)})
    lines, note = await texts(tools, "bytes.txt")
    assert (lines.count("\n"), "offset=4" in note) == (2, True)


async def test_a_line_that_is_too_far_away_is_an_error_that_names_the_limit(
    tools: WorkspaceTools, folder: Path
) -> None:
    write_files(folder, {"far.txt": b"z" * 6_000_000 + b"\nend\n"})
    refused = await tools.refused("Read", file_path="far.txt", offset=2)
    assert refused.startswith("too_large: far.txt has 6,000,005 bytes, more than limits.scan_bytes")


@pytest.mark.parametrize(
    ("data", "text", "note"),
    [
        (b"\xef\xbb\xbfbom\n", "bom", "utf-8 with a byte order mark"),
        ("grün\r\n".encode("utf-16"), "grün", "utf-16-le with a byte order mark"),
        ("ascii text\n".encode("utf-16-be"), "ascii text", "utf-16-be"),
        (b"caf\xe9\n", "café", "latin-1"),
    ],
)
async def test_an_encoding_other_than_utf8_is_read_and_said(
    tools: WorkspaceTools, folder: Path, data: bytes, text: str, note: str
) -> None:
    write_files(folder, {"e.txt": data})
    assert await texts(tools, "e.txt") == [f"     1\t{text}", f"(Its encoding is {note}.)"]


async def test_an_empty_file_is_said_to_be_empty(tools: WorkspaceTools, folder: Path) -> None:
    write_files(folder, {"empty.txt": b""})
    assert await texts(tools, "empty.txt") == ["(The file is empty.)"]


@pytest.mark.parametrize("data", [b"\x7fELF\x02\x01\x01" + bytes(200), bytes(range(256)) * 4, bytes(50)])
async def test_what_is_no_text_is_refused_kindly(tools: WorkspaceTools, folder: Path, data: bytes) -> None:
    write_files(folder, {"program": data})
    refused = await tools.refused("Read", file_path="program")
    assert refused.startswith("binary_file: program is no text: it holds ")
    assert f"a file of {len(data):,} bytes" in refused


async def test_an_image_and_a_pdf_file_are_content_of_their_type(tools: WorkspaceTools, folder: Path) -> None:
    write_files(folder, {"dot.png": PNG, "d r.pdf": pdf_with("Hello")})
    [image] = await blocks(tools, "dot.png")
    assert (image["type"], image["mimeType"], base64.b64decode(image["data"])) == ("image", "image/png", PNG)
    [document] = await blocks(tools, "d r.pdf")
    assert document["resource"]["mimeType"] == "application/pdf"
    assert document["resource"]["uri"] == "workspace:///d%20r.pdf"
    assert base64.b64decode(document["resource"]["blob"]).startswith(b"%PDF-")


async def test_an_image_that_is_too_large_names_the_limit(tools: WorkspaceTools, folder: Path) -> None:
    write_files(folder, {"big.png": PNG + bytes(3_000)})
    assert "more than limits.media_bytes (2,000)" in await tools.refused("Read", file_path="big.png")


async def test_a_notebook_is_shown_as_its_cells(tools: WorkspaceTools, folder: Path) -> None:
    image = base64.b64encode(PNG).decode()
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
        {"output_type": "display_data", "data": {"image/png": image + "\n"}, "metadata": {}},
    ]
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["# Title"]},
        {"cell_type": "code", "metadata": {}, "source": "print(1)", "outputs": outputs, "execution_count": 1},
    ]
    notebook: dict[str, Any] = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    write_files(folder, {"n.ipynb": json.dumps(notebook)})
    async with workspace_tools(folder) as wide:
        text, picture = await blocks(wide, "n.ipynb")
    assert text["text"] == (
        "[cell 1 of 2 · markdown · id intro]\n# Title\n\n"
        "[cell 2 of 2 · code · id cell-1]\nprint(1)\n[output]\n1\n\n[output]\n(image/png)"
    )
    assert picture == {"type": "image", "mimeType": "image/png", "data": image}


async def test_what_is_no_notebook_is_shown_as_text(tools: WorkspaceTools, folder: Path) -> None:
    write_files(folder, {"odd.ipynb": "{}"})
    assert await texts(tools, "odd.ipynb") == ["     1\t{}"]


@pytest.mark.parametrize("text", ["", "first\n"])
async def test_a_file_of_twenty_gigabytes_is_answered_from_its_first_bytes(
    tools: WorkspaceTools, folder: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (folder / "sparse").open("wb") as file:
        file.write(text.encode() * 20_000)
        file.truncate(SPARSE)
    read = 0

    def counted(descriptor: int, length: int, offset: int, pread: Any = os.pread) -> bytes:
        nonlocal read
        data: bytes = pread(descriptor, length, offset)
        read += len(data)
        return data

    monkeypatch.setattr(os, "pread", counted)
    result = await tools.result("Read", file_path="sparse", limit=1)
    assert result.success == bool(text)
    assert read < 4_000_000


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("sub", "not_a_file: sub is a folder, not a regular file"),
        ("none.txt", "file_not_found: none.txt does not exist"),
        ("a.txt/b", "file_not_found: a.txt/b does not exist"),
        ("../ws/a.txt", "outside_workspace: ../ws/a.txt is outside of the workspace"),
    ],
)
async def test_what_cannot_be_read_is_said(tools: WorkspaceTools, folder: Path, path: str, told: str) -> None:
    (folder / "sub").mkdir()
    assert await tools.refused("Read", file_path=path) == told


@pytest.mark.requirement("I12.3.2")
@pytest.mark.parametrize("name", [b"two\nlines.txt", b"fdp.\xe2\x80\xae.txt", b"caf\xe9.txt", b'"q".txt'])
async def test_an_odd_name_is_listed_so_that_it_can_be_read(
    tools: WorkspaceTools, folder: Path, name: bytes
) -> None:
    write_files(folder, {os.fsdecode(name): "found"})
    listed = await tools.good("Glob", pattern="*")
    [spelling] = [each for each in listed["files"] if each != "a.txt"]
    assert spelling.isprintable()
    assert await texts(tools, spelling) == ["     1\tfound"]
