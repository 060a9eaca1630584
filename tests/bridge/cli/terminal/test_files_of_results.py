"""Images, sounds and other files that tools and models give: shown on terminals that can, else kept."""

from __future__ import annotations

import base64
import json
import re
import stat
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
import yaml

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.cli import toolspan
from tests.support.terminal import Terminal
from tests.support.workspace_chats import script
from toolspan_bridge.cli.terminal.media.pictures import picture_size
from toolspan_bridge.conversation.files import MOST_BYTES, MOST_FILES, keep_file
from toolspan_bridge.errors import StoreError

KITTY = re.compile(r"\x1b_G([^;\x1b]*);([A-Za-z0-9+/=]*)\x1b\\")
ITERM = re.compile(r"\x1b\]1337;File=([^:\x07]*):([A-Za-z0-9+/=]*)\x07")
IN_KITTY = {"TERM": "xterm-kitty", "TMUX": "", "STY": "", "TERM_PROGRAM": ""}
IN_ITERM = {"TERM": "xterm-256color", "TMUX": "", "STY": "", "TERM_PROGRAM": "iTerm.app"}


def chunk(name: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4) + name + data + zlib.crc32(name + data).to_bytes(4)


def png(width: int = 40, height: int = 20, noise: bytes = b"") -> bytes:
    head = chunk(b"IHDR", width.to_bytes(4) + height.to_bytes(4) + bytes((8, 0, 0, 0, 0)))
    rows = zlib.compress(bytes((width + 1) * min(height, 100)))
    text = chunk(b"tEXt", noise) if noise else b""
    return b"\x89PNG\r\n\x1a\n" + head + text + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def jpeg(width: int = 40, height: int = 20) -> bytes:
    frame = b"\xff\xc0\x00\x0b\x08" + height.to_bytes(2) + width.to_bytes(2) + b"\x01\x01\x11\x00"
    return b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00" + frame + b"\xff\xd9"


def webp(kind: bytes, body: bytes) -> bytes:
    return b"RIFF" + (22).to_bytes(4, "little") + b"WEBP" + kind + (10).to_bytes(4, "little") + body


GIF = b"GIF89a" + (40).to_bytes(2, "little") + (20).to_bytes(2, "little") + bytes(3) + b";"
WAV = b"RIFF\x10\x00\x00\x00WAVEfmt " + bytes(16)
PDF = b"%PDF-1.7\n"


def block(data: bytes, mime: str) -> dict[str, Any]:
    return {"type": mime.partition("/")[0], "data": base64.b64encode(data).decode(), "mimeType": mime}


def folder_of(tmp_path: Path, *blocks: dict[str, Any]) -> str:
    """A config whose tool ``draw`` gives ``blocks``, and the model that calls it."""
    tool = {
        "name": "draw",
        "description": "Draw",
        "implementation": {"type": "mock", "content": list(blocks)},
    }
    (tmp_path / "toolspan.yaml").write_text(yaml.safe_dump({"tools": {"registry": [tool]}}))
    return script(tmp_path, ("draw", {}), "Done.")


def asked(
    tmp_path: Path, model: str, environment: dict[str, str], *options: str, columns: int = 100
) -> Terminal:
    """The terminal after the question was answered."""
    arguments = ("ask", "Draw", "--trust", "-m", model, *options)
    with Terminal(*arguments, cwd=tmp_path, size=(40, columns), environment=environment) as terminal:
        assert terminal.ended() == 0
    return terminal


def kept(tmp_path: Path) -> list[Path]:
    return sorted(tmp_path.glob(".toolspan/conversations/*.files/*"))


def plain(shown: str) -> str:
    """Without styles, and without what was waited for."""
    return re.sub(r"\x1b\[[0-9;]*[mKJ]", "", shown).replace("\r\n", "\n")


