"""The steps around a tool's kind, one idea and one module each; nothing else lists them.

A module says with ``ORDER`` where it stands (lower is further out; ``docs/reference/parts.md`` shows the
order) and with ``build`` what it puts around the step inside it. A step whose module is called like a key of
a tool is there for tools that have this key. A module may declare that key itself, by a ``Config`` that is a
``StepConfig``: it is imported with every config then, so ``build`` imports what only calls need.
"""
