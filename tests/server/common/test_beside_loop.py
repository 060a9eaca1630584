"""Work beside the event loop is done there, whole."""

from __future__ import annotations

import threading

import pytest

from toolspan_server.common.beside_loop import LARGE_BYTES, run_beside

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I24.5.1")]


async def test_much_work_is_done_in_another_thread_and_little_at_once() -> None:
    here = threading.get_ident()
    assert await run_beside(LARGE_BYTES - 1, threading.get_ident) == here
    assert await run_beside(LARGE_BYTES, threading.get_ident) != here


@pytest.mark.parametrize("size", [1, LARGE_BYTES])
async def test_work_that_would_be_done_by_its_reader_is_refused(size: int) -> None:
    with pytest.raises(TypeError, match="gives an iterator"):
        await run_beside(size, lambda: (number for number in range(3)))
