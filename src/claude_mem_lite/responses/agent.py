"""Responses to queries, notes and deletions of agents."""

from claude_mem_lite.responses.encoding import Response, response


@response
class AgentLocation(Response):
    """Project of an agent, and the working session of the folder."""

    project: str
    session: str


@response
class AgentContext(Response):
    """Answer to a query of an agent."""

    text: str
    tokens: int
    items: tuple[str, ...]
    """Ids of memories and sessions."""
    name: str
    """Spool name of the receipt to confirm, or ''."""


@response
class SentResponse(Response):
    """Confirmation of a printed receipt."""

    sent: bool


@response
class ForgottenMemory(Response):
    """Memory forgotten by an agent."""

    id: str
    kind: str
    title: str


@response
class ForgottenByAgent(Response):
    """Memories forgotten by an agent, and ids of all removed records."""

    forgotten: tuple[ForgottenMemory, ...]
    others: int
    """Number of memories that repeated the named ones."""
    ids: tuple[str, ...]
