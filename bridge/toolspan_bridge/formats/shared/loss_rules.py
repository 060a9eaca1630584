"""The rules by which formats change tools: how severe each is, and how to avoid the loss."""

from __future__ import annotations

from dataclasses import dataclass

from .contract import Loss, Severity

__all__ = ["RULES", "Rule", "loss"]


@dataclass(frozen=True, slots=True)
class Rule:
    """``severity`` of the change (``meaning``), and how the tool could be written instead (``fix``).

    In ``fix``, ``{name}`` stands for the keyword or property.
    """

    severity: Severity
    meaning: str
    fix: str


RULES: dict[str, Rule] = {
    "all-of": Rule(
        "warning",
        "Branches of an allOf contradict each other: the first one's word is sent, the others are described.",
        "merge the branches of the allOf into one schema",
    ),
    "boolean-schema": Rule(
        "warning",
        "A subschema that allows nothing (false) is left out.",
        "leave the property or branch out of the schema: nothing can be given for it",
    ),
    "closed-object": Rule(
        "info",
        "Strict mode closes every object: properties that the schema does not name cannot be given.",
        "write additionalProperties: false if no others are meant",
    ),
    "dangling-ref": Rule(
        "error",
        "A reference has no target, so its meaning is unknown: the tool is left out.",
        "put what the reference means under $defs, or correct the reference",
    ),
    "duplicate-tool": Rule(
        "error",
        "A server lists the same name twice: the first tool counts, the others are left out.",
        "give the second tool a name of its own",
    ),
    "enum-values": Rule(
        "info",
        "An enum holds values that the provider does not take there: they are listed in the description.",
        "use strings or numbers as the values of the enum",
    ),
    "extension": Rule(
        "info",
        "A vendor's own keyword (x-…) is left out: no model reads it.",
        "describe what a model should know of it in the description",
    ),
    "external-ref": Rule(
        "error",
        "A reference leads out of the schema; nothing is ever fetched: the tool is left out.",
        "copy what is referred to under $defs and refer to it there",
    ),
    "invalid-schema": Rule(
        "error",
        "It is not valid JSON Schema 2020-12, and the whole request would be refused: the tool is left out.",
        "correct the schema at this place",
    ),
    "keyword": Rule(
        "info",
        "A keyword that the provider refuses or ignores is expressed in the description instead.",
        "say in the description what {name} means, in words of your own",
    ),
    "keyword-dropped": Rule(
        "warning",
        "A keyword that the provider ignores is left out; it still holds when the arguments are validated.",
        "leave {name} out if it does not matter to the model",
    ),
    "not-strict": Rule(
        "warning",
        "Strict mode was asked for and would lose something: the tool is sent without it.",
        "write this part with a type, named properties and no further ones, or do without strict",
    ),
    "one-of": Rule(
        "info",
        "oneOf is sent as anyOf: the rule that exactly one branch may match is lost.",
        "write anyOf, or distinguish the branches by a constant property",
    ),
    "optional-null": Rule(
        "info",
        "Strict mode requires every property: null stands for none, and is taken out on the way back.",
        "make the property required, or allow null in it",
    ),
    "output-schema": Rule(
        "info",
        "The schema of the results is no plain object, or not valid: it is not sent, and the results are.",
        "describe the results as one object with properties, without references or combinators at its root",
    ),
    "property-key": Rule(
        "info",
        "A property's name is refused by the provider: it is renamed, and renamed back in calls.",
        "name it with letters, digits and _ only, beginning with a letter, at most 64",
    ),
    "recursion": Rule(
        "warning",
        "A schema that holds itself is written out a few levels deep, then cut.",
        "give the nested part a depth: name the levels, or take it as text",
    ),
    "required-unknown": Rule(
        "warning",
        "A property is required that the schema does not have, which the provider refuses: it is not sent as "
        "required; it still is when the arguments are validated.",
        "add it to the properties, or take it out of required",
    ),
    "root-ref": Rule(
        "warning",
        "The root refers to a schema and contradicts it: the root's own word is sent.",
        "write the root's properties out, without a reference at the root",
    ),
    "root-type": Rule(
        "warning",
        "The root is no object, and arguments always are one: it is sent as an object.",
        "make the root an object, with what it was as a property",
    ),
    "too-deep": Rule(
        "error",
        "The schema is nested without end: the tool is left out.",
        "write the schema flatter, or use $defs",
    ),
    "too-large": Rule(
        "error",
        "So much of the schema is referred to by its place that copies of it would grow without bound: the "
        "tool is left out.",
        "write what is used twice under $defs, and refer to that",
    ),
    "too-many-tools": Rule(
        "error",
        "The provider takes only so many tools. Of a list of tools alone (`export --format`) those after "
        "them, in the order of their names, are left out; a question gives the model a search for all.",
        "allow fewer tools (allowed_tools of a route, a toolset, fewer servers)",
    ),
    "tuple": Rule(
        "info",
        "A tuple is sent as a list of any of its items' kinds, their order described.",
        "use an object with a named property for each place",
    ),
    "wide-integer": Rule(
        "warning",
        "The provider's numbers are doubles: an integer beyond 2^53 comes back rounded.",
        "take the number as a string, with a pattern of digits",
    ),
    "wrap-root": Rule(
        "info",
        "The root has a combinator, which the provider refuses: the arguments are wrapped in a property.",
        "make the root a plain object, the combinator in one of its properties",
    ),
}
"""Every rule by its name, sorted."""


def loss(tool: str, pointer: str, rule: str, repair: str, name: str = "") -> Loss:
    """The ``Loss`` by ``rule``, with its severity and a fix for ``name``. Raises ``KeyError``."""
    known = RULES[rule]
    return Loss(tool, pointer, rule, repair, known.severity, known.fix.replace("{name}", name or "it"))
