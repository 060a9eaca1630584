"""What the collector of garbage looks at, and when it looks at all again."""

from __future__ import annotations

import gc
import weakref

import pytest

from toolspan_server.common.garbage_collector import frozen


class Cycle:
    """An object that only a collection can remove."""

    def __init__(self) -> None:
        self.me = self


@pytest.mark.requirement("I14.6.38")
def test_what_exists_is_left_out_of_collections_inside_the_block_and_looked_at_again_after() -> None:
    gc.collect()
    before = Cycle()
    of_before = weakref.ref(before)
    with frozen():
        del before
        of_inside = weakref.ref(Cycle())
        gc.collect()
        assert (of_inside(), of_before() is None) == (None, False)
    gc.collect()
    assert of_before() is None
