"""What an MCP client does for servers: answers their questions, samples for them, tells its roots.

``ClientFeatures`` says who does that. These are data and interfaces; the toolbox puts them to use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .elicitation import Elicitation, Elicited, Elicitor
    from .events import (
        ElicitationAnswer,
        ElicitationRequest,
        SamplingAnswer,
        SamplingRequest,
    )
    from .features import (
        LOG_LEVELS,
        ClientFeatures,
        ClientLimits,
        LogLevel,
    )
    from .fields import Choice, FormField
    from .kept_tasks import KeptTasks
    from .roots import Roots
    from .sampling import Sampled, Sampler, Sampling

__all__ = [
    "LOG_LEVELS",
    "Choice",
    "ClientFeatures",
    "ClientLimits",
    "Elicitation",
    "ElicitationAnswer",
    "ElicitationRequest",
    "Elicited",
    "Elicitor",
    "FormField",
    "KeptTasks",
    "LogLevel",
    "Roots",
    "Sampled",
    "Sampler",
    "Sampling",
    "SamplingAnswer",
    "SamplingRequest",
]

_MODULES = {
    "Choice": ".fields",
    "ClientFeatures": ".features",
    "ClientLimits": ".features",
    "Elicitation": ".elicitation",
    "ElicitationAnswer": ".events",
    "ElicitationRequest": ".events",
    "Elicited": ".elicitation",
    "Elicitor": ".elicitation",
    "FormField": ".fields",
    "KeptTasks": ".kept_tasks",
    "LOG_LEVELS": ".features",
    "LogLevel": ".features",
    "Roots": ".roots",
    "Sampled": ".sampling",
    "Sampler": ".sampling",
    "Sampling": ".sampling",
    "SamplingAnswer": ".events",
    "SamplingRequest": ".events",
}

if not TYPE_CHECKING:
    from toolspan_server.common.lazy_exports import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__, _MODULES)
