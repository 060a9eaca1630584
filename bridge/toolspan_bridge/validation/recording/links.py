"""Recorders and replays, put between a validation and its models, tools and store."""

from __future__ import annotations

from ...providers.pool import Providers
from ..between import Between
from ..storage.store import Store
from .providers import RecordingProviders
from .recorder import Recorder
from .replay import Replay
from .stores import RecordingStore, ReplayStore

__all__ = ["recording", "replaying"]


def recording(recorder: Recorder) -> Between:
    """All that goes by is written down by ``recorder``. An unfinished run is gone on with, and so is its
    recording."""

    def around(providers: Providers) -> Providers:
        return RecordingProviders(providers, recorder)

    def kept_in(store: Store) -> Store:
        return RecordingStore(store, recorder)

    return Between(around, recorder.through, recorder.made, kept_in, on_begin=recorder.began, is_resumed=True)


def replaying(replay: Replay) -> Between:
    """Nothing goes by: ``replay`` answers in the place of models and tools."""

    def around(providers: Providers) -> Providers:
        del providers
        return replay

    def kept_in(store: Store) -> Store:
        return ReplayStore(store, replay)

    return Between(around, replay.through, replay.made, kept_in)
