"""Names of a package that are imported when they are first asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

PACKAGE = """
from toolspan_server.common.lazy_exports import lazy_exports

here = 1
__getattr__, __dir__ = lazy_exports(__name__, {"Engine": ".engine", "loads": "json", "gone": ".engine"})
"""


@pytest.fixture
def lazy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A package with a module ``engine``."""
    (tmp_path / "lazy_one").mkdir()
    (tmp_path / "lazy_one" / "__init__.py").write_text(PACKAGE, "utf-8")
    (tmp_path / "lazy_one" / "engine.py").write_text("class Engine: pass\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield import_module("lazy_one")
    for name in ("lazy_one", "lazy_one.engine"):
        sys.modules.pop(name, None)


def test_a_name_is_imported_when_it_is_first_asked_for(lazy: ModuleType) -> None:
    assert "lazy_one.engine" not in sys.modules
    found = lazy.Engine
    assert found is sys.modules["lazy_one.engine"].Engine


def test_a_name_that_was_asked_for_is_the_packages_own(lazy: ModuleType) -> None:
    found = lazy.Engine
    assert vars(lazy)["Engine"] is found
    assert lazy.Engine is found


def test_a_name_may_come_from_another_package(lazy: ModuleType) -> None:
    assert lazy.loads("[1]") == [1]


def test_names_are_listed_before_they_are_imported(lazy: ModuleType) -> None:
    assert {"Engine", "loads", "here"} <= set(dir(lazy))
    assert "lazy_one.engine" not in sys.modules


@pytest.mark.parametrize("name", ["Motor", "engine_", "__path_of__"])
def test_other_names_are_unknown(lazy: ModuleType, name: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'lazy_one' has no attribute '{name}'"):
        getattr(lazy, name)


def test_a_name_that_its_module_lacks_is_unknown(lazy: ModuleType) -> None:
    with pytest.raises(AttributeError, match=r"lazy_one\.engine.*'gone'"):
        _ = lazy.gone


@pytest.mark.parametrize(
    "package",
    ["toolspan_bridge", "toolspan_server", "toolspan_server.config", "toolspan_server.tools.executor"],
)
def test_all_lazy_packages_say_what_they_hold(package: str) -> None:
    module = import_module(package)
    assert set(module.__all__) <= set(dir(module))
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'Nothing'"):
        _ = module.Nothing
