"""A program that runs one command, and ends everything that came of it. It imports nothing but Python's own.

It stands between the server and a command, in a process of its own, so that the command's limits and its end
hold while the server is busy, and when the server is killed.
"""
