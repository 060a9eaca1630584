"""Kinds: how a tool is implemented. One module a kind, named as ``implementation.type`` says.

A kind's module has a ``Config`` (inert, validated) whose ``build`` gives the live kind. Adding a
kind is adding a module here; nothing else lists them.
"""
