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
    async def run(self) -> None:
        raise LookupError("a bug")


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


async def test_a_bug_of_a_service_ends_the_body_and_is_seen() -> None:
    with pytest.raises(ExceptionGroup) as caught, anyio.fail_after(BOUND_S):
        async with running_services({"broken": Broken()}):
            await anyio.sleep_forever()
    assert [str(error) for error in caught.value.exceptions] == ["a bug"]
