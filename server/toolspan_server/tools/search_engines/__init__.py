"""Search engines that ``WebSearch`` can ask. One module each, named like its ``type``.

An engine's module has a ``Config`` (inert, validated) that writes its requests and reads its answers. Adding
one means adding a module here; no other file lists them.
"""
