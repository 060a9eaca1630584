"""Sampling: servers have the bridge's own model asked."""

from __future__ import annotations

from .model_choice import ModelChoice
from .model_sampler import ModelSampler, sampling_tool

__all__ = ["ModelChoice", "ModelSampler", "sampling_tool"]