@pytest.mark.long
@pytest.mark.requirement("I13.4.48")
def test_where_a_terminal_shows_no_images_each_file_is_kept_and_its_path_named(tmp_path: Path) -> None:
    text = {"type": "text", "text": "as asked"}
    resource = {"uri": "a:b", "mimeType": "application/pdf", "blob": base64.b64encode(PDF).decode()}
    model = folder_of(
        tmp_path,
        text,
        block(png(), "image/png"),
        block(WAV, "audio/wav"),
        {"type": "resource", "resource": resource},
    )
    shown = plain(asked(tmp_path, model, {"TERM": "xterm-256color", "TERM_PROGRAM": ""}).shown)
    names = ["1-draw.png", "2-draw.wav", "3-draw.pdf"]
    assert [path.name for path in kept(tmp_path)] == names
    assert [path.read_bytes() for path in kept(tmp_path)] == [png(), WAV, PDF]
    assert "← as asked  " in shown and "\n  image/png, 40×20, " in shown
    for path in kept(tmp_path):
        assert f": {path.relative_to(tmp_path)}\n" in shown
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    again = asked(tmp_path, model, {"TERM": "dumb"}, "--continue").shown
    assert [path.name for path in kept(tmp_path)] == [*names, "4-draw.png", "5-draw.wav", "6-draw.pdf"]
    assert "4-draw.png" in again and "\x1b" not in again
    assert toolspan("conversations", "delete", "latest", "--yes", cwd=tmp_path).code == 0
    assert not list(tmp_path.glob(".toolspan/conversations/*.files"))


@pytest.mark.long
@pytest.mark.requirement("I13.4.49")
def test_kitty_and_iterm2_show_the_image_that_came_and_nothing_is_written(tmp_path: Path) -> None:
    large = png(noise=bytes(range(256)) * 40)
    model = folder_of(tmp_path, block(large, "image/png"), block(jpeg(), "image/jpeg"))
    shown = asked(tmp_path, model, IN_KITTY, columns=60).shown
    pieces = KITTY.findall(shown)
    assert base64.b64decode("".join(data for _, data in pieces)) == large
    assert pieces[0][0] == "a=T,f=100,q=2,c=5,m=1" and pieces[-1][0] == "m=0" and len(pieces) > 2
    assert [path.name for path in kept(tmp_path)] == ["1-draw.jpg"]  # kitty shows PNG only
    kept(tmp_path)[0].unlink()
    shown = asked(tmp_path, model, IN_ITERM, columns=60).shown
    assert [base64.b64decode(data) for _, data in ITERM.findall(shown)] == [large, jpeg()]
    assert "image/jpeg, 40×20" in plain(shown) and not kept(tmp_path)
    assert "inline=1" in shown and "width=5;" in shown


