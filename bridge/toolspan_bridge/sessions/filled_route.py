"""The route of a question, with what its prompt wants of the documents and of the conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..messages import Message
from ..routes import Passages, Profile, PromptValues, Route, previous_text, route
from .session import Session
from .warm_documents import WarmDocuments


async def filled_route(
    session: Session,
    text: str,
    profile: Profile,
    documents: WarmDocuments,
    messages: Sequence[Message] = (),
) -> Route:
    """The route of ``text`` after ``messages`` in ``session``, for a caller with ``profile``.

    What its prompt wants of the config's documents is found in ``documents``.

    Raises as ``route``, and ``StoreError`` when the documents cannot be searched.
    """
    config, workspace = session.config, session.choice.workspace is not None
    values = PromptValues(previous_messages=previous_text(messages))
    way = route(config, text, profile=profile, values=values, workspace=workspace)
    if way.passages is None:
        return way
    values = replace(values, rag_context=await _context(session, documents, way.passages, text))
    return route(config, text, profile=profile, values=values, workspace=workspace)


async def _context(session: Session, documents: WarmDocuments, wanted: Passages, text: str) -> str:
    if not session.config.services.entries("collections"):
        session.host.note(
            "the route wants {{rag_context}}, and the config has no services.collections: it is empty"
        )
        return ""
    found = await documents.context(wanted, text)
    if not found:
        session.host.note("no document fits the question: {{rag_context}} of the route is empty")
    return found
