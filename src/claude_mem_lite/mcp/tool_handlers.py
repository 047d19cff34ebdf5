"""Tools of the MCP server: each tool sends a request to the worker and formats the response. A missing worker is
started.

A failure becomes an answer too, a sentence with the next step: an agent that asks must never be stuck.
"""

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from claude_mem_lite.client.client import Client
from claude_mem_lite.client.queries import Asker, Wanted, Where
from claude_mem_lite.client.worker_process import ensure_worker
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import (
    Ambiguous,
    ControlSession,
    MemoryLiteError,
    NotFound,
    WorkerRefused,
    WorkerSilent,
    WorkerUnavailable,
)
from claude_mem_lite.mcp import arguments, formatting
from claude_mem_lite.mcp.protocol import ToolAnswer
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home, find_home
from claude_mem_lite.responses.memories import MemoryRecord
from claude_mem_lite.responses.records import Record
from claude_mem_lite.text import harmless
from claude_mem_lite.values import frozen

CALL_S = 10.0
"""How long an agent waits for one tool, the start of a worker included."""
START_WAIT_S = 8.0
CONFIRM_S = 2.0
MAX_HITS = 30
_NO_SUCH_ROUTE = "Not Found"
_CHANGING = ("memory_save", "memory_forget")
_SESSION = re.compile(r"[A-Za-z0-9._-]{1,200}")


@frozen
class _Here:
    """Client of a worker that answers, with the location of the agent."""

    client: Client
    asker: Asker
    project: str

    def record(self, id_: str) -> Record:
        """Return the record of an id; refuse records of other projects and quarantined ones."""
        try:
            record = self.client.record(id_, self.asker.cwd)
        except (NotFound, Ambiguous) as error:
            raise type(error)(error.message, arguments.HOW_TO_FIND_IDS) from error
        self._refuse_foreign(record)
        return record

    def _refuse_foreign(self, record: Record) -> None:
        scope = (record.scope if isinstance(record, MemoryRecord) else "") or f"project:{record.project}"
        if scope.startswith("project:") and scope != f"project:{self.project}":
            raise NotFound(f"#{record.id} belongs to another project", "memory_search finds memories of this project")
        if isinstance(record, MemoryRecord) and record.status == "quarantined":
            raise NotFound(
                f"#{record.id} is in quarantine", "the user can look at it with `claude-mem-lite quarantine`"
            )


