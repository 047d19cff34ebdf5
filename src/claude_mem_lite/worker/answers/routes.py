"""Routes for hooks. They need nothing of the API, which is imported later than the first session starts."""

import sqlite3
import threading
from functools import partial

from claude_mem_lite.agents.claude_code import TURN_ENDS
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.event_names import agent_of, is_spool_name, new_name
from claude_mem_lite.store import guards
from claude_mem_lite.worker.answers import reply, session_start
from claude_mem_lite.worker.http.messages import HttpError, HttpResponse, Request
from claude_mem_lite.worker.services import Services

_SOON_S = 0.05
_PATH = "/hook/"
_PRINTED = "printed"
_NO_CONTENT = HttpResponse(204)
_ANSWERED = ("UserPromptSubmit", "PostToolUse", "PostToolUseFailure")
# Separate threads: the start of a session must not wait for two hundred searches, nor a prompt for starting sessions.
HOOK_LANES = {"starts": 8, "hooks": 8}


class HookRoutes:
    """Requests of hooks: `/hook/EVENT`, where the name of the agent may follow the event, and `/hook/printed`."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._wake_due = threading.Lock()

    @staticmethod
    def has(request: Request) -> bool:
        """Return whether a request is a hook's."""
        return request.path.startswith(_PATH) and "/" not in request.path[len(_PATH) :]

    @staticmethod
    def lane_of(request: Request) -> str:
        """Return the lane of a hook; '' if no answer is built."""
        event = _event_of(request)
        return "starts" if event == "SessionStart" else "hooks" if event in _ANSWERED else ""

    def respond(self, request: Request) -> HttpResponse:
        """Return the answer to a hook."""
        if request.method != "POST":
            raise HttpError(405)
        self._services.activity.note_request()
        name = request.headers.get("x-spool", "")
        if request.path == _PATH + _PRINTED:
            self._note_printed(name)
            return _NO_CONTENT
        return self._respond_to_event(request, name)

    def _note_printed(self, name: str) -> None:
        """Note that a hook has printed its answer."""
        services = self._services
        reply.mark_printed(services, name)
        if announced := services.notices.note_printed(name):
            services.writes.execute_write(partial(_mark_announced, announced), later=True)

    def _respond_to_event(self, request: Request, name: str) -> HttpResponse:
        """Answer an event from the spool, or from the body when the hook could write no file."""
        services, event = self._services, _event_of(request)
        if request.body:
            label = request.path.removeprefix(_PATH)
            name = name if is_spool_name(name) else new_name(label, services.clock())
            services.intake.hold(name, request.body)
        elif event in TURN_ENDS:
            services.writes.wake()
        try:
            answer = self._answer(event, name, request.body) if is_spool_name(name) else None
        finally:
            self._wake_soon()
        if answer == session_start.NOT_IN_TIME:
            return HttpResponse(503)
        return HttpResponse(body=answer) if answer else _NO_CONTENT

    def _answer(self, event: str, name: str, body: bytes) -> bytes | None:
        if event == "SessionStart":
            return session_start.start_context(self._services, name, body)
        if event not in _ANSWERED:
            return None
        self._services.activity.note_other_request()
        # By need: a start is answered before any prompt comes. Afterwards the job thread has loaded them.
        from claude_mem_lite.worker.answers import prompt, tool_use

        if event == "UserPromptSubmit":
            return prompt.prompt_context(self._services, name, body)
        if event == "PostToolUseFailure":
            return tool_use.failure_context(self._services, name, body)
        # Agents other than Claude Code report both outcomes of a tool call with the same event.
        answer = tool_use.either_context if agent_of(name) else tool_use.success_context
        return answer(self._services, name, body)

    def _wake_soon(self) -> None:
        """Wake the job loop once for all events of a moment, after the answers.

        An immediate pass would compete with the answers for the interpreter, and commit every event alone."""
        if self._wake_due.acquire(blocking=False):
            timer = threading.Timer(_SOON_S, self._wake)
            timer.daemon = True
            timer.start()

    def _wake(self) -> None:
        self._wake_due.release()
        self._services.writes.wake()


def _event_of(request: Request) -> str:
    return request.path.removeprefix(_PATH).partition("_")[0]


def _mark_announced(ids: list[str], db: sqlite3.Connection) -> None:
    with atomic(db):
        guards.mark_announced(db, ids)
