"""Images and PDF files, recognised by their first bytes."""

from __future__ import annotations

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)


def media_type_of(data: bytes) -> str | None:
    """The media type of an image or a PDF file that starts with ``data``; ``None`` for anything else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((sort for signature, sort in _SIGNATURES if data.startswith(signature)), None)
