"""The ``models`` of a config, connected."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from ...errors import UsageError
from ..contract import Provider
from ..http.retry import RetryPolicy
from ..http.settings import HttpSettings
from ..prices import Pricing
from ..wire.model_facts import ModelFacts
from .circuit import Circuit
from .provider import Deployment, DeploymentsProvider

if TYPE_CHECKING:
    from toolspan_server.config import Config, DeploymentConfig, OwnModelConfig

__all__ = ["Connect", "OwnModels", "own_models"]

Connect = Callable[[str, HttpSettings], tuple[Provider, str, Pricing]]
"""Gives the provider of ``provider/model``, the model's name there, and its price."""


@dataclass(frozen=True, slots=True)
class OwnModels:
    """The models of a config's own by name, and whether each deployment may be asked: the same for all who
    read the same config in one process."""

    models: Mapping[str, OwnModelConfig]
    circuits: dict[tuple[str, str], Circuit] = field(default_factory=dict[tuple[str, str], Circuit])

    @property
    def base_url(self) -> str:
        """None: the addresses are those of the deployments' providers."""
        return ""

    def deployments(self) -> Collection[str]:
        """Every deployment, as ``provider/model``."""
        return [each.model for model in self.models.values() for each in _all(model)]

    def facts(self) -> tuple[ModelFacts, ...]:
        """What a list of models has of them."""
        return tuple(ModelFacts(name) for name in self.models)

    def connect(self, name: str, settings: HttpSettings, connect: Connect) -> DeploymentsProvider:
        """The provider of ``models/NAME``. Raises ``UsageError`` for an unknown name, and as ``connect``."""
        model = self.models.get(name)
        if model is None:
            raise UsageError(f"the config has no model {name!r} (it has: {', '.join(sorted(self.models))})")
        settings = replace(settings, retry=RetryPolicy(retries=model.retries))

        def connected(entries: Sequence[DeploymentConfig]) -> list[Deployment]:
            return [self._deployment(name, model, each, settings, connect) for each in entries]

        return DeploymentsProvider(
            f"models/{name}",
            connected(model.deployments),
            connected(model.larger_context),
            timeout=model.timeout_seconds,
            weighted=model.choose == "weighted",
        )

    def _deployment(
        self,
        name: str,
        model: OwnModelConfig,
        entry: DeploymentConfig,
        settings: HttpSettings,
        connect: Connect,
    ) -> Deployment:
        provider, bare, pricing = connect(entry.model, settings)
        circuit = self.circuits.setdefault(
            (name, entry.model), Circuit(model.failures, model.cooldown_seconds)
        )
        return Deployment(entry.model, provider, bare, pricing, circuit, entry.weight)


def own_models(config: Config) -> OwnModels:
    """The models of ``config``'s own."""
    shared = _circuits(tuple(map(str, config.files)), config.fingerprint) if config.files else {}
    return OwnModels(config.models, shared)


@lru_cache(maxsize=64)
def _circuits(files: tuple[str, ...], fingerprint: str) -> dict[tuple[str, str], Circuit]:
    return {}


def _all(model: OwnModelConfig) -> Sequence[DeploymentConfig]:
    return (*model.deployments, *model.larger_context)
