"""The tools that most scenarios have."""

from __future__ import annotations

from ._tool import ANY_OBJECT, Tool, text

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("weather", CITY, text("7 °C and snow in Tromsø"), description="Tells the weather")
TIME = Tool("time", ANY_OBJECT, text("It is noon"), description="")
TOOLS = (WEATHER, TIME)
