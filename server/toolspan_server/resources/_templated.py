"""Resource templates: resources whose content is rendered from the values in a URI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from ..engines.documents._globs import Selection
from ..engines.file_names import FileName
from ..engines.templates import RenderFailure, compiled
from ..engines.uri_templates import UriTemplate
from ._content import (
    JSON,
    TEXT,
    as_json,
    content,
    media_type_of,
)
from ._entries import Stamped, within
from ._folder import FileEntry, Folder
from ._metadata import described, hints
from ._optional_values import filled
from .errors import ResourceNotFound, ResourceUnreadable

if TYPE_CHECKING:
    from ..config.models.resources import ResourceTemplateConfig


@dataclass
class TemplatedResource:
    """The resources of one template: rendered text or JSON."""

    config: ResourceTemplateConfig
    folder: Folder | None = None

    @cached_property
    def template(self) -> UriTemplate:
        """The URI template."""
        return UriTemplate.parse(self.config.uri_template)

    @cached_property
    def _tree(self) -> Any:
        if self.config.text is not None:
            return compiled(self.config.text, texts=True)
        return compiled(self.config.json)

    def described(self) -> dict[str, Any]:
        """The resource template in MCP's form."""
        config = self.config
        return described(
            config,
            uriTemplate=config.uri_template,
            name=config.name,
            mimeType=self._media_type(),
            annotations=hints(config.annotations),
        )

    def known(self, variable: str, given: Mapping[str, str]) -> Iterator[str]:
        """The values of ``variable`` for which a resource exists, with the other variables as ``given``."""
        return iter(())

    def listed(self) -> Iterator[dict[str, Any]]:
        return iter(())

    def stamps(self) -> Iterator[Stamped]:
        return iter(())

    def has(self, uri: str) -> bool:
        return self.template.match(uri) is not None

    def read(self, uri: str, limit: int) -> dict[str, Any]:
        values = self.template.match(uri)
        if values is None:
            raise ResourceNotFound(uri)
        return self._made(uri, values, limit)

    def _media_type(self) -> str | None:
        return self.config.mime_type or (JSON if self.config.text is None else TEXT)

    def _made(self, uri: str, values: Mapping[str, str], limit: int) -> dict[str, Any]:
        try:
            given = {name: value for name, value in values.items() if value}
            made = filled(self._tree, given, frozenset(values), limit)
        except RenderFailure as failure:
            raise ResourceUnreadable(uri, failure.error) from None
        text = as_json(made) if self.config.text is None else str(made)
        return within({"uri": uri, "mimeType": self._media_type(), "text": text}, limit)


class TemplatedFile(TemplatedResource):
    """The resources of one template: files, chosen by the values."""

    def __init__(self, config: ResourceTemplateConfig, base: Path) -> None:
        super().__init__(config)
        self.name = FileName.parse(config.file or "")
        recursive = "/" in "".join(self.name.parts[::2]) or bool(self.template.crossing)
        selection = Selection(["**/*"])
        self.files = Folder(config.uri_template, base, self.name.folder, selection, config.outside, recursive)
        self.folder = self.files

    @override
    def known(self, variable: str, given: Mapping[str, str]) -> Iterator[str]:
        for values, _ in self._files():
            if variable in values and all(
                given.get(name, value) == value for name, value in values.items() if name != variable
            ):
                yield values[variable]

    @override
    def stamps(self) -> Iterator[Stamped]:
        return ((self.template.expand(values), entry.stamp) for values, entry in self._files())

    def _files(self) -> Iterator[tuple[dict[str, str], FileEntry]]:
        """The files that can be requested, each with its values."""
        for entry in self.files.entries():
            values = self.name.match(entry.path, self.template.crossing)
            if values is not None and self.name.render(values, self.template.crossing) == entry.path:
                yield values, entry

    @override
    def _media_type(self) -> str | None:
        return self.config.mime_type or media_type_of(self.config.file or "")

    @override
    def _made(self, uri: str, values: Mapping[str, str], limit: int) -> dict[str, Any]:
        path = self.name.render(values, self.template.crossing)
        if path is None:
            raise ResourceNotFound(uri)
        data = self.files.read(path, uri, limit)
        return content(uri, self.config.mime_type or media_type_of(path), data)
