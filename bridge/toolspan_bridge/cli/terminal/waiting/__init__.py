"""What the program waits for, said while it waits: ``waits.waiting`` around a wait, ``waits.paused`` around a
question to the person.

On a terminal: after ``SOON`` seconds a line at the bottom of stderr, with what is waited for and for how
long, redrawn and taken away again (``status_line``). On a dumb terminal, or with ``NO_COLOR``: a plain line,
once a wait. Elsewhere (a pipe, a file): a line, once, for a wait that takes longer than ``LATE`` seconds.
Nothing where notes are not printed (``ask --quiet``).
"""
