"""What providers answer, byte for byte: one module a format, named as the format with ``_`` for ``-``.

The contract suite (``tests/bridge/formats/test_contract.py``, ``test_streams.py``) takes from each of them:

``STOPS``
    the format's word for each of ``stop``, ``length`` and, where it has one, ``refusal``
``BROKEN``
    bodies that are JSON objects and no answers
``answer(text="", calls=(), stop="stop")``
    a whole answer, as the API gives it without streaming; ``calls`` are (id, name, arguments), an id of
    ``None`` is left out
``error(message, kind)``
    the body of an HTTP error
``frames(text="", calls=(), stop="stop") -> list[bytes]``
    the stream of that very answer, one entry a frame (an event with its blank line, a line, a binary
    message): text in several deltas, arguments too where the format streams them
``STREAMS: dict[str, tuple[list[bytes], body]]``
    further answers by name, each as frames and as the body that the same answer has without streaming:
    thoughts, interleaved calls, calls before text, a refusal, usage in its odd places …
    Every call has an id there, unless the format knows none.
``NOISE: dict[str, bytes]``
    frames that mean nothing (keep-alives, comments, unknown events): between any two others they change
    nothing
``FAILURE: bytes``
    a frame with which the provider says in mid-stream that it failed; its message is ``Overloaded, try
    later``, and it may be retried

``conversation(body) -> Iterator[Said]``
    the conversation in ``body``, a request, read back: ``("user", text)``, ``("assistant", answer)`` and
    ``("result", failed, text)`` in order; an answer is the turn as the body of a whole answer, for the
    format's own ``parse_reply``

The scenarios (``tests/support/scenarios``) take

``spoken(parts, stop="stop") -> (body, frames)``
    a turn, whole and as its stream: ``parts`` are ``("text", str)``, ``("thought", str)`` and
    ``("call", (id, name, arguments))`` in the order in which the model says them; arguments that are a string
    stand for such as are no JSON object

Of each stream the suite expects: whatever the pieces that it comes in (split in two, byte by byte, and drawn
ones), ``end()`` equals ``parse_reply(body)``; cut anywhere, it is either that reply (whose usage may be
missing) or ``incomplete`` with no calls to carry out, a beginning of the text, and no opaque state; the text
deltas add up to the text; the call deltas to the calls.
"""
