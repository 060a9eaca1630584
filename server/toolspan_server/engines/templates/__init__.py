"""Templates: ``{{ path }}`` in the texts of a config, filled in with plain JSON data. No code runs.

    Hello {{ name }}, it is {{ weather.days[0].temperature }} °C in {{ city | default("Oslo") }}.

A path is a name, then ``.name``, ``[0]`` or ``["any key"]``. Filters follow after ``|``. A template that is
one ``{{ … }}`` and nothing else gives the value with its type; any other gives a text, in which texts stand
as they are and other values as compact JSON. ``{{ "{{" }}`` writes two braces.
"""

from ._errors import MissingValue, RenderFailure, TemplateError
from ._filters import filter_names
from ._parse import NOTHING, path_of
from ._render import MAX_OUTPUT, Scope, value_at
from ._shape import check_templates
from ._template import Template
from ._tree import TemplateTree, compiled, references

__all__ = [
    "MAX_OUTPUT",
    "NOTHING",
    "MissingValue",
    "RenderFailure",
    "Scope",
    "Template",
    "TemplateError",
    "TemplateTree",
    "check_templates",
    "compiled",
    "filter_names",
    "path_of",
    "references",
    "value_at",
]
