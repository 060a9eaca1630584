"""Services: the live things that internal handlers use. One module a service, named as its config key."""

from __future__ import annotations

from ._base import Service, ServiceConfig, running_services

__all__ = ["Service", "ServiceConfig", "running_services"]
