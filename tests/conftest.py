"""What holds for every test: one event loop, no key in the environment, no network but loopback."""

from __future__ import annotations

import gc
import ipaddress
import os
import signal
import socket
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support import warm
from toolspan_server.common.state import folder

_SECRETS = ("_API_KEY", "_TOKEN", "_BASE_URL")
_PREFIXES = ("AWS_", "OLLAMA_", "TOOLSPAN_", "OPENAI_", "GEMINI_", "GOOGLE_", "ANTHROPIC_")

# Background jobs of a shell ignore Ctrl+C, and so would every server that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "tests", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")


warm.install()


def pytest_runtest_setup(item: pytest.Item) -> None:
    warm.allow(item.get_closest_marker("cold") is None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """``-n auto``: more workers than processors, as many tests wait for servers rather than compute."""
    return (len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1) * 3 // 2


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Ten thousand tests are made and kept: to look for garbage among them takes long and finds none."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable(report: object) -> Generator[None, Any, Any]:
    """Escape lone surrogates that a test logged or failed with: xdist sends reports as UTF-8 only."""
    return _without_surrogates((yield))


def _without_surrogates(data: Any) -> Any:
    if isinstance(data, str):
        return data.encode(errors="backslashreplace").decode()
    if isinstance(data, dict):
        return {_without_surrogates(key): _without_surrogates(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return type(data)(_without_surrogates(each) for each in data)
    return data


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _no_provider_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.endswith(_SECRETS) or name.startswith(_PREFIXES):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True, scope="session")
def _own_user_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is remembered for a user is not that of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("user-state")))
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("user-config")))
        # That of the checkout is of whoever uses Toolspan there, or of another worker: no test is told of it.
        patch.setattr(folder, "_told", {Path.cwd().resolve() / folder.STATE_FOLDER})
        yield


@pytest.fixture(autouse=True, scope="session")
def _loopback_only() -> Iterator[None]:
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else None
        if host is not None and host != "localhost" and not ipaddress.ip_address(host).is_loopback:
            raise RuntimeError(f"a test tried to reach {host!r}: tests use loopback only")
        connect(self, address)

    socket.socket.connect = guarded  # type: ignore[method-assign]
    yield
    socket.socket.connect = connect  # type: ignore[method-assign]
