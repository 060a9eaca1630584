"""An answer that is remembered holds for exactly the facts that it was given about, shown or not."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.cost import at_most
from toolspan_bridge.approvals import (
    Approval,
    ApprovalRequest,
    Departure,
    PersonAnswer,
    PolicyApprover,
    Remembered,
)
from toolspan_bridge.approvals.patterns import CallFiles
from toolspan_bridge.approvals.person import EditedCall
from toolspan_bridge.approvals.remembered import Origins
from toolspan_bridge.messages import Mark, ToolOutcome
from toolspan_bridge.provenance.outward import Conversed, MadeCall, Outward, marks_of
from toolspan_server.engines.upstreams import ListedTool

pytestmark = pytest.mark.requirement("I24.2.4")

TOOL = ListedTool("send", "Sends.", {"type": "object"})
MARKS = st.frozensets(
    st.builds(
        Mark,
        st.sampled_from(["secret", "foreign"]),
        st.integers(0, 9).map(lambda n: f"what {n}"),
        st.sampled_from(["", "z.example"]),
    ),
    min_size=1,
    max_size=9,
)
HOSTS = st.lists(st.sampled_from("abcdef"), max_size=5)


def outward(marks: frozenset[Mark] | list[Mark], hosts: list[str], padding: str = "") -> Outward:
    arguments = {"to": [f"https://{host}.example/" for host in hosts], "text": padding}
    found = Conversed(marks).outward(MadeCall("mail", TOOL, arguments, False))
    assert found is not None
    return found


def holds(given: Outward, later: Outward) -> bool:
    """Whether a yes for the conversation to ``given`` answers ``later``."""

    def request(of: Outward) -> ApprovalRequest:
        return ApprovalRequest("1", "mail", TOOL, {}, of.reason, of.facts, facts_digest=of.digest)

    origins = Origins("c.yaml", lambda server: server, lambda _server, _tool: "")
    with TemporaryDirectory() as folder:
        remembered = Remembered(Path(folder) / "approvals.json", origins, "local", "talk")
        yes = PersonAnswer(Approval(allowed=True, decider="person", scope="conversation"))
        remembered.keep(request(given), yes)
        files = CallFiles(Path(folder))
        return remembered.answer(request(later), files).approval is not None


@settings(max_examples=50, deadline=None)
@given(MARKS, HOSTS, MARKS, HOSTS)
def test_an_answer_holds_where_all_facts_are_the_same_and_nowhere_else(
    marks: frozenset[Mark], hosts: list[str], more: frozenset[Mark], others: list[str]
) -> None:
    secret = [Mark("secret", "a private key", "1")]
    given, again = outward([*secret, *marks], hosts), outward([*marks, *secret], [*hosts[::-1]])
    assert holds(given, again)
    later = outward([*secret, *marks, *more], [*hosts, *others])
    assert holds(given, later) == (more <= marks and set(others) <= set(hosts))


def test_what_is_beyond_the_first_three_is_told_by_its_number_and_tells_answers_apart() -> None:
    marks = [Mark("foreign", host, host) for host in "ABC"]
    three, four = outward(marks, list("abc")), outward([*marks, Mark("foreign", "D", "D")], list("abc"))
    five = outward([*marks, Mark("foreign", "E", "E"), Mark("foreign", "F", "F")], list("abc"))
    assert four.facts[1].endswith("A, B, C, and 1 more") and five.facts[1].endswith("A, B, C, and 2 more")
    assert outward(marks, list("abcd")).facts[0].endswith("c.example, and 1 more through the server 'mail'")
    assert not holds(three, four) and not holds(four, five) and holds(four, four)
    same_text = outward([*marks, Mark("foreign", "G", "G")], list("abc"))
    assert same_text.facts == four.facts and not holds(four, same_text)


def test_an_address_beyond_what_is_looked_through_tells_answers_apart() -> None:
    marks = [Mark("secret", "a key")]
    one, other = (outward(marks, [], "x" * 70_000 + f" https://{name}.example/") for name in "ab")
    assert one.facts == other.facts and not holds(one, other)


def test_another_secret_of_the_same_form_or_behind_the_first_five_tells_answers_apart() -> None:
    read = ListedTool("Read", "Reads.", {}, {"_meta": {"dev.toolspan/reach": "local"}})

    def brought(text: str, **arguments: object) -> list[Mark]:
        outcome = ToolOutcome("1", "Read", {"success": True, "result": text})
        return list(marks_of(MadeCall("own", read, arguments, True), outcome))

    keys = [outward(brought(f"API_KEY=abcd1234efgh{n}"), []) for n in (1, 2)]
    names = [
        outward(brought("", files=[f"{n}.pem" for n in range(6)] + [last]), []) for last in ("x.pem", "y.pem")
    ]
    for one, other in (keys, names):
        assert one.after == other.after or one.facts[0] == other.facts[0]
        assert not holds(one, other) and holds(one, one)


class Editing:
    """A person who writes other arguments, and allows those for the conversation."""

    def __init__(self) -> None:
        self.answers: list[EditedCall | PersonAnswer] = []

    async def ask(self, request: ApprovalRequest, departure: Departure | None) -> EditedCall | PersonAnswer:
        del request, departure
        if not self.answers:
            yes = PersonAnswer(Approval(allowed=True, decider="person", scope="conversation"))
            self.answers = [EditedCall({"to": "https://b.example/"}), yes]
        return self.answers.pop(0)


@pytest.mark.anyio
async def test_a_yes_to_arguments_that_the_person_changed_is_none_to_those_that_were_asked_for(
    tmp_path: Path,
) -> None:
    origins = Origins("c.yaml", lambda server: server, lambda _server, _tool: "")
    remembered = Remembered(tmp_path / "approvals.json", origins, "local", "talk")
    person = Editing()
    asked = outward([Mark("secret", "a private key")], ["a"])
    request = ApprovalRequest(
        "1", "mail", TOOL, {"to": "https://a.example/"}, asked.reason, asked.facts, facts_digest=asked.digest
    )
    allowed = await PolicyApprover("never", person=person, remembered=remembered).decide(request)
    assert allowed.arguments == {"to": "https://b.example/"}
    later = await PolicyApprover("never", remembered=remembered).decide(request)
    assert not later.allowed


def test_many_marks_are_taken_in_in_time_that_grows_with_them() -> None:
    conversed = Conversed()
    with at_most(60):
        for number in range(40_000):
            conversed.add([Mark("foreign", f"host {number}", str(number))])
        assert len(conversed.marks) == 40_000
