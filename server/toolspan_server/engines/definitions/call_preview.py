"""What a person is shown of a tool call before they allow it: made once, for every place that shows it.

The server makes one for its own question (MCP elicitation) and for our own client, which asks for it; the
terminal, the page and the API show that very one. All texts in it are written out: nothing that cannot be
seen is in any of them, whoever made it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar, cast, get_args

from ...common.beside_loop import LARGE_BYTES, run_beside
from ...common.visible import written_out, written_out_json, written_out_line

PREVIEW_METHOD = "dev.toolspan/preview"
"""The MCP request by which our own client asks a server of our own how it would run a call."""

SHOWN_META = "dev.toolspan/shown"
"""The key of a call's ``_meta`` by which a client says that the call was allowed on its side: the ``digest``
of the preview that a person saw then; empty where nobody had to be shown one, or it has none."""

T = TypeVar("T")
SectionKind = Literal["text", "code", "diff", "json"]
RowStyle = Literal["title", "fact", "warning", "text", "added", "removed", "hunk"]

_DIFF_STYLES: dict[str, RowStyle] = {"+": "added", "-": "removed", "@": "hunk"}


class Row(NamedTuple):
    """A line of a preview as text."""

    text: str
    style: RowStyle = "text"


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a preview: its ``label``, and ``text`` of any number of lines."""

    kind: SectionKind
    label: str
    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", written_out_line(self.label))
        object.__setattr__(self, "text", written_out(self.text))

    def rows(self) -> list[Row]:
        """The lines, indented; a text of one line is beside its label."""
        lines = self.text.split("\n")
        if self.kind == "diff":
            styled = [Row("  " + line, _DIFF_STYLES.get(line[:1], "text")) for line in lines]
            return [Row(f"  {self.label}:"), *styled] if self.label else styled
        if len(lines) == 1 and self.kind != "json":
            return [Row(f"  {self.label}: {lines[0]}")]
        return [Row(f"  {self.label}:"), *(Row(f"    {line}") for line in lines)]


@dataclass(frozen=True, slots=True)
class CallPreview:
    """A call as it will run: a ``title``, ``facts`` and ``warnings`` in sentences, and ``sections``, the most
    important first. None of the arguments is left out of them.

    ``basis`` stands for what the preview was made from beside the arguments, such as the content of a file;
    ``digest`` changes with it and with the sections. A preview that no executor made has no basis.
    """

    sections: tuple[Section, ...] = ()
    title: str = ""
    facts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    basis: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", written_out_line(self.title))
        for name in ("facts", "warnings"):
            object.__setattr__(self, name, tuple(map(written_out_line, getattr(self, name))))

    @property
    def digest(self) -> str:
        """A hash of the sections, and of what they were made from; empty without a ``basis``."""
        if not self.basis:
            return ""
        import hashlib

        whole = json.dumps([self.as_dict()["sections"], self.basis], sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()

    def rows(self) -> list[Row]:
        """All of it, line by line."""
        return [*self.head_rows(), *(row for section in self.sections for row in section.rows())]

    def head_rows(self) -> Iterator[Row]:
        """The title, the facts and the warnings."""
        if self.title:
            yield Row(self.title, "title")
        yield from (Row(f"  {fact}", "fact") for fact in self.facts)
        yield from (Row(f"  {warning}", "warning") for warning in self.warnings)

    def as_text(self) -> str:
        """All of it, as one text."""
        return "\n".join(row.text for row in self.rows())

    def as_dict(self) -> dict[str, Any]:
        """``{"title", "facts", "warnings", "sections": [{"kind", "label", "text"}]}``."""
        sections = [{"kind": each.kind, "label": each.label, "text": each.text} for each in self.sections]
        lists = {"facts": list(self.facts), "warnings": list(self.warnings)}
        return {"title": self.title, **lists, "sections": sections}

    def headed(self, title: str, facts: Iterable[str] = (), warnings: Iterable[str] = ()) -> CallPreview:
        """The same under ``title``, with further ``facts`` and ``warnings`` before its own."""
        return replace(self, title=title, facts=(*facts, *self.facts), warnings=(*warnings, *self.warnings))

    def with_sections(self, sections: Iterable[Section]) -> CallPreview:
        """The same, with further ``sections`` after its own."""
        return replace(self, sections=(*self.sections, *sections))


def plain_preview(arguments: Mapping[str, Any], *warnings: str) -> CallPreview:
    """A call of which nothing is known but its ``arguments``: they are shown whole, as JSON."""
    if not arguments:
        return CallPreview((Section("text", "arguments", "none"),), warnings=warnings)
    return CallPreview((arguments_section(arguments),), warnings=warnings)


async def preview_beside(work: Callable[..., T], *given: Any) -> T:
    """What ``work`` makes of ``given``, a preview that is written out, away from the event loop: it takes a
    microsecond for a character, and a person waits for it in any case."""
    return await run_beside(LARGE_BYTES, partial(work, *given))


def arguments_section(arguments: Mapping[str, Any], label: str = "arguments") -> Section:
    """``arguments`` as JSON."""
    return Section("json", label, json_text(arguments))


def json_text(value: Any) -> str:
    """``value`` as indented JSON in which every character that cannot be seen is an escape."""
    return written_out_json(json.dumps(value, indent=2, ensure_ascii=False))


def preview_from(data: Any) -> tuple[CallPreview, str]:
    """The preview in ``data``, as a server of our own sends it, and its digest. Raises ``ValueError``."""
    known = _members(data)
    sections, digest = known.get("sections"), known.get("digest")
    if not isinstance(sections, list) or not isinstance(digest, str):
        raise ValueError("not a preview of a call")
    found = tuple(_section_from(each) for each in cast("Any", sections))
    facts, warnings = (_texts(known.get(name)) for name in ("facts", "warnings"))
    return CallPreview(found, "", facts, warnings), digest


def _members(data: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", data) if isinstance(data, Mapping) else {}


def _section_from(data: Any) -> Section:
    known = _members(data)
    kind, label, text = (known.get(name) for name in ("kind", "label", "text"))
    if kind not in get_args(SectionKind) or not isinstance(label, str) or not isinstance(text, str):
        raise ValueError("not a section of a preview")
    return Section(cast("SectionKind", kind), label, text)


def _texts(data: Any) -> tuple[str, ...]:
    texts: list[Any] = cast("Any", data) if isinstance(data, list) else []
    return tuple(each for each in texts if isinstance(each, str))
