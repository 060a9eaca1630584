"""``models``: models of the config's own, each one or several deployments at providers."""

from __future__ import annotations

from typing import Literal

from typing_extensions import override

from ....problems import Fault, Faulty
from ....schema.records import Record, key
from ....schema.values import Seconds

OWN_MODELS = "models"
"""What stands before the slash of such a model's name: ``models/NAME``."""


class DeploymentConfig(Record):
    """A model at a provider, one of several that answer under one name."""

    model: str = key("The model, as provider/model.", least=1, most=500)
    weight: float = key(
        "Its share of the requests, where choose is weighted.",
        above=0,
        most=1_000,
        default=1,
    )


class OwnModelConfig(Record):
    """A model of the config's own, asked as models/NAME: the first of its deployments that answers."""

    deployments: tuple[DeploymentConfig, ...] = key(
        "What answers: the next one does where one is too busy (429), fails (5xx), is not reached or takes "
        "too long, before anything of its answer was shown."
    )
    choose: Literal["in_order", "weighted"] = key(
        "Which one is asked first: the first of the list, or one by weight, the same for all requests of a "
        "conversation.",
        default="in_order",
    )
    larger_context: tuple[DeploymentConfig, ...] = key(
        "What answers, in this order, where a request is longer than a deployment's context.", default=()
    )
    timeout_seconds: Seconds = key(
        "How long a deployment may take to the first piece of its answer, or to the whole of one that is not "
        "streamed, in seconds.",
        default=120,
    )
    retries: int = key(
        "How often a deployment is asked again before the next one is.", least=0, most=10, default=0
    )
    failures: int = key(
        "After how many failures in a row a deployment is left alone.",
        least=1,
        most=1_000,
        default=3,
    )
    cooldown_seconds: Seconds = key(
        "For how long it is then left alone, in seconds, unless its provider says how long; one request then "
        "tries it, and each further failure doubles that time, up to sixteen times.",
        default=30,
    )

    @override
    def check(self) -> None:
        """Check that there is a deployment, that none is such a model itself, and that weights are used."""
        if not self.deployments:
            raise Faulty(Fault(("deployments",), "has no deployment", "name one: [{model: provider/model}]"))
        for name in ("deployments", "larger_context"):
            for place, each in enumerate(getattr(self, name)):
                if each.model.startswith(f"{OWN_MODELS}/"):
                    raise Faulty(
                        Fault((name, place, "model"), "is a model of this config's own", "name a provider's")
                    )
        if self.choose == "in_order" and any(each.weight != 1 for each in self.deployments):
            raise Faulty(Fault(("deployments",), "has weights, which are not used", "add choose: weighted"))
