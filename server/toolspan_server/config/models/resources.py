"""``resources`` and ``resource_templates``: content that clients may read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, cast

from typing_extensions import override

from ...common.did_you_mean import nearest
from ...parts.resource import CONTENTS, ResourceContent
from ...problems import Fault, Faulty
from ...schema.constraints import Limits
from ...schema.keys import DATA, FILE_INSIDE, PARTS, only
from ...schema.paths import OUTSIDE, RelativePath, is_inside, path_fault
from ...schema.records import (
    Record,
    key,
)
from ...schema.values import Fraction
from .completions import CompletableConfig
from .tool_options import IconConfig

_Name = Annotated[str, Limits(least=1, most=200)]
_Uri = Annotated[str, Limits(pattern=r"^[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f]+$", most=2_000)]
MediaType = Annotated[str, Limits(pattern=r"^[\w.+-]+/[\w.+*-]+ *(;.*)?$", most=200)]


def _moment(written: str) -> str:
    try:
        datetime.fromisoformat(written)
    except ValueError:
        raise Faulty(
            Fault((), f"{written!r} is no time of ISO 8601", "write one such as 2026-01-31T12:00:00Z")
        ) from None
    return written


class ContentAnnotationsConfig(Record):
    """Hints for clients: audience, importance, last modification."""

    audience: tuple[Literal["user", "assistant"], ...] | None = key(
        "Whom it is meant for.", default=None, inert=DATA
    )
    priority: Fraction | None = key(
        "How important it is, from 0 to 1, which is: always needed.", default=None, inert=DATA
    )
    last_modified: str | None = key(
        "The last modification, in ISO 8601; a file's own time when absent.",
        check=_moment,
        default=None,
        spellings=["last_modified", "lastModified"],
        inert=DATA,
    )

    def written(self) -> dict[str, Any]:
        """The annotations in MCP's form."""
        known = {"audience": self.audience, "priority": self.priority, "lastModified": self.last_modified}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in known.items()
            if value is not None
        }


class OfferedConfig(Record):
    """The keys of an entry that lists show."""

    title: _Name | None = key("A name for people.", default=None, served=True, inert=DATA)
    description: str | None = key(
        "A description, for people and models.", default=None, served=True, inert=DATA
    )
    icons: tuple[IconConfig, ...] | None = key(
        "Pictures that stand for it.", default=None, served=True, inert=PARTS
    )


class _ReadableConfig(OfferedConfig):
    mime_type: MediaType | None = key(
        "Its media type, such as text/markdown; by the file's ending, or the type of content, when absent.",
        default=None,
        spellings=["mime_type", "mimeType"],
        inert=DATA,
    )
    annotations: ContentAnnotationsConfig | None = key("Hints for clients.", default=None, inert=PARTS)
    outside: bool = key(OUTSIDE, default=False, inert=only(False))

    def only_one(self, *names: str) -> str:
        """The only key of ``names`` that is set. Raises ``Faulty``."""
        given = [name for name in names if name in self.model_fields_set]
        if not given:
            raise Faulty(Fault((), "has no content", f"give one of: {', '.join(names)}"))
        if len(given) > 1:
            raise Faulty(Fault((given[1],), f"{given[0]!r} is there too", "keep one of them", on_key=True))
        return given[0]

    def check_path(self, name: str, path: str | None) -> None:
        """Raise ``Faulty`` when ``path``, under the key ``name``, leads out of the config's folder."""
        if path is not None and not self.outside and not is_inside(path):
            raise Faulty(path_fault(name, path))


class ResourceConfig(_ReadableConfig, keys_of=CONTENTS.ordered.values()):
    """A resource: a literal (text, blob or json), a file, or every file that a glob matches."""

    uri: _Uri = key(
        "Its unique URI; of a glob with {path}, which is the file's path below the glob's folder.",
        served=True,
        inert=DATA,
    )
    name: _Name | None = key("Its name; the file's name when absent.", default=None, served=True, inert=DATA)

    @property
    def content(self) -> type[ResourceContent]:
        """The content type of the entry."""
        return CONTENTS.config(self.only_one(*CONTENTS.ordered))

    @override
    def check(self) -> None:
        """Check that there is one content, and only keys that go with it."""
        content = self.content
        if not content.many and ("{" in self.uri or "}" in self.uri):
            raise Faulty(
                Fault(("uri",), "a resource's URI has no variables", "move it to resource_templates")
            )
        for other in CONTENTS.ordered.values():
            for name, message in () if other is content else other.only_here.items():
                if getattr(self, name):
                    raise Faulty(Fault((name,), message, "remove it", on_key=True))
        content.check_entry(self)