@dataclass(slots=True)
class Tools:
    """Tools of a server: one home, one folder, one agent."""

    home: Home
    environment: Mapping[str, str]
    call_s: float = CALL_S

    def call(self, name: str, given: JsonObject) -> ToolAnswer:
        """Run a tool; every known failure becomes an answer in one sentence."""
        tools: dict[str, Callable[[JsonObject], ToolAnswer]] = {
            "memory_context": self._context,
            "memory_search": self._search,
            "memory_timeline": self._timeline,
            "memory_get": self._get,
            "memory_save": self._save,
            "memory_forget": self._forget,
        }
        try:
            if self.home.off_switch.exists():
                raise MemoryLiteError("the memory is switched off", "the user can run `claude-mem-lite on`")
            return tools[name](given)
        except WorkerSilent:
            undone = "; it may still do what it was asked" if name in _CHANGING else ""
            return ToolAnswer(f"the worker does not answer{undone}; go on without the memory", is_error=True)
        except ControlSession as error:
            return ToolAnswer(str(error))
        except MemoryLiteError as error:
            return ToolAnswer(str(error), is_error=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            return ToolAnswer(f"the memory cannot be reached ({reason}); go on without it", is_error=True)
        except Exception as error:  # noqa: BLE001  one tool that fails must not take the others away from the agent
            return ToolAnswer(f"the memory failed with {type(error).__name__}; go on without it", is_error=True)

    def _context(self, given: JsonObject) -> ToolAnswer:
        query, scope = arguments.query(given), arguments.text(given, "scope")
        category = arguments.text(given, "category")
        here = self._reach()
        response = here.client.ask(here.asker, query=query, scope=scope, category=category)
        name = response.name
        return ToolAnswer(response.text, when_sent=(lambda: _confirm(self.home, name)) if name else None)

    def _search(self, given: JsonObject) -> ToolAnswer:
        query, file = arguments.query(given), arguments.text(given, "file")
        kinds, limit = arguments.kinds(given), arguments.number(given, "limit", 10, MAX_HITS)
        if not query and not file:
            raise MemoryLiteError("query is missing", "say what to look for")
        here = self._reach()
        where, wanted = Where(here.asker.cwd), Wanted(kinds=kinds, file=file or None)
        if query:
            return ToolAnswer(formatting.hits(here.client.search(query, where, wanted, limit=limit)))
        return ToolAnswer(formatting.hits(here.client.memories(where, wanted, limit=limit)))

    def _timeline(self, given: JsonObject) -> ToolAnswer:
        (id_,) = arguments.ids({"id": arguments.needed(given, "id")}, "id")
        here = self._reach()
        here.record(id_)
        return ToolAnswer(formatting.timeline(here.client.timeline(id_)))

    def _get(self, given: JsonObject) -> ToolAnswer:
        ids, bad = arguments.ids_and_problems(given)
        here = self._reach()
        found, problems = [], list(bad)
        for id_ in ids:
            try:
                found.append(here.record(id_))
            except (NotFound, Ambiguous) as error:
                problems.append(f"#{harmless(id_)}: {error.message}")
        if not found:
            raise NotFound("; ".join(problems), "use memory_search to find ids")
        return ToolAnswer(formatting.records(found, problems))

    def _save(self, given: JsonObject) -> ToolAnswer:
        kind, words = arguments.needed(given, "kind").lower(), arguments.needed(given, "text")
        arguments.check_kind(kind)
        scope, tags = arguments.text(given, "scope"), arguments.texts(given, "tags")
        here = self._reach()
        return ToolAnswer(formatting.saved(here.client.save(here.asker, kind, words, scope=scope, tags=tags)))

    def _forget(self, given: JsonObject) -> ToolAnswer:
        ids = arguments.ids(given)
        here = self._reach()
        try:
            return ToolAnswer(formatting.forgotten(here.client.forget_for(here.asker, ids)))
        except (NotFound, Ambiguous) as error:
            raise type(error)(f"{error.message}, so nothing was forgotten", arguments.HOW_TO_FIND_IDS) from error

    def _reach(self) -> _Here:
        """Return a client with the location of the agent; start a worker when none answers."""
        asker = Asker(self._folder(), self._named_session())
        client = Client(self.home, Deadline.after(self.call_s), agent_session=asker.session)
        try:
            location = client.locate_agent(asker)
        except WorkerSilent:
            raise  # one is there: another would not be let in
        except WorkerUnavailable:
            ensure_worker(self.home, START_WAIT_S)
            location = client.locate_agent(asker)
        except WorkerRefused as error:
            if error.message != _NO_SUCH_ROUTE:
                raise
            raise WorkerRefused(
                "the worker is of an older version", "run `claude-mem-lite worker stop`, then call this again"
            ) from error
        session = location.session or _session_of_client(asker.cwd)
        return _Here(client, Asker(asker.cwd, session, asker.session), location.project)

    def _named_session(self) -> str:
        """Return the session named by the agent's client, or '' for a name that no session can have."""
        named = self.environment.get("CLAUDE_CODE_SESSION_ID", "")
        return named if _SESSION.fullmatch(named) else ""

    def _folder(self) -> str:
        return self.environment.get("CLAUDE_PROJECT_DIR") or os.getcwd()


def _session_of_client(folder: str) -> str:
    """Return a name for a client without a known session, so that budgets count: one name for all servers of the client
    in a folder on a day."""
    client = f"{os.getppid()} {date.today().isoformat()} {folder}"
    return f"mcp-{hashlib.sha256(os.fsencode(client)).hexdigest()[:16]}"


def tools_of_this_process() -> Tools:
    return Tools(find_home(), os.environ)


def _confirm(home: Home, name: str) -> None:
    """Confirm to the worker that the agent has the answer; without confirmation the answer does not count."""
    try:
        Client(home, Deadline.after(CONFIRM_S)).sent(name)
    except (WorkerUnavailable, WorkerRefused):
        return
