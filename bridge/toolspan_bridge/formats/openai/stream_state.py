"""The reasoning of a streamed message, put together from its pieces as the whole message would hold it."""

from __future__ import annotations

from typing import Any

from ..shared.json_values import as_list, objects, text
from ..shared.replies.stream import TextPieces
from .state import DETAILS, TEXTS, thinking_text

_JOINED = ("text", "summary", "data")


class StatePieces:
    """What ``state_of`` reads, from the pieces of a stream."""

    def __init__(self) -> None:
        self._texts: dict[str, TextPieces] = {}
        self._details: list[_Detail] = []
        self._content: _Content | None = None

    def add(self, delta: dict[str, Any], before: TextPieces) -> str:
        """The piece's part of the state is kept; returns the reasoning in it that can be shown.

        ``before`` is the text that came until now.
        """
        shown = ""
        for field in TEXTS:
            if piece := text(delta.get(field)):
                added = self._texts.setdefault(field, TextPieces()).add(piece)
                shown = shown or added
        for detail in objects(delta.get(DETAILS)):
            self._detail(detail)
        content = delta.get("content")
        thought = thinking_text(content) if as_list(content) else ""
        if self._content is None and thought:
            self._content = _Content(before.text)
        if self._content is not None:
            self._content.add(content)
        return shown or thought

    @property
    def fields(self) -> dict[str, Any]:
        """The members of the whole message, ``content`` only if there is thinking in it."""
        whole: dict[str, Any] = {field: joined.text for field, joined in self._texts.items() if joined.text}
        if self._details:
            whole[DETAILS] = [detail.body for detail in self._details]
        return whole if self._content is None else {**whole, "content": self._content.chunks}

    def _detail(self, piece: dict[str, Any]) -> None:
        for detail in reversed(self._details):
            if detail.goes_on(piece):
                detail.add(piece)
                return
        self._details.append(_Detail(piece))


class _Detail:
    """One entry of ``reasoning_details``. Its texts come in pieces, its signature in the last of them."""

    def __init__(self, piece: dict[str, Any]) -> None:
        self._fields: dict[str, Any] = {}
        self._texts: dict[str, TextPieces] = {}
        self.add(piece)

    def goes_on(self, piece: dict[str, Any]) -> bool:
        """Whether ``piece`` is more of this entry: of its type, its index and its id, as far as they are
        given. Encrypted data without both is an entry of its own.
        """
        given = [(self._fields.get(key), piece.get(key)) for key in ("index", "id")]
        known = any(mine is not None and mine == its for mine, its in given)
        differs = any(mine is not None and its is not None and mine != its for mine, its in given)
        nothing = all(mine is None and its is None for mine, its in given) and "data" not in piece
        return self._fields.get("type") == piece.get("type") and not differs and (known or nothing)

    def add(self, piece: dict[str, Any]) -> None:
        for key, value in piece.items():
            if key in _JOINED and isinstance(value, str):
                self._texts.setdefault(key, TextPieces()).add(value)
            if value is not None or key not in self._fields:
                self._fields[key] = value

    @property
    def body(self) -> dict[str, Any]:
        return {**self._fields, **{key: pieces.text for key, pieces in self._texts.items()}}


class _Chunk:
    """One chunk of a content list. A text or thinking chunk comes in pieces; thinking is a list of chunks
    too, references among its texts."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._fields: dict[str, Any] = {}
        self._text = TextPieces()
        self._thinking = _Content("") if kind == "thinking" else None

    def add(self, piece: dict[str, Any]) -> None:
        self._fields |= {key: value for key, value in piece.items() if value is not None}
        self._text.add(text(piece.get("text")))
        if self._thinking is not None:
            self._thinking.add(piece.get("thinking"))

    @property
    def body(self) -> dict[str, Any]:
        if self._thinking is not None:
            return {**self._fields, "thinking": self._thinking.chunks}
        said = {"type": "text", "text": self._text.text} if self.kind == "text" else {}
        return {**self._fields, **said}


class _Content:
    """A content that turned out to be a list of chunks, after the text ``before`` them."""

    def __init__(self, before: str) -> None:
        self._chunks: list[_Chunk] = []
        self.add(before)

    @property
    def chunks(self) -> list[dict[str, Any]]:
        return [chunk.body for chunk in self._chunks]

    def add(self, content: Any) -> None:
        pieces = [{"type": "text", "text": content}] if as_list(content) is None else objects(content)
        for piece in pieces:
            self._add(text(piece.get("type")) or "text", piece)

    def _add(self, kind: str, piece: dict[str, Any]) -> None:
        if kind == "text" and not text(piece.get("text")):
            return
        last = self._chunks[-1] if self._chunks else None
        if last is None or last.kind != kind or kind not in ("text", "thinking"):
            last = _Chunk(kind)
            self._chunks.append(last)
        last.add(piece)
