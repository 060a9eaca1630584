"""YAML and JSON files beside the config: validated against a model, every problem with its position."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic_core import ValidationError

from ..errors import ConfigError
from .faults import faults_of
from .positions import read_document

if TYPE_CHECKING:
    from pydantic import BaseModel

_M = TypeVar("_M", bound="BaseModel")


def load_document(path: Path, model: type[_M]) -> _M:
    """The file ``path`` as a ``model``. ``${VAR}`` is not expanded.

    Raises ``ConfigError`` with every problem, in file order.
    """
    document = read_document(path, str(path))
    faults = list(document.faults)
    try:
        loaded = model.model_validate(document.data)
    except ValidationError as error:
        faults += faults_of(error, model)
    else:
        if not faults:
            return loaded
    problems = document.problems(faults)
    raise ConfigError(sorted(problems, key=lambda problem: (problem.line, problem.column)))
