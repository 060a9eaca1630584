"""What the servers of a session may ask for: the person, the model, the workspace."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolspan_server.config import Config

from ..client import ClientFeatures, ClientLimits, KeptTasks, LogLevel, Roots
from ..client.kept_tasks import FILE
from ..files.user_state import user_state_directory
from .host import Host

if TYPE_CHECKING:
    from ..agent.sampling import ModelSampler
    from ..agent.sampling.model_sampler import FindModel
    from ..approvals import Approver
    from ..loop import Question
    from ..providers import Provider


class SessionClient:
    """The ``features`` of a session's client in ``host``, by ``config``. With ``samples`` servers may have
    the model asked that ``use`` names; ``workspace`` is the one root. ``log_level`` wins over the
    config's."""

    def __init__(
        self,
        config: Config,
        host: Host,
        workspace: Path | None = None,
        *,
        samples: bool = False,
        log_level: LogLevel | None = None,
    ) -> None:
        self._config, settings = config, config.client
        self._sampler = _sampler(config) if samples and (settings is None or settings.sampling) else None
        asks = settings is None or settings.elicitation
        features = ClientFeatures(
            elicitor=host.elicitor() if asks else None,
            sampler=self._sampler,
            roots=None if workspace is None else Roots([workspace]),
            tasks=_kept_tasks(),
        )
        if settings is not None:
            features = replace(features, log_level=settings.log_level, limits=limits_of(config))
        self.features = features if log_level is None else replace(features, log_level=log_level)

    def sampler_for(
        self, question: Question, provider: Provider, approver: Approver, find: FindModel
    ) -> ModelSampler | None:
        """What asks the model of ``question`` alone, whatever ``use`` named; ``None`` where no server may."""
        if self._sampler is None:
            return None
        sampler = _sampler(self._config)
        sampler.use(provider, question.model, approver, vision=question.vision, find=find)
        return sampler

    def use(self, question: Question, provider: Provider, approver: Approver, find: FindModel) -> None:
        """Let servers ask the model of ``question`` from now on, or one that the config has for what they
        prefer, which ``find`` finds; once ``approver`` allows it."""
        if self._sampler is not None:
            self._sampler.use(provider, question.model, approver, vision=question.vision, find=find)


def limits_of(config: Config) -> ClientLimits:
    """The limits of ``config``."""
    limits, settings = ClientLimits(), config.client
    if settings is None:
        return limits
    most = settings.progress_timeout_ms
    return replace(
        limits,
        rounds=settings.max_rounds,
        questions=settings.max_questions,
        samples=settings.max_samples,
        session_samples=settings.max_session_samples,
        sample_tokens=settings.max_sample_tokens,
        session_tokens=settings.max_session_tokens,
        logs=settings.max_logs,
        progress_seconds=None if most is None else most / 1000,
        page_seconds=settings.page_timeout_ms / 1000,
    )


def _kept_tasks() -> KeptTasks | None:
    """The tasks kept in the user's state folder; ``None`` where that cannot be made."""
    try:
        return KeptTasks(user_state_directory() / FILE)
    except OSError:
        return None


def _sampler(config: Config) -> ModelSampler:
    from ..agent.sampling import ModelChoice, ModelSampler

    if (settings := config.client) is None:
        return ModelSampler()
    priorities = {str(name): model for name, model in settings.sampling_priorities.items()}
    return ModelSampler(choice=ModelChoice(settings.sampling_models, priorities))
