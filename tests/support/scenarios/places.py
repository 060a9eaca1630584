"""Each format's provider, with the check of its stand-in on loopback: ``PLACE`` of the wires' modules."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from tests.support import wires
from tests.support.fake_providers.place import Place

PLACES: Mapping[str, Place] = {
    module.name.replace("_", "-"): import_module(f"{wires.__name__}.{module.name}").PLACE
    for module in iter_modules(wires.__path__)
}
