"""The steps around a tool's kind, one module for each; no other file lists them.

A module defines ``ORDER``, its position (lower is further out; ``docs/reference/parts.md`` shows the order),
and ``build``, which wraps the next step inside. A step whose module is named like a key of a tool applies to
tools that have this key. A module may declare that key itself, by a ``Config`` that is a ``StepConfig``, and
read it by ``Config.of(inputs.tool.config)``. It is imported with every config then, so ``build`` imports what
only calls need.
"""
