"""Sources: each provides many tools at once. One module each, named like its ``type``.

A source's module has a ``Config`` (inert, validated) whose ``build`` returns the live source. Adding one
means adding a module here; no other file lists them.
"""
