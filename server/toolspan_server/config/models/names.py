"""Patterns of names that occur in several places of a config."""

from __future__ import annotations

PROVIDER_NAME = r"^[a-z0-9][a-z0-9._-]{0,63}$"
"""The pattern of a provider's name, the part before the slash of ``provider/model``."""

TOOLSET_NAME = r"^[A-Za-z0-9_-]{1,64}$"
"""The pattern of a toolset's name."""

BUILTIN = "builtin:"
"""The prefix of a provider's own tool in a route's ``allowed_tools``."""

OWN_MODEL_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
"""The pattern of a name in ``models``, the part after the slash of ``models/NAME``."""
