"""Gate for requests that an agent sends through the command line or the MCP server: a control session of the user's
experiment is given no memories, whatever command or tool it tries. What writes, and what shows no memory, is open."""

from contextlib import closing
from urllib.parse import unquote

from claude_mem_lite.errors import ControlSession
from claude_mem_lite.worker.http.messages import Request
from claude_mem_lite.worker.services import Services

SESSION_HEADER = "x-agent-session"
"""Header of requests of agents: the session that the agent's client names, '' if it names none."""
WITHHELD = "this session takes part in the user's experiment and gets no memories"
NEXT_STEP = "go on without; saving and forgetting work"
_OPEN = ("/api/health", "/api/settings", "/api/queue", "/api/index", "/api/recoveries", "/api/experiment")
"""Beginnings of the addresses whose answers hold no memory."""
_ASK = "/api/ask"


def refuse_control(request: Request, services: Services) -> None:
    """Raise ControlSession if a control session asks for memories."""
    is_asking = request.method == "GET" or request.path == _ASK
    if is_asking and not request.path.startswith(_OPEN) and is_control(request, services):
        raise ControlSession(WITHHELD, NEXT_STEP)


def is_control(request: Request, services: Services) -> bool:
    """Return whether a request comes from an agent that may be a control session, by the session its client names."""
    named = request.headers.get(SESSION_HEADER)
    if named is None:
        return False
    with closing(services.readers.open()) as db:
        return services.arms.is_control_agent(db, unquote(named), services.clock())