@pytest.mark.long
@pytest.mark.requirement("I13.4.49")
@pytest.mark.parametrize(
    "environment",
    [
        {"TERM": "tmux-256color", "TERM_PROGRAM": "iTerm.app"},
        {**IN_KITTY, "TMUX": "/tmp/tmux"},
        {**IN_ITERM, "TOOLSPAN_IMAGES": "none"},
        {"TERM": "dumb", "TOOLSPAN_IMAGES": "kitty"},
        {"TERM": "xterm", "TERM_PROGRAM": "", "KITTY_WINDOW_ID": "1"},  # another terminal, started in kitty
    ],
)
def test_where_it_is_not_sure_that_the_terminal_shows_images_none_is_written(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    shown = asked(tmp_path, folder_of(tmp_path, block(png(), "image/png")), environment).shown
    assert "\x1b_G" not in shown and "1337" not in shown
    assert [path.name for path in kept(tmp_path)] == ["1-draw.png"]


@pytest.mark.long
@pytest.mark.requirement("I13.4.49")
def test_a_narrow_terminal_gets_a_path_and_a_pipe_only_the_words(tmp_path: Path) -> None:
    model = folder_of(tmp_path, block(png(), "image/png"))
    assert "\x1b_G" not in asked(tmp_path, model, IN_KITTY, columns=39).shown
    [path] = kept(tmp_path)
    path.unlink()
    ran = toolspan("ask", "Draw", "--trust", "-m", model, cwd=tmp_path, **IN_KITTY)
    assert ran.out == "Done.\n" and f"← [image/png, 40×20, {len(png())} B]  (" in ran.err
    assert not kept(tmp_path)
    data = json.loads(toolspan("ask", "Draw", "--trust", "-m", model, "--json", cwd=tmp_path).out)
    assert data["tool_calls"][0]["result"]["result"] == [block(png(), "image/png")]


@pytest.mark.long
@pytest.mark.requirement("I13.4.50")
def test_what_is_no_image_of_its_type_or_damaged_or_huge_never_goes_to_the_terminal(tmp_path: Path) -> None:
    damaged = png()[:-20] + b"\x07" + png()[-19:]
    hostile = [
        block(b"\x1b]0;owned\x07" * 9, "image/png"),
        block(png(), "image/gif"),
        block(damaged, "image/png"),
        block(png()[:-1], "image/png"),
        block(png() + b"\x1b[2J", "image/png"),
        block(png(30_000, 2), "image/png"),
        block(jpeg()[:12], "image/jpeg"),
        block(GIF[:8], "image/gif"),
    ]
    shown = asked(tmp_path, folder_of(tmp_path, *hostile), IN_ITERM).shown
    assert "1337" not in shown and "owned" not in shown and "\x1b[2J" not in shown
    assert [path.suffix for path in kept(tmp_path)] == [
        ".bin", ".png", ".png", ".png", ".png", ".png", ".jpg", ".gif",
    ]  # fmt: skip
    assert "image/png, said to be image/gif" in shown and "damaged or too large" in shown


@pytest.mark.long
@pytest.mark.requirement("I13.4.48")
def test_of_a_conversation_that_is_not_saved_no_file_is_kept_and_that_is_said(tmp_path: Path) -> None:
    model = folder_of(tmp_path, block(png(), "image/png"))
    shown = plain(asked(tmp_path, model, {"TERM": "xterm", "TERM_PROGRAM": ""}, "--no-save").shown)
    assert "← 1 file  " in shown and "not kept, as the conversation is not saved" in shown
    assert not list(tmp_path.rglob("*.png"))


@pytest.mark.long
@pytest.mark.requirement("I13.4.49")
def test_an_image_within_an_answer_is_shown_or_kept_like_that_of_a_tool(tmp_path: Path) -> None:
    encoded = base64.b64encode(png()).decode()
    model = script(tmp_path, f"Look: ![a plot](data:image/png;base64,{encoded}) and more.")
    shown = asked(tmp_path, model, IN_KITTY).shown
    assert "Look: a plot (data:image/png;base64,…) and more." in plain(shown)
    assert [base64.b64decode(data) for _, data in KITTY.findall(shown)] == [png()]


@pytest.mark.requirement("I13.4.48")
def test_files_are_bounded_in_number_and_bytes_and_none_is_written_over(tmp_path: Path) -> None:
    folder = tmp_path / "talk.files"
    (tmp_path / "elsewhere").write_bytes(b"mine")
    first = keep_file(folder, "../a b", ".png", b"1")
    assert first == folder / "1-___a_b.png"
    (folder / "2-x.bin").symlink_to(tmp_path / "elsewhere")
    assert keep_file(folder, "x", ".bin", b"2") == folder / "3-x.bin"
    assert (tmp_path / "elsewhere").read_bytes() == b"mine"
    with pytest.raises(StoreError, match=r"full.*bytes are kept"):
        keep_file(folder, "x", ".bin", bytes(MOST_BYTES))
    for _ in range(MOST_FILES - 2):
        keep_file(folder, "x", ".bin", b"2")
    with pytest.raises(StoreError, match="full"):
        keep_file(folder, "x", ".bin", b"2")


@pytest.mark.requirement("I13.4.50")
@pytest.mark.parametrize(
    ("mime", "data"),
    [
        ("image/png", png()),
        ("image/gif", GIF),
        ("image/jpeg", jpeg()),
        ("image/webp", webp(b"VP8 ", b"\x00\x00\x00\x9d\x01\x2a\x28\x00\x14\x00")),
        ("image/webp", webp(b"VP8L", b"\x2f" + (39 | 19 << 14).to_bytes(4, "little") + bytes(5))),
        ("image/webp", webp(b"VP8X", bytes(4) + (39).to_bytes(3, "little") + (19).to_bytes(3, "little"))),
    ],
)
def test_the_size_of_a_picture_is_read_from_each_format_and_of_no_beginning_of_one(
    mime: str, data: bytes
) -> None:
    assert picture_size(mime, data) == (40, 20)
    head = 30 if mime == "image/jpeg" else len(data)
    assert {picture_size(mime, data[:length]) for length in range(min(head, 13))} == {None}
