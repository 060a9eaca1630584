"""The fingerprint of a measurement: everything that, when it changes, makes it a measurement of something
else.

Records of different fingerprints are never pooled. A record is stale once a part differs from what is used
now.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self, cast

from ..formats.prompt.wordings import DEFAULT
from ..messages import ToolSpec

if TYPE_CHECKING:
    from ..providers.identity import Identity

__all__ = [
    "PARTS",
    "Fingerprint",
    "fingerprint_of",
    "hash_of",
    "hash_of_offers",
    "hash_of_tools",
    "mode_parts",
    "toolspan_version",
]


@dataclass(frozen=True)
class Fingerprint:
    """What was measured. An empty part is not known, or there is no such thing.

    ``model`` is the model's name at its ``provider``, ``model_version`` the digest or version that the
    provider tells of it; ``base_url`` is where it was asked; ``mode`` is ``native`` or ``prompt``, with the
    ``wording`` of the prompt, or the rendering of native calls where it is not the usual one; ``format`` is
    the wire format; ``sampling`` are the settings of the request, as JSON; ``tools`` and ``suite`` are hashes
    of the offered definitions and of the scenarios; ``toolspan`` is this program's version.
    """

    model: str = ""
    model_version: str = ""
    provider: str = ""
    base_url: str = ""
    mode: str = ""
    wording: str = ""
    format: str = ""
    sampling: str = ""
    tools: str = ""
    suite: str = ""
    toolspan: str = ""

    def as_dict(self) -> dict[str, str]:
        """Each part under its name, as text."""
        return asdict(self)

    @cached_property
    def text(self) -> str:
        """The parts as canonical JSON."""
        return json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"))

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of ``text``, in hexadecimal."""
        return sha256(self.text.encode()).hexdigest()

    @property
    def known(self) -> dict[str, str]:
        """The parts that are not empty."""
        return {name: value for name, value in self.as_dict().items() if value}

    def changed(self, now: Mapping[str, str]) -> tuple[str, ...]:
        """The names of the parts of ``now`` that differ here, in the order of ``PARTS``."""
        mine = self.as_dict()
        return tuple(name for name in PARTS if name in now and now[name] != mine[name])

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The fingerprint that ``text`` was written of; parts of later versions are left out.

        Raises ``ValueError`` when it is none.
        """
        data = json.loads(text)
        if not isinstance(data, dict):
            raise ValueError(f"no fingerprint: {text[:80]!r}")
        parts = cast("dict[str, Any]", data)
        return cls(**{name: str(parts[name]) for name in PARTS if name in parts})


PARTS = tuple(field.name for field in fields(Fingerprint))
"""The names of a fingerprint's parts."""


def fingerprint_of(
    provider: str,
    model: str,
    identity: Identity,
    tools: Iterable[ToolSpec],
    sampling: Mapping[str, Any],
) -> Fingerprint:
    """What is measured when ``model`` of ``provider`` is asked with ``tools``, but for the suite. Of
    ``sampling`` only what is set counts."""
    mode = mode_parts(identity.format_name)
    settings = {name: value for name, value in sampling.items() if value is not None}
    return Fingerprint(
        model=model,
        model_version=identity.version,
        provider=provider,
        base_url=identity.base_url,
        mode=mode["mode"],
        wording=mode["wording"],
        format=mode["format"],
        sampling=json.dumps(settings, sort_keys=True, separators=(",", ":")),
        tools=hash_of_tools(tools),
        toolspan=toolspan_version(),
    )


def mode_parts(format_name: str) -> dict[str, str]:
    """``mode``, ``wording`` and ``format`` of a provider's format, as ``prompt.json-tools:openai``, or
    ``native.cut:openai``."""
    way, _, own = format_name.rpartition(":")
    mode, _, wording = way.partition(".")
    if mode == "prompt":
        wording = wording or DEFAULT
    return {"mode": mode or "native", "wording": wording, "format": own}


def hash_of(value: object) -> str:
    """The SHA-256 of ``value`` as canonical JSON: the same in whatever order the keys are."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return sha256(text.encode()).hexdigest()


def hash_of_tools(tools: Iterable[ToolSpec]) -> str:
    """The hash of the definitions that are offered: names, descriptions and schemas, in whatever order."""
    offered = [[tool.server, tool.name, tool.description, tool.schema, tool.strict] for tool in tools]
    return hash_of(sorted(offered, key=lambda each: (str(each[0]), str(each[1]))))


def hash_of_offers(offers: Iterable[Iterable[ToolSpec]]) -> str:
    """The hash of the definitions that each scenario of a suite offers, where each has tools of its own."""
    return hash_of([hash_of_tools(tools) for tools in offers])


def toolspan_version() -> str:
    """The version of the installed package."""
    from importlib.metadata import version

    return version("toolspan")
