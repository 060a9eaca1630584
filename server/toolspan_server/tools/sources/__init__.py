"""Sources: where many tools come from at once. One module a source, named as its ``type`` says.

A source's module has a ``Config`` (inert, validated) whose ``build`` gives the live source. Adding one
is adding a module here; nothing else lists them.
"""
