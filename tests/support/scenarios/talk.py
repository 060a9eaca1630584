"""Questions, answers and how they end; further rounds, and conversations that began elsewhere."""

from __future__ import annotations

from typing import Any

from tests.support.outcomes import PDF, PNG, part, said, succeeded
from toolspan_bridge.messages import (
    Assistant,
    Message,
    ToolCall,
    ToolResults,
    User,
)

from ._model import Call, Round, Scenario, Thought, Turn, asked
from .tools import TOOLS

_OSLO = Call("weather", {"city": "Oslo"})
_SNOW = "7 °C and snow in Tromsø"


def _elsewhere(format_name: str, opaque: Any = None) -> tuple[Message, ...]:
    """A conversation that another provider had: its ids and its opaque state mean nothing here."""
    call = ToolCall("toolu:01/äé" + "x" * 70, "s__weather", {"city": "Bergen"})
    return (
        User("And in Bergen?"),
        Assistant("I look.", (call,), opaque, format_name),
        ToolResults((succeeded(said("rain in Bergen"), call_id=call.id),)),
        Assistant("It rains.", incomplete=True),
    )


SCENARIOS: dict[str, Scenario] = {
    "an answer of several lines": asked(Turn("Så:\n\n* én 🌧\n* to\n\n```py\nprint('hi')\n```")),
    "a long answer": asked(Turn("Det var en gang … " * 60 + "slutt")),
    "an empty answer": asked(Turn(), notice="The model gave an empty answer"),
    "an empty answer after a call": asked(
        Turn(_OSLO), Turn(sees=(_SNOW,)), notice="The model gave an empty answer"
    ),
    "truncated text": asked(
        Turn("It is 7 deg", stop="length"), notice="The answer was cut off: raise max_tokens."
    ),
    "truncated within a call": asked(
        Turn("Wait.", Call("weather", {"city": "Oslo"}, gets="cut"), stop="length"),
        notice="cut off within a call",
    ),
    "truncated in the middle of its arguments": asked(
        Turn("Wait.", Call("weather", '{"city": "Os', gets="cut"), stop="length"),
        notice="cut off within a call",
    ),
    "truncated after a whole turn of calls": asked(
        Turn(_OSLO),
        Turn("Well", stop="length", sees=(_SNOW,)),
        notice="The answer was cut off",
    ),
    "a refusal in words": asked(Turn("I will not do that.")),
    "a system prompt": asked(
        Turn("Aye.", sees=("Talk like a sailor",)), options={"system": "Talk like a sailor."}
    ),
    "a system prompt and calls": asked(
        Turn(_OSLO, sees=("Be brief",)),
        Turn("Snow.", sees=("Be brief", _SNOW)),
        options={"system": "Be brief.", "max_tokens": 500},
    ),
    "an image in the question": asked(
        Turn("A cat.", sees=(PNG,)), options={"parts": (part("image", data=PNG, mimeType="image/png"),)}
    ),
    "a document in the question": asked(
        Turn("A report."),
        options={
            "parts": (
                part("resource", resource={"uri": "f.pdf", "mimeType": "application/pdf", "blob": PDF}),
            )
        },
    ),
    "an image in a question that calls": asked(
        Turn(_OSLO, sees=(PNG,)),
        Turn("There.", sees=(PNG, _SNOW)),
        options={"parts": (part("image", data=PNG, mimeType="image/png"),)},
    ),
    "two questions": Scenario(
        (
            Round((Turn(_OSLO), Turn("Snow.", sees=(_SNOW,))), "The weather in Oslo?"),
            Round((Turn("Yes, as I said.", sees=(_SNOW, "Snow.", "The weather in Oslo?")),), "Still?"),
        ),
        TOOLS,
    ),
    "calls in every round, with thoughts": Scenario(
        (
            Round((Turn(Thought("Hm."), _OSLO), Turn(Thought("So."), "Snow.")), "Oslo?"),
            Round(
                (Turn(Thought("Again."), Call("time")), Turn("Noon.", sees=("It is noon", _SNOW))), "When?"
            ),
            Round((Turn("No.", sees=("It is noon", _SNOW, "Noon.")),), "More?"),
        ),
        TOOLS,
    ),
    "a question after an answer that was cut": Scenario(
        (
            Round((Turn("It is 7 deg", stop="length"),), "Oslo?", notice="The answer was cut off"),
            Round((Turn("7 °C.", sees=("It is 7 deg",)),), "Go on."),
        ),
        TOOLS,
    ),
    "a question after an empty answer": Scenario(
        (
            Round((Turn(),), "Oslo?", notice="The model gave an empty answer"),
            Round((Turn("Snow.", sees=("Oslo?", "Well?")),), "Well?"),
        ),
        TOOLS,
    ),
    "a question after bad arguments": Scenario(
        (
            Round((Turn(Call("weather", '{"city', gets="invalid_parameters")), Turn("Hm."))),
            Round((Turn("Sorry.", sees=("Invalid parameters",)),), "What was that?"),
        ),
        TOOLS,
    ),
    "a conversation that began elsewhere": asked(
        Turn(_OSLO, sees=("rain in Bergen", "Bergen")),
        Turn("Snow.", sees=(_SNOW,)),
        history=_elsewhere(""),
    ),
    "another format's own state": asked(
        Turn("Rain.", sees=("rain in Bergen",), misses=("for-no-one-else",)),
        history=_elsewhere("some-other", {"secret": "for-no-one-else"}),
    ),
    "a conversation that ended in a call": asked(
        Turn("It was not.", sees=("not carried out",)),
        history=(User("Oslo?"), Assistant(calls=(ToolCall("a1", "s__weather", {"city": "Oslo"}),))),
    ),
    "a conversation with tools that are gone": asked(
        Turn("It rained.", sees=("rain in Bergen",)), tools=(), history=_elsewhere("")
    ),
    "web search beside tools that cannot be had": asked(
        Turn("So."),
        options={"builtins": ("fortune_telling",)},
        notice="has no built-in tool 'fortune_telling'",
    ),
}
