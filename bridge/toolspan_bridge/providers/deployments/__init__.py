"""Models of a config's own: several deployments under one name, with fallbacks and circuit breakers."""

from __future__ import annotations

from .circuit import Circuit
from .provider import Deployment, DeploymentsProvider
from .tried import Tried, on_tried

__all__ = ["Circuit", "Deployment", "DeploymentsProvider", "Tried", "on_tried"]
