"""What is kept of answers that clients see only in part: bounded, expiring, each principal's own."""

from __future__ import annotations

import pytest

from toolspan_bridge.messages import Assistant, Message, User
from toolspan_bridge.web.gateway.history.hidden import Hidden, HiddenTurns
from toolspan_bridge.web.gateway.history.restored import Digests, History, restored

pytestmark = pytest.mark.requirement("I15.3.23")


def _hidden(text: str) -> Hidden:
    return Hidden((Assistant(text),), "c")


def test_the_oldest_of_a_principal_give_way_and_no_other_principals() -> None:
    turns = HiddenTurns(most_of_one=2)
    turns.keep("b", ["x"], _hidden("of b"))
    for number in range(4):
        turns.keep("a", [str(number)], _hidden(str(number)))
    assert [turns.find("a", str(number)) is not None for number in range(4)] == [False, False, True, True]
    assert turns.find("b", "x") is not None
    assert turns.find("b", "3") is None


def test_what_was_needed_lately_stays_within_the_bytes_of_all() -> None:
    turns = HiddenTurns(most_bytes=4_000)
    for name in "abc":
        turns.keep("p", [name], _hidden("x" * 600))
        turns.find("p", "a")
    turns.keep("p", ["d"], _hidden("y" * 600))
    assert turns.find("p", "a") is not None
    assert turns.find("p", "b") is None


def test_what_nobody_needed_for_long_is_gone() -> None:
    now = [0.0]
    turns = HiddenTurns(seconds=10, clock=lambda: now[0])
    turns.keep("p", ["k"], _hidden("x"))
    now[0] = 8.0
    assert turns.find("p", "k") is not None
    now[0] = 17.0
    assert turns.find("p", "k") is not None
    now[0] = 28.0
    assert turns.find("p", "k") is None


def restore(visible: tuple[Message, ...], turns: HiddenTurns) -> History:
    return restored(visible, Digests(visible), turns, "p")


def test_the_same_answer_to_another_history_is_another_and_blanks_around_it_do_not_matter() -> None:
    turns = HiddenTurns()
    known = Digests((User("one?"),)).after(Assistant("Yes."))
    turns.keep("p", [known], Hidden((Assistant("Yes.", opaque={"a": 1}),), "c"))
    same = restore((User("one?"), Assistant(" Yes.\n"), User("and?")), turns)
    other = restore((User("two?"), Assistant("Yes."), User("and?")), turns)
    assert (same.conversation, other.conversation) == ("c", "")
    assert [getattr(message, "opaque", None) for message in same.messages] == [None, {"a": 1}, None]
    assert other.messages[1] == Assistant("Yes.")


def test_who_keeps_much_pushes_out_what_is_their_own() -> None:
    turns = HiddenTurns(most_bytes=20_000)
    turns.keep("small", ["x"], _hidden("of the other"))
    for number in range(100):
        turns.keep("large", [str(number)], _hidden("y" * 3_000))
    assert turns.find("small", "x") is not None
    assert turns.find("large", "99") is not None
    assert turns.find("large", "0") is None
