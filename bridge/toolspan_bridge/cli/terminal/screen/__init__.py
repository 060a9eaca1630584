"""What a chat, and ``ask``, show on a terminal: answers as Markdown, tool calls, thoughts, figures.

``rich`` is imported when the first of it is shown.
"""
