"""The public surface is what ``__all__`` says, no more and no less."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest

PACKAGES = [
    "toolspan_server",
    "toolspan_server.config",
    "toolspan_server.tools.executor",
    "toolspan_server.engines.registration",
    "toolspan_server.engines.upstreams",
    "toolspan_bridge.formats",
    "toolspan_bridge.providers",
    "toolspan_bridge.toolbox",
    "toolspan_bridge.validation",
]


def _public(package: ModuleType) -> list[str]:
    for name in package.__all__:
        getattr(package, name)  # some are imported when they are first asked for
    return sorted(
        name
        for name, value in vars(package).items()
        if not name.startswith("_")
        and name not in ("annotations", "TYPE_CHECKING")
        and not isinstance(value, ModuleType)
        and getattr(value, "__module__", package.__name__).split(".")[0] == package.__name__.split(".")[0]
    )


@pytest.mark.requirement("I2.1.1")
@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_exports_exactly_its_public_members(name: str) -> None:
    package = importlib.import_module(name)
    assert sorted(package.__all__) == _public(package)
