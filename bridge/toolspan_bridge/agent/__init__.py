"""Tools by which a model works with a person and with other models, performed by the bridge itself.

They take the place of those of our own server, which says so in a tag of the tool, ``client:NAME``.
"""