class ResourceTemplateConfig(_ReadableConfig):
    """A resource template: a URI with variables, and content rendered from their values."""

    uri_template: str = key(
        "The URI with variables in braces, as in RFC 6570 (levels 1 to 3): users://{id}/profile.",
        least=1,
        most=2_000,
        spellings=["uri_template", "uriTemplate"],
        served=True,
        inert=DATA,
    )
    name: _Name = key("Its name.", served=True, inert=DATA)
    variables: dict[str, CompletableConfig] = key(
        "Completions for the variables.", factory=dict, served=True, inert=PARTS
    )
    text: str | None = key(
        "The content: a template over the variables, such as 'User {{ id }}'.",
        default=None,
        served=True,
        inert=DATA,
    )
    json: Any = key(
        "The content: any value whose texts are templates over the variables; served as JSON.",
        default=None,
        served=True,
        inert=DATA,
    )
    file: RelativePath | None = key(
        "The file with the content, relative to the config's folder, with variables: data/{id}.json.",
        default=None,
        inert=FILE_INSIDE,
    )

    @override
    def check(self) -> None:
        """Check that there is one content, which uses only the URI's variables."""
        content = self.only_one("text", "json", "file")
        known = self._variables()
        faults = list(self._unknown(known))
        if content == "file":
            faults += self._file_faults(known)
        else:
            faults += template_faults({content: getattr(self, content)}, known, "variable")
        if faults:
            raise Faulty(*faults)

    def _variables(self) -> tuple[str, ...]:
        from ...engines.uri_templates import UriTemplate, UriTemplateError

        try:
            return UriTemplate.parse(self.uri_template).variables
        except UriTemplateError as error:
            raise Faulty(Fault(("uri_template",), str(error), "see RFC 6570, levels 1 to 3")) from None

    def _unknown(self, known: tuple[str, ...]) -> Iterator[Fault]:
        for name, variable in self.variables.items():
            if name not in known:
                yield Fault(
                    ("variables", name), f"unknown variable {name!r}", nearest(name, known), on_key=True
                )
            for fault in variable.unknown(name, known):
                yield Fault(("variables", name, *fault.path), fault.message, fault.hint, fault.on_key)

    def _file_faults(self, known: tuple[str, ...]) -> Iterator[Fault]:
        from ...engines.file_names import FileName, FileNameError

        self.check_path("file", self.file)
        try:
            used = FileName.parse(self.file or "").variables
        except FileNameError as error:
            yield Fault(("file",), str(error), "write variables as {name}")
            return
        for name in used:
            if name not in known:
                yield Fault(("file",), f"unknown variable {name!r}", nearest(name, known))


def template_faults(value: Any, known: tuple[str, ...], what: str) -> Iterator[Fault]:
    """The faults of the templates in ``value``, which may use the names ``known``, each a ``what``."""
    from ...engines.templates import TemplateError

    try:
        yield from _unknown_names(value, (), known, what)
    except TemplateError as error:
        yield Fault(error.path, str(error))


def _unknown_names(
    value: Any, path: tuple[str | int, ...], known: tuple[str, ...], what: str
) -> Iterator[Fault]:
    from ...engines.templates import TemplateError, references

    if isinstance(value, str):
        try:
            used = references(value)
        except TemplateError as error:
            raise TemplateError(error.message, error.offset, path) from None
        for name in sorted({str(reference[0]) for reference in used} - set(known)):
            yield Fault(path, f"unknown {what} {name!r}", nearest(name, known))
    elif isinstance(value, Mapping):
        for name, part in cast("Mapping[str, Any]", value).items():
            yield from _unknown_names(part, (*path, name), known, what)
    elif isinstance(value, list | tuple):
        for index, part in enumerate(cast("Sequence[Any]", value)):
            yield from _unknown_names(part, (*path, index), known, what)
