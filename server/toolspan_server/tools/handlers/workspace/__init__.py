"""The tools of a workspace, one module each.

A module holds its tool whole: its ``DEFINITION`` (name, description, parameters, hints, whether a person is
asked before a call), and the function, registered as an ``internal`` handler with the tool's name and with
``options=Options, references=references``. Source ``workspace`` offers every module's tool; no other file
lists them. What the tools share is in modules whose names start with ``_``.
"""
