"""Outcomes of tests that a person or a program made, kept as the seed's tracker keeps them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
from pydantic import Field

from toolspan_server.common.state.folder import private_folder
from toolspan_server.common.state.private_files import private_file

from ...errors import StoreError
from ...validation.tracker import Tracker
from ..endpoint import Answer, Call, Values

FILE = "model_validations.json"
_LOCK_SECONDS = 10.0


class Outcome(Values):
    """The outcome of a test."""

    model: str = Field(min_length=1, max_length=1_000)
    success: bool
    details: Any = Field(None, description="What the test was, or why it failed.")


class ModelRecord(Answer):
    """The record of a model, as the seed's tracker has it."""

    model_id: str
    tested: bool
    validated: bool
    test_count: int
    success_count: int
    last_tested: str | None
    test_history: list[dict[str, Any]]


async def recorded(call: Call) -> ModelRecord:
    """The model's record, with this outcome. Kept in ``model_validations.json`` in the state folder, beside
    the trials of ``toolspan validate``, which it does not change."""
    outcome = call.values(Outcome)
    config = call.app.config
    record = partial(_add, config.state_directory / FILE, outcome, config.redact)
    return ModelRecord(**await anyio.to_thread.run_sync(record))


def _add(path: Path, outcome: Outcome, redact: Any) -> dict[str, Any]:
    from filelock import FileLock, Timeout

    tracker = Tracker(redact=redact)
    try:
        private_folder(path.parent)
        with FileLock(private_file(path.with_suffix(".lock")), timeout=_LOCK_SECONDS, mode=0o600):
            tracker.load(path, private=True)
            if outcome.success:
                tracker.record_success(outcome.model, outcome.details)
            else:
                tracker.record_failure(outcome.model, "" if outcome.details is None else outcome.details)
            tracker.save(path)
    except Timeout:
        raise StoreError(f"{path} is being written by another process: try again") from None
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from None
    return tracker.status(outcome.model)
