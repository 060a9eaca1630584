"""How many calls, in which order, beside what text, by which names and ids."""

from __future__ import annotations

from toolspan_bridge.loop._tool_calls import MAX_CALLS_PER_TURN

from ._model import Call, Scenario, Thought, Turn, asked, called
from ._tool import Tool, text
from .tools import CITY, TIME, WEATHER

_SNOW = "7 °C and snow in Tromsø"
_OSLO = Call("weather", {"city": "Oslo"})
_NOON = Call("time")
_SEEN = Turn("So it is.", sees=(_SNOW,))
_MANY = tuple(
    Tool(f"tool_{number:03}", CITY, text(f"from {number}"), description=f"Tool {number}")
    for number in range(128)
)

SCENARIOS: dict[str, Scenario] = {
    "no call": asked(Turn("Nothing to do."), question="Hello?"),
    "no tools at all": asked(Turn("I can only talk."), tools=()),
    "a single call": called(_OSLO, sees=(_SNOW,)),
    "two calls at once": asked(Turn(_OSLO, _NOON), Turn("Both.", sees=(_SNOW, "It is noon"))),
    "the same tool twice at once": asked(Turn(_OSLO, Call("weather", {"city": "Bergen"})), _SEEN),
    "three turns of calls": asked(
        Turn(_OSLO),
        Turn(_NOON, sees=(_SNOW,)),
        Turn(Call("weather", {"city": "Bodø"}), sees=(_SNOW, "It is noon")),
        Turn("Done.", sees=(_SNOW, "It is noon")),
    ),
    "as many calls as are made in one turn": asked(
        Turn(*(Call("weather", {"city": f"Town {number}"}) for number in range(MAX_CALLS_PER_TURN))), _SEEN
    ),
    "more calls than are made in one turn": asked(
        Turn(
            *(Call("weather", {"city": f"Town {number}"}) for number in range(MAX_CALLS_PER_TURN)),
            Call("weather", {"city": "One more"}, gets="too_many_calls"),
        ),
        Turn("Most of them.", sees=("this one was not",)),
    ),
    "text before a call": asked(Turn("Let me look.", _OSLO), Turn("So.", sees=("Let me look.", _SNOW))),
    "a call before text": asked(Turn(_OSLO, "That was it."), _SEEN),
    "text between calls": asked(
        Turn("First ", _OSLO, "then ", _NOON, "so."), Turn("Both.", sees=(_SNOW, "It is noon"))
    ),
    "thoughts before a call": asked(Turn(Thought("Where? 🤔 Oslo."), _OSLO), _SEEN),
    "thoughts, text and calls": asked(Turn(Thought("Hm."), "I look.", _OSLO, _NOON), _SEEN),
    "thoughts in every turn": asked(
        Turn(Thought("One."), _OSLO), Turn(Thought("Two."), _NOON), Turn(Thought("Three."), "At last.")
    ),
    "thoughts and an answer": asked(Turn(Thought("Easy."), "Four.")),
    "ids that are left out": asked(
        Turn(Call("weather", {"city": "Oslo"}, id=None), Call("time", id=None)), Turn("Both.", sees=(_SNOW,))
    ),
    "the same id in two turns": asked(
        Turn(Call("weather", {"city": "Oslo"}, id="c1")),
        Turn(Call("time", id="c1")),
        Turn("Both.", sees=(_SNOW, "It is noon")),
    ),
    "a tool that is not there": asked(
        Turn(Call("fly", gets="tool_not_found", wire="s__fly")), Turn("Not that.", sees=("not found",))
    ),
    "a name in the wrong case": asked(
        Turn(Call("WEATHER", {"city": "Oslo"}, gets="tool_not_found", wire="S__Weather")),
        Turn("I see.", sees=("s__weather",)),
    ),
    "a name without its server": asked(
        Turn(Call("weather", {"city": "Oslo"}, wire="weather")),
        _SEEN,
    ),
    "a name that no provider takes": asked(
        Turn(Call("x", gets="tool_not_found", wire="get the weather! 🌧")), Turn("No.", sees=("not found",))
    ),
    "an unknown call beside a good one": asked(
        Turn(Call("fly", gets="tool_not_found", wire="s__fly"), _OSLO), _SEEN
    ),
    "the same call over and over": asked(
        Turn(_OSLO),
        Turn(_OSLO),
        Turn(Call("weather", {"city": "Oslo"}, gets="repeated_call")),
        Turn("Enough.", sees=("already called",)),
        notice="it is told the results, and asked once more",
        flags=frozenset({"repeated_calls_stopped"}),
    ),
    "calls to the very end": asked(
        Turn(_OSLO),
        Turn(_NOON),
        Turn("That is what I know.", sees=(_SNOW, "It is noon")),
        options={"max_iterations": 2},
        notice="turns with tools for this question was reached",
        flags=frozenset({"max_iterations_reached"}),
    ),
    "calls in the closing turn": asked(
        Turn(_OSLO),
        Turn("I would rather", Call("time", gets="cut")),
        options={"max_iterations": 1},
        notice="turns with tools for this question was reached",
        flags=frozenset({"max_iterations_reached"}),
    ),
    "a tool that is not allowed": asked(
        Turn(Call("time", gets="tool_not_allowed", wire="s__time"), _OSLO),
        Turn("Only the weather.", sees=("not allowed", _SNOW)),
        options={"allowed_tools": ("weather",)},
    ),
    "no tool is allowed": asked(
        Turn(Call("time", gets="tool_not_allowed", wire="s__time")),
        Turn("None, then."),
        options={"allowed_tools": ()},
    ),
    "names too long for any provider": called(
        Call("t" * 120, {"city": "Oslo"}), Tool("t" * 120, CITY, text("long")), sees=("long",)
    ),
    "long names that differ at their ends": asked(
        Turn(Call("t" * 80 + "a"), Call("t" * 80 + "b")),
        Turn("Both.", sees=("first", "second")),
        tools=(Tool("t" * 80 + "a", answer=text("first")), Tool("t" * 80 + "b", answer=text("second"))),
    ),
    "names of other scripts and signs": called(
        Call("дом/погода.read!", {"city": "Kӧln"}),
        Tool("погода.read!", CITY, text("gut"), server="дом"),
        sees=("gut",),
    ),
    "names that differ in case only": asked(
        Turn(Call("Look"), Call("look")),
        Turn("Both.", sees=("upper", "lower")),
        tools=(Tool("Look", answer=text("upper")), Tool("look", answer=text("lower"))),
    ),
    "the same tool at two servers": asked(
        Turn(Call("a/read"), Call("b/read")),
        Turn("Both.", sees=("from a", "from b")),
        tools=(
            Tool("read", answer=text("from a"), server="a"),
            Tool("read", answer=text("from b"), server="b"),
        ),
    ),
    "128 tools": called(Call("tool_127", {"city": "Oslo"}), *_MANY, sees=("from 127",)),
    "tools that do not read as they sort": called(
        Call("time"), TIME, WEATHER, Tool("_a"), Tool("0"), sees=("It is noon",)
    ),
}
