"""The tools of a workspace by which a model works with a person and with other models, one module each.

They are as those of ``handlers.workspace``, whose ``_tool`` they use. What they share is in modules whose
names start with ``_``.
"""
