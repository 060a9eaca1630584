"""Kinds: the ways a tool can be implemented. One module for each, named like its ``implementation.type``.

A kind's module has a ``Config`` (inert, validated) whose ``build`` returns the live kind. Adding a
kind means adding a module here; no other file lists them.
"""
