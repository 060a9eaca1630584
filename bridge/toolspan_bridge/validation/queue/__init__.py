"""Runs of validation over many machines: their trials on a queue in PostgreSQL, made by workers.

The queue is that of procrastinate; beside its tables stand a few of our own, for what workers share: the runs
that are put, the pace at each provider, and what was spent. Trials are kept in the validation store.
"""
