"""Names that a config gives, or writes, in several places."""

from __future__ import annotations

PROVIDER_NAME = r"^[a-z0-9][a-z0-9._-]{0,63}$"
"""The pattern of a provider's name, which stands before the slash of ``provider/model``."""

TOOLSET_NAME = r"^[A-Za-z0-9_-]{1,64}$"
"""The pattern of a toolset's name."""

BUILTIN = "builtin:"
"""Before the name of a tool of the provider's own, in a route's ``allowed_tools``."""
