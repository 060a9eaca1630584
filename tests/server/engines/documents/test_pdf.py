"""PDF: text by page; bad files are refused, and cost no more than their time."""

from __future__ import annotations

import io
from pathlib import Path
from threading import Event, Timer

import pytest

from tests.support.pdf import pdf_with
from toolspan_server.engines.documents._document import Document, UnreadableFile
from toolspan_server.engines.documents._readers import _pdf, read_document

pytestmark = pytest.mark.requirement("I2.4.3")


def read(data: bytes) -> Document:
    return read_document("paper.pdf", data, Event())


@pytest.mark.long
def test_each_page_is_a_section() -> None:
    document = read(pdf_with("Hello decorators", "Second page", title="My paper"))
    assert document.title == "My paper"
    assert [(section.headings, section.text) for section in document.sections] == [
        (("Page 1",), "Hello decorators"),
        (("Page 2",), "Second page"),
    ]


def _encrypted() -> bytes:
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf_with("secret"))))
    writer.encrypt("password", algorithm="RC4-128")
    data = io.BytesIO()
    writer.write(data)
    return data.getvalue()


def test_an_encrypted_file_is_refused() -> None:
    with pytest.raises(UnreadableFile, match="an encrypted PDF"):
        read(_encrypted())


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4\n", b"no pdf at all" * 100, pdf_with("cut off")[:120]])
def test_a_broken_file_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableFile, match="PDF"):
        read(data)


def test_a_file_without_text_is_refused() -> None:
    with pytest.raises(UnreadableFile, match="without text"):
        read(pdf_with(""))


@pytest.fixture
def endless_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "endless.py"
    program.write_text("while True: pass\n")
    monkeypatch.setattr(_pdf, "_CHILD", program)
    return program


@pytest.mark.usefixtures("endless_reader")
def test_a_file_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pdf, "SECONDS", 0.2)
    with pytest.raises(UnreadableFile, match=r"longer than 0\.2 s"):
        read(pdf_with("x") * 2000)


@pytest.mark.usefixtures("endless_reader")
def test_reading_ends_when_the_server_stops() -> None:
    stop = Event()
    timer = Timer(0.2, stop.set)
    timer.start()
    with pytest.raises(UnreadableFile, match="stopped"):
        read_document("paper.pdf", pdf_with("x"), stop)
    timer.join()


def test_a_reader_that_dies_is_a_refused_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "dying.py"
    program.write_text("import os; os.abort()\n")
    monkeypatch.setattr(_pdf, "_CHILD", program)
    with pytest.raises(UnreadableFile, match="ended with status"):
        read(pdf_with("x"))
