"""Runs whose models are asked by their providers' batch services, at about half the price.

Each turn of the conversations is a round: the requests of all trials that run are one batch, and each trial
goes on when the batch has ended. ``BatchedRun`` puts this between a validation and its providers.
"""

from __future__ import annotations

from .batched_run import BatchedRun

__all__ = ["BatchedRun"]
