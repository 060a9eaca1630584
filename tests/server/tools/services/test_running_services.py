"""Services run beside the body, and end with it."""

from __future__ import annotations

import anyio
import pytest

from tests.support.waiting import BOUND_S
from toolspan_server.errors import ServeError
from toolspan_server.live.services import running_services

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I2.4.3")]


class Recorded:
    """A service that tells when it runs and when it has ended."""

    def __init__(self) -> None:
        self.running = anyio.Event()
        self.ended = False

    async def run(self) -> None:
        self.running.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.ended = True


class Broken:
    """A service that fails the first time."""

    def __init__(self) -> None:
        self.failed = False
        self.restarted = anyio.Event()

    async def run(self) -> None:
        if not self.failed:
            self.failed = True
            raise LookupError("a bug")
        self.restarted.set()


async def test_every_service_runs_until_the_body_ends() -> None:
    services = {"a": Recorded(), "b": Recorded()}
    with anyio.fail_after(BOUND_S):
        async with running_services(services):
            for service in services.values():
                await service.running.wait()
            assert not any(service.ended for service in services.values())
    assert all(service.ended for service in services.values())


async def test_without_services_the_body_just_runs() -> None:
    async with running_services({}):
        pass


async def test_an_error_of_the_body_comes_out_as_it_is() -> None:
    service = Recorded()
    with pytest.raises(ServeError, match="port 80 is taken"):
        async with running_services({"a": service}):
            await service.running.wait()
            raise ServeError("port 80 is taken")
    assert service.ended


@pytest.mark.requirement("I24.4.1")
async def test_a_service_that_fails_is_started_again_beside_the_body() -> None:
    broken, other = Broken(), Recorded()
    with anyio.fail_after(BOUND_S):
        async with running_services({"broken": broken, "other": other}):
            await broken.restarted.wait()
            assert not other.ended
