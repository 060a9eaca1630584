"""The gateway: OpenAI's and Anthropic's APIs, spoken to their clients, with our tools and any model.

Each inbound API is a package with the same names: ``parse`` reads a request into an ``Asked``, ``render``
writes an answer and an error, ``stream`` writes an answer as it comes.
"""
