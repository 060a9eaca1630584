"""Looks up models in the store beside a config, which need not be writable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolspan_server.config import Config

from ...errors import UsageError
from ...messages import ToolSpec
from ...providers import Provider, own_providers, split_model
from ..badges import RULE, UNTESTED, Badge, BadgeRule, badge_of, badge_of_model
from ..evidence.records import Record, judged, newest
from ..fingerprint import hash_of_tools, mode_parts
from ..storage.stored_records import read_records
from ..stores import store_of
from .failures_by_tool import FailingTool, failing_tools
from .measured_modes import BetterMode, better_mode
from .present import present_of

__all__ = ["ModeRecord", "ModelStanding", "Standings"]


@dataclass(frozen=True, slots=True)
class ModeRecord:
    """The ``record`` that speaks for a model in one mode, ``native`` or ``prompt`` with its ``wording``, and
    its ``badge``. Both are empty for records of versions that kept no fingerprint."""

    mode: str
    wording: str
    record: Record
    badge: Badge

    def as_dict(self) -> dict[str, Any]:
        """``{"mode", "wording", "badge"}``; empty ones are ``null``."""
        return {"mode": self.mode or None, "wording": self.wording or None, "badge": self.badge.as_dict()}


@dataclass(frozen=True, slots=True)
class ModelStanding:
    """What ``records`` prove of the one model that they are of. ``now`` are the parts of a fingerprint as
    they are now, as far as the config does not tell them: the offered ``tools``, the ``model_version``."""

    config: Config
    path: Path | str
    records: tuple[Record, ...]
    now: Mapping[str, str]
    rule: BadgeRule = RULE

    def badge(self, format_name: str) -> Badge:
        """The badge of the model, asked in the format ``format_name`` (with a prompt before it, or not)."""
        if not self.records:
            return UNTESTED
        now = {**self.now, **mode_parts(format_name)}
        return badge_of_model(judged(self.records, present_of(self.config, now)), self.rule)

    @property
    def judged(self) -> list[Record]:
        """The records, each judged in the mode that it is of."""
        return judged(self.records, present_of(self.config, self.now))

    @property
    def modes(self) -> list[ModeRecord]:
        """The record that speaks for each mode in which the model was tried."""
        groups: dict[tuple[str, str], list[Record]] = {}
        for record in self.judged:
            mark = record.fingerprint
            groups.setdefault((mark.mode, mark.wording) if mark else ("", ""), []).append(record)
        return [
            ModeRecord(*mode, speaks, badge_of(speaks, self.rule))
            for mode, group in groups.items()
            if (speaks := newest(group))
        ]

    def better_mode(self) -> BetterMode | None:
        """The wording by which the model does better than natively, if there is one."""
        return better_mode(self.judged, self.rule.minimum) if self.records else None

    def failing_tools(self, format_name: str) -> tuple[FailingTool, ...]:
        """The tools that the model fails with, asked in the format ``format_name``."""
        mode = mode_parts(format_name)
        mine = [record for record in self.judged if not record.changed and _is_of_mode(record, mode)]
        return failing_tools(mine, self.rule)


class Standings:
    """How models stand by ``config`` with ``tools``; without ``tools``, with those that they were tested
    with. The store is read anew at each question."""

    def __init__(self, config: Config, tools: Iterable[ToolSpec] | None = None) -> None:
        self._config = config
        self.path = store_of(config)
        self.rule = BadgeRule.of(config)
        self._now = {} if tools is None else {"tools": hash_of_tools(tools)}

    async def of(self, provider: Provider, model: str) -> ModelStanding:
        """How ``model`` of ``provider`` stands, which is asked for its version where one was told before.

        Raises ``StoreError`` where the store cannot be read.
        """
        found = self.every().get((provider.name, model)) or self._standing(())
        return await _with_version(found, provider, model)

    def every(self) -> dict[tuple[str, str], ModelStanding]:
        """Provider and model to how it stands, of all that were ever tried; versions are not looked up.

        Raises ``StoreError`` where the store cannot be read.
        """
        grouped: dict[tuple[str, str], list[Record]] = {}
        own = own_providers(self._config)
        for record in read_records(self.path):
            if named := _model_of(record, own):
                grouped.setdefault(named, []).append(record)
        return {named: self._standing(group) for named, group in grouped.items()}

    def _standing(self, records: Iterable[Record]) -> ModelStanding:
        return ModelStanding(self._config, self.path, tuple(records), self._now, self.rule)


async def _with_version(standing: ModelStanding, provider: Provider, model: str) -> ModelStanding:
    """``standing`` with the version of ``model`` that ``provider`` tells now, where a record has one."""
    if not any(record.fingerprint and record.fingerprint.model_version for record in standing.records):
        return standing
    from ...providers.identity import identity_of

    version = (await identity_of(provider, model)).version
    return replace(standing, now={**standing.now, "model_version": version}) if version else standing


def _model_of(record: Record, own: Iterable[str]) -> tuple[str, str] | None:
    """The provider and the model that ``record`` is of, in whatever mode; ``None`` where ``own``, the
    config's providers, no longer have it."""
    mark = record.fingerprint
    if mark is not None and mark.provider:
        return mark.provider, mark.model
    try:
        provider, model = split_model(record.model_id, own)
    except UsageError:
        return None
    return provider.rpartition(":")[2], model


def _is_of_mode(record: Record, mode: Mapping[str, str]) -> bool:
    mark = record.fingerprint
    return mark is not None and (mark.mode, mark.wording) == (mode["mode"], mode["wording"])
