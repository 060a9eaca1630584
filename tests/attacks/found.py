"""The attacks that there are: every module of ``scripts``."""

from __future__ import annotations

import importlib
import pkgutil

from . import scripts
from .attack import Attack


def attacks() -> dict[str, Attack]:
    """Every attack by its module's name."""
    names = sorted(module.name for module in pkgutil.iter_modules(scripts.__path__))
    return {name: importlib.import_module(f"{scripts.__name__}.{name}").ATTACK for name in names}
